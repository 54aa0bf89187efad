"""The two ports behind which rooms are kept: `Store`, where safety lives, and `Wakeup`, a lossy hint.

A room is a sequence of opaque payloads, each with a version: the first is 1 and there are no gaps.
What one command brought about is one `Batch`, which is stored whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Final, NewType, Protocol, TypeAlias, final

RoomId = NewType("RoomId", str)
Version = NewType("Version", int)
"""How many payloads a room holds up to and with this one; 0 is a room that is not there."""
Cursor = NewType("Cursor", str)
"""A place in a feed or a list, as text that the store makes and nobody else reads: ASCII without spaces, `-` or quotes."""
TimeNs = NewType("TimeNs", int)
"""Nanoseconds since 1970-01-01 UTC."""
Actor = NewType("Actor", str)
CommandId = NewType("CommandId", str)
StoreId = NewType("StoreId", str)
"""Which store it is: random, and another one in every copy, so that a place in one is never taken for a place in another."""

NOTHING: Final = Version(0)
START: Final = Cursor("")
"""The beginning of every feed and list."""


@final
@dataclass(frozen=True, slots=True)
class CommandKey:
    """What makes a command recognisable when it is sent again."""

    id: CommandId
    """Chosen by the sender; scoped to the room and the actor."""
    fingerprint: bytes
    """A hash of the command's payload: the same id with another payload is another command."""


@final
@dataclass(frozen=True, slots=True, order=True)
class Term:
    """A key and a value by which a room is found in lists. The store gives them no meaning."""

    key: str
    value: str


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """What lists say of a room, and how they find it. Each batch brings the room's new one.

    `ValueError` if a term occurs twice.
    """

    terms: tuple[Term, ...]
    created: TimeNs
    ended: TimeNs | None
    """When the match ended; None while it has not."""
    body: bytes
    """Everything that a list tells of the room. The store gives it no meaning."""

    def __post_init__(self) -> None:
        if len(set(self.terms)) != len(self.terms):
            raise ValueError("a room is found by each term once")


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """What one command brought about. `ValueError` if it is empty: nothing happened, so nothing is stored."""

    time: TimeNs
    actor: Actor
    command: CommandKey | None
    """None for what cannot be repeated by a sender: it is never a duplicate of anything."""
    rules_version: int
    bodies: tuple[bytes, ...]
    summary: Summary
    """The room with this batch."""
    feed: str | None = None
    """Whose feed tells of the batch; None where nobody's does."""

    def __post_init__(self) -> None:
        if not self.bodies:
            raise ValueError("a batch holds at least one payload")


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One stored payload, with the circumstances of the batch that brought it."""

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
    """The batch is durable; `version` is the room's new head."""

    version: Version


@final
@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else was faster: the room is at `head`. Nothing was written."""

    head: Version


@final
@dataclass(frozen=True, slots=True)
class Duplicate:
    """The command is already stored as the versions `first` to `last`. Nothing was written.

    The caller compares `fingerprint`: equal means "answer it again", different means "refuse it".
    """

    first: Version
    last: Version
    fingerprint: bytes


@final
@dataclass(frozen=True, slots=True)
class Damaged:
    """The stored events of `room` fail their checksum from `version` on. Nothing was or will be written to it."""

    room: RoomId
    version: Version
    why: str


@final
@dataclass(frozen=True, slots=True)
class Unavailable:
    """The store cannot do this now; `why` says what to do. Nothing was written."""

    why: str


@final
@dataclass(frozen=True, slots=True)
class Unsure:
    """Nobody can say whether the batch is stored, whole or not at all; `why` says what failed.

    The caller reads the room again before it goes on. After a failed flush only the next opening of the file shows what is
    in it.
    """

    why: str


@final
@dataclass(frozen=True, slots=True)
class Period:
    """From `since` up to and without `until`."""

    since: TimeNs
    until: TimeNs


@final
@dataclass(frozen=True, slots=True)
class Fed:
    """One batch of a feed, with its payloads."""

    before: Cursor
    """Where this batch is the next one."""
    cursor: Cursor
    """Where the feed goes on behind this batch."""
    entries: tuple[Entry, ...]


class Moment(Enum):
    """By which of its moments a room stands in a list."""

    CREATED = "created"
    ENDED = "ended"


@final
@dataclass(frozen=True, slots=True)
class Search:
    """Which rooms a list holds: those that carry every one of `terms`, and whose `moment` is in the `period`.

    `ValueError` without a term.
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
    """A room with its summary, as of `version`."""

    room: RoomId
    version: Version
    summary: Summary


