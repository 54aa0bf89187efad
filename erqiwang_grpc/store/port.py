"""The two ports of the store: `Store`, which keeps rooms safe, and `Wakeup`, which sends hints that may be lost.

A room is a sequence of opaque payloads. Each has a version: the first is 1, and there are no gaps. The payloads of one
command are one `Batch`, which is stored whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Final, NewType, Protocol, TypeAlias, final

RoomId = NewType("RoomId", str)
Version = NewType("Version", int)
"""The number of a payload in its room, from 1; 0 for a room that does not exist."""
Cursor = NewType("Cursor", str)
"""A place in a feed or a list, as text that only the store can read: ASCII without spaces, `-` or quotes."""
TimeNs = NewType("TimeNs", int)
"""Nanoseconds since 1970-01-01 UTC."""
Actor = NewType("Actor", str)
CommandId = NewType("CommandId", str)
StoreId = NewType("StoreId", str)
"""The random identity of a store. A copy gets a new one, so that no cursor of one store is valid in another."""

NOTHING: Final = Version(0)
START: Final = Cursor("")
"""The beginning of every feed and list."""


@final
@dataclass(frozen=True, slots=True)
class CommandKey:
    """Recognises a command when it is sent again."""

    id: CommandId
    """Chosen by the sender. It only has to be unique for one actor in one room."""
    fingerprint: bytes
    """A hash of the command. If the same id comes with a different fingerprint, the command is refused."""


@final
@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A key and a value by which lists find a room. The store does not interpret them."""

    key: str
    value: str


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """What lists show of a room, and the terms by which they find it. Each batch has the room's new summary.

    Raises `ValueError` if a term occurs twice.
    """

    terms: tuple[Term, ...]
    created: TimeNs
    ended: TimeNs | None
    """When the match ended; None if it has not."""
    body: bytes
    """Everything that a list shows of the room. The store does not interpret it."""

    def __post_init__(self) -> None:
        if len(set(self.terms)) != len(self.terms):
            raise ValueError("a room is found by each term once")


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """The payloads of one command. Raises `ValueError` if there are none, since then there is nothing to store."""

    time: TimeNs
    actor: Actor
    command: CommandKey | None
    """The key of the command; None if it has no id, so that it is never a duplicate."""
    rules_version: int
    bodies: tuple[bytes, ...]
    summary: Summary
    """The summary of the room after this batch."""
    feed: str | None = None
    """The feed that the batch appears in; None if in none."""

    def __post_init__(self) -> None:
        if not self.bodies:
            raise ValueError("a batch holds at least one payload")

    def entries(self, room: RoomId, first: Version) -> tuple[Entry, ...]:
        """The entries of this batch in a room, in which its first payload has version `first`."""
        return tuple(
            Entry(
                room=room,
                version=Version(version),
                time=self.time,
                actor=self.actor,
                command=self.command,
                rules_version=self.rules_version,
                body=body,
            )
            for version, body in enumerate(self.bodies, start=first)
        )


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One stored payload, with the version, time, actor and command of its batch."""

    room: RoomId
    version: Version
    time: TimeNs
    actor: Actor
    command: CommandKey | None
    rules_version: int
    body: bytes


@final
@dataclass(frozen=True, slots=True)
class Appended:
    """The batch is stored durably. `version` is the room's new version."""

    version: Version


@final
@dataclass(frozen=True, slots=True)
class Conflict:
    """Another writer appended first: the room is at version `head`. Nothing was written."""

    head: Version


@final
@dataclass(frozen=True, slots=True)
class Duplicate:
    """The command is stored already, as the versions `first` to `last`. Nothing was written.

    Compare `fingerprint`: if it is equal, give the same answer again; if not, refuse the command.
    """

    first: Version
    last: Version
    fingerprint: bytes


@final
@dataclass(frozen=True, slots=True)
class Damaged:
    """The batches of `room` fail their checksum from `version` on. The room is never written again."""

    room: RoomId
    version: Version
    why: str


@final
@dataclass(frozen=True, slots=True)
class Unavailable:
    """The store cannot do this now. `why` says what to do. Nothing was written."""

    why: str


@final
@dataclass(frozen=True, slots=True)
class Unsure:
    """It is not known whether the batch is stored; it is stored whole or not at all. `why` says what failed.

    Read the room again before going on. After a failed flush, only opening the file again shows what is in it.
    """

    why: str


@final
@dataclass(frozen=True, slots=True)
class Period:
    """The times from `since` up to but not including `until`."""

    since: TimeNs
    until: TimeNs


@final
@dataclass(frozen=True, slots=True)
class Fed:
    """One batch of a feed, with its payloads."""

    before: Cursor
    """The cursor before this batch."""
    cursor: Cursor
    """The cursor after this batch."""
    entries: tuple[Entry, ...]


class Moment(Enum):
    """The moment of a room by which a list is sorted and limited."""

    CREATED = "created"
    ENDED = "ended"


