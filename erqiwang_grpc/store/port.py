"""The two ports behind which rooms are kept: `Store`, where safety lives, and `Wakeup`, a lossy hint.

A room is a sequence of opaque payloads, each with a version: the first is 1 and there are no gaps.
What one command brought about is one `Batch`, which is in the log whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, NewType, Protocol, TypeAlias, final

RoomId = NewType("RoomId", str)
Version = NewType("Version", int)
"""How many payloads a room holds up to and with this one; 0 is a room that is not there."""
Position = NewType("Position", int)
"""A place in the order in which batches were committed, over all rooms. Grows, may skip, is never used twice."""
TimeNs = NewType("TimeNs", int)
"""Nanoseconds since 1970-01-01 UTC."""
Actor = NewType("Actor", str)
CommandId = NewType("CommandId", str)
StoreId = NewType("StoreId", str)
"""Which store it is: random, and another one in every copy, so that a place in one is never taken for a place in another."""

NOTHING: Final = Version(0)
START: Final = Position(0)


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
class Tag:
    """A key and a value under which a batch can be found again. The store gives them no meaning."""

    key: str
    value: str


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """What one command brought about. `ValueError` if it is empty: nothing happened, so nothing is logged."""

    time: TimeNs
    actor: Actor
    command: CommandKey | None
    """None for what cannot be repeated by a sender: it is never a duplicate of anything."""
    rules_version: int
    bodies: tuple[bytes, ...]
    tags: tuple[Tag, ...] = ()

    def __post_init__(self) -> None:
        if not self.bodies:
            raise ValueError("a batch holds at least one payload")
        if len(set(self.tags)) != len(self.tags):
            raise ValueError("a batch carries each tag once")


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One logged payload, with the circumstances of the batch that brought it."""

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
    """The command is already in the log as the versions `first` to `last`. Nothing was written.

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
class Mark:
    """Where a batch is: the versions `first` to `version`. Also the cursor behind which a listing goes on."""

    position: Position
    room: RoomId
    first: Version
    version: Version
    time: TimeNs


@final
@dataclass(frozen=True, slots=True)
class Period:
    """From `since` up to and without `until`."""

    since: TimeNs
    until: TimeNs


AppendAnswer: TypeAlias = Appended | Conflict | Duplicate | Damaged | Unavailable | Unsure


class StoreReader(Protocol):
    """The half of the log that changes nothing.

    `rooms`, `feed` and `listing` give pages. A page with fewer than `limit` members is the last one: members that are
    damaged are passed over, and more are looked at instead. Every member stands strictly behind the one before it, and the
    first one behind the place that was given, so that a loop over pages ends. Where the store cannot give such a page it is
    damaged, and the answer is `Unavailable`.
    """

    @property
    def identity(self) -> StoreId:
        """Which store this is."""

    async def head(self, room: RoomId) -> Version | Damaged:
        """The version of the room's last payload; `NOTHING` for a room that is not there."""

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged:
        """Every payload of the room with a version above `after`, checked against the room's head."""

    async def first(self, room: RoomId) -> Entry | Damaged | None:
        """The first payload of the room, checked by itself, so that it is told of a room that is damaged behind it.

        None for a room that is not there.
        """

    async def find(self, room: RoomId, actor: Actor, command: CommandId) -> Duplicate | Damaged | None:
        """Which payloads the command brought about, if it is in the log."""

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """The next at most `limit` rooms in the order of their ids; from the start with an empty id.

        A room is listed if anything of it is stored, even if its head is missing.
        """

    async def feed(self, after: Position, limit: int, tag: Tag | None = None) -> tuple[Mark, ...] | Unavailable:
        """The next at most `limit` batches, of all or of those that carry `tag`, in commit order.

        A reader who goes on from the last mark it saw misses nothing: no batch ever appears behind a mark
        that was visible before it.
        """

    async def latest(self) -> Position | Unavailable:
        """The position of the last batch that `feed` gives now; `START` where it gives none."""

    async def listing(
        self, tag: Tag, period: Period, limit: int, before: Mark | None = None
    ) -> tuple[Mark, ...] | Unavailable:
        """At most `limit` batches that carry `tag`, newest first, older than the mark `before` if one is given."""


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

    async def delete_rooms(self, tag: Tag, before: TimeNs, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """Delete at most `limit` rooms with a batch that carries `tag` and is older than `before`; says which.

        Fewer than `limit` means that no more are left. Positions of deleted batches stay empty.
        """

    async def close(self) -> None:
        """Finish what was handed in, then let go of everything. Appends after it are `Unavailable`."""


class Wakeup(Protocol):
    """Hints that rooms have grown. A hint may be lost or false, so a listener also reads the store from time to time."""

    def hint(self, room: RoomId, version: Version) -> None:
        """Tell everyone who listens, here and on other nodes, that the room has reached a version."""

    def listen(self, hear: Callable[[RoomId, Version], None]) -> AbstractContextManager[None]:
        """Have `hear` called at every hint, on the event loop, until the context is left."""