@final
@dataclass(frozen=True, slots=True)
class Page:
    """Some of the rooms of a list, the newest first."""

    rooms: tuple[Listed, ...]
    next: Cursor | None
    """Where the next page begins; None where this is the last one."""
    doubtful: tuple[RoomId, ...]
    """Rooms that the list leads to and that do not belong there, or whose summary fails its checksum. They are left out, at
    most as many as a page has rooms; make their summaries anew from their events."""


@final
@dataclass(frozen=True, slots=True)
class BadCursor:
    """A cursor that this store did not make."""


@final
@dataclass(frozen=True, slots=True)
class Rewritten:
    """The room has the summary that was given."""


AppendAnswer: TypeAlias = Appended | Conflict | Duplicate | Damaged | Unavailable | Unsure


class StoreReader(Protocol):
    """The half of the store that changes nothing.

    `rooms`, `feed` and `summaries` give pages. Every member stands strictly behind the one before it, and the first one
    behind the place that was given, so that a loop over pages ends. Where the store cannot give such a page it is damaged,
    and the answer is `Unavailable`.
    """

    @property
    def identity(self) -> StoreId:
        """Which store this is."""

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged:
        """Every payload of the room with a version above `after`, checked against the room's head."""

    async def first(self, room: RoomId) -> Entry | Damaged | None:
        """The first payload of the room, checked by itself, so that it is told of a room that is damaged behind it.

        None for a room that is not there.
        """

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """The next at most `limit` rooms in the order of their ids; from the start with an empty id.

        A room is listed if anything of it is stored, even if its head is missing. A page with fewer than `limit` rooms is
        the last one.
        """

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        """The next at most `limit` batches of a feed with their payloads, in commit order.

        A reader who goes on from the last cursor it saw misses nothing: no batch ever appears behind a cursor that was
        given out before. A batch that fails its checks is passed over, and another looked at instead; reading its room says
        what is wrong. A page with fewer than `limit` batches is the last one for now.
        """

    async def latest(self) -> Cursor | Unavailable:
        """The cursor behind everything that is stored by now."""

    async def summary(self, room: RoomId) -> Listed | Damaged | None:
        """The room's summary, checked against its head and what lists find it by; None for a room that is not there."""

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor | Unavailable:
        """At most `limit` rooms of a list, the newest first, without reading their payloads.

        A page ends early, with the place where the next one begins, where too many rooms of it are doubtful.
        """


class Store(StoreReader, Protocol):
    """Rooms, each a sequence of payloads that only grows until the room is deleted whole."""

    @property
    def shared(self) -> bool:
        """Whether other nodes may append, too: then what a node knows of a room may be behind the store."""

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        """Put `batch` behind version `expected` of the room, all or nothing, durable once answered.

        The batch's command is looked for first, so a repeated command is a `Duplicate` however stale its
        `expected`. An append whose caller is cancelled may still happen.
        """

    async def summarise(
        self, room: RoomId, expected: Version, summary: Summary
    ) -> Rewritten | Conflict | Damaged | Unavailable:
        """Put `summary` in the place of the one that the room has, if the room is at `expected`; anew wherever lists hold it.

        Lists hold nothing more of a room that is not there.
        """

    async def delete_rooms(self, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """Delete at most `limit` rooms that carry `term` and ended before a time; says which.

        Fewer than `limit` means that no more are left. A room whose summary fails its checksum is not deleted.
        """

    async def close(self) -> None:
        """Finish what was handed in, then let go of everything. Appends after it are `Unavailable`."""


class Wakeup(Protocol):
    """Hints that rooms have grown. A hint may be lost or false, so a listener also reads the store from time to time."""

    def hint(self, room: RoomId, version: Version) -> None:
        """Tell everyone who listens, here and on other nodes, that the room has reached a version."""

    def listen(self, hear: Callable[[RoomId, Version], None]) -> AbstractContextManager[None]:
        """Have `hear` called at every hint, on the event loop, until the context is left."""