@final
@dataclass(frozen=True, slots=True)
class Search:
    """The rooms of a list: those that have all of `terms`, and whose `moment` is in `period`.

    Raises `ValueError` if there is no term.
    """

    terms: tuple[Term, ...]
    moment: Moment
    period: Period

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError("a list is found by at least one term")


@final
@dataclass(frozen=True, slots=True)
class Listed:
    """A room with its summary, which was made at `version`."""

    room: RoomId
    version: Version
    summary: Summary


@final
@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list, newest room first."""

    rooms: tuple[Listed, ...]
    next: Cursor | None
    """Where the next page begins; None if this is the last page."""
    doubtful: tuple[RoomId, ...]
    """Rooms left out of the page, because the index wrongly leads to them or their summary fails its checksum. Rebuild
    their summaries from their events."""
    looked_at: int
    """How many rooms with the first term were looked at: those of the page, those that lack another term, and the one
    that showed that there is a next page. A page that holds no room may have cost thousands."""


@final
@dataclass(frozen=True, slots=True)
class BadCursor:
    """The cursor was not made by this store."""


@final
@dataclass(frozen=True, slots=True)
class Rewritten:
    """The room has the given summary now."""


AppendAnswer: TypeAlias = Appended | Conflict | Duplicate | Damaged | Unavailable | Unsure


class StoreReader(Protocol):
    """The reading half of a store.

    `rooms`, `feed` and `summaries` give pages. Each item comes strictly after the one before it, and the first one
    after the given place, so that a loop over pages ends. If the store is so damaged that it cannot give such a page,
    the answer is `Unavailable`. A store that cannot be reached answers everything so.
    """

    @property
    def identity(self) -> StoreId:
        """The identity of this store."""

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        """The entries of the room with versions above `after`, checked up to the room's head. Empty if none.

        They come at once, not in pages, since a chain is believed only up to its head. The rooms bound how many there
        are: a match has some thousand events, and `seat_changes` limits the others.
        """

    async def first(self, room: RoomId) -> Entry | Damaged | Unavailable | None:
        """The first entry of the room; None if there is no such room.

        Only its own batch is checked, so it can be read even if the room is damaged later on.
        """

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """The next rooms in order of id, at most `limit`. An empty `after` gives the first ones.

        A room is listed if any part of it is stored, even if its head is missing. A page with fewer than `limit` rooms
        is the last one.
        """

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        """The next batches of a feed with their payloads, in commit order, at most `limit`.

        A reader that goes on from its last cursor misses nothing: no batch ever appears before a cursor that was given
        out. A batch that fails its checks is skipped, and the page is filled with others; reading its room tells what
        is wrong. A page with fewer than `limit` batches is the last one for now.
        """

    async def latest(self) -> Cursor | Unavailable:
        """The cursor after everything that `feed` gives by now."""

    async def summary(self, room: RoomId) -> Listed | Damaged | Unavailable | None:
        """The room's summary, checked against the room's head; None if there is no such room."""

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor | Unavailable:
        """A page of a list, at most `limit` rooms, newest first. No payload is read."""


class Store(StoreReader, Protocol):
    """A store of rooms. A room only grows, until it is deleted whole."""

    @property
    def shared(self) -> bool:
        """Whether other nodes may append too. If so, the store may have events of a room that a node has not seen."""

    @property
    def outage(self) -> str | None:
        """Why nothing can be read or written for the time being; None unless an outage goes on that may end by itself."""

    @property
    def keeps_house(self) -> bool:
        """Whether this node does the work that one node does for all: expiry, retention, checks. For a moment two may."""

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        """Append `batch` after version `expected` of the room, whole or not at all. It is durable once answered.

        The store looks for the batch's command first, so a repeated command is a `Duplicate` even if `expected` is
        stale. If the caller is cancelled, the append may still happen.
        """

    async def summarise(
        self, room: RoomId, expected: Version, summary: Summary
    ) -> Rewritten | Conflict | Damaged | Unavailable:
        """Replace the room's summary in all lists, if the room is at version `expected`.

        If the room does not exist, it is removed from all lists.
        """

    async def delete_rooms(self, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """Delete at most `limit` rooms that have `term` and ended before `before`, and give them.

        Fewer than `limit` rooms means that none are left. A room whose summary fails its checksum is not deleted.
        """

    async def close(self) -> None:
        """Finish the work that was begun, then release everything. Later appends are `Unavailable`."""


class Wakeup(Protocol):
    """Hints that rooms have grown. A hint may be lost or wrong, so a listener must read the store now and then too."""

    def hint(self, room: RoomId, version: Version) -> None:
        """Tell all listeners, here and on other nodes, that the room has reached a version."""

    def listen(self, hear: Callable[[RoomId, Version], None]) -> AbstractContextManager[None]:
        """Call `hear` for every hint, on the event loop, while in the context."""
