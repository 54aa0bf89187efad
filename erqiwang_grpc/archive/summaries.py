"""Summaries: checks them against the events of their rooms, rebuilds them, and scrubs the store room by room."""

import asyncio
import logging
import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.clocks import Monotonic
from erqiwang_grpc.events.history import UnreadableEntry, read
from erqiwang_grpc.events.standing import latest
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.store import (
    NOTHING,
    Conflict,
    Damaged,
    Entry,
    Listed,
    RoomId,
    Store,
    StoreReader,
    Summary,
    TimeNs,
    Unavailable,
)

log = logging.getLogger(__name__)

_ALONE_SECONDS: Final = 300.0
"""Seconds for which a room is left alone after a check of its summary that told nothing."""
_MOST_ALONE: Final = 10_000
"""Most rooms that are left alone at once."""
_NO_ROOM: Final = Summary((), TimeNs(0), None, b"")
"""The summary written for a room that does not exist, which removes it from all lists."""


@final
@dataclass(frozen=True, slots=True)
class Sound:
    """The summary agrees with the room's events."""

    made: Summary


@final
@dataclass(frozen=True, slots=True)
class Contradicted:
    """The summary does not agree with the room's events, or cannot be read."""

    made: Summary
    """The summary made from the events."""
    why: str


@final
@dataclass(frozen=True, slots=True)
class Unknown:
    """The check was not possible: the room's events are damaged or cannot all be followed, or the room has changed."""

    why: str


async def checked(store: StoreReader, room: RoomId, entries: tuple[Entry, ...]) -> Sound | Contradicted | Unknown:
    """Whether the room's summary agrees with `entries`, which must be all entries of the room."""
    found = await store.summary(room)
    # A match of twelve deals takes some ten milliseconds to follow: on the event loop every seat would wait for it.
    made = await asyncio.to_thread(_made, entries)
    if isinstance(made, UnreadableEntry):
        return Unknown(f"event {made.version} cannot be followed: {made.why}")
    if isinstance(found, Damaged):
        return Contradicted(made, found.why)
    if isinstance(found, Unavailable):
        return Unknown(found.why)
    if found is None or found.version != entries[-1].version:
        return Unknown("it has changed meanwhile")
    return Sound(made) if found.summary == made else Contradicted(made, _difference(found, made))


def _difference(found: Listed, made: Summary) -> str:
    """In what the two summaries differ."""
    names = ("terms", "created", "ended", "body")
    differing = [name for name in names if getattr(found.summary, name) != getattr(made, name)]
    return f"its summary is not what its events make of it, in: {', '.join(differing)}"


def _made(entries: tuple[Entry, ...]) -> Summary | UnreadableEntry:
    history = read(entries)
    standing = history if isinstance(history, UnreadableEntry) else latest(history)
    return standing if isinstance(standing, UnreadableEntry) else SummaryWriter().write(standing)


async def mended(store: Store, room: RoomId) -> Sound | Contradicted | Unknown:
    """Check the room's summary, rebuild it if its events contradict it, and give what the check found.

    If there is no such room, it is removed from all lists.
    """
    return await _mended(store, room, await store.read(room))


async def _mended(
    store: Store, room: RoomId, entries: tuple[Entry, ...] | Damaged | Unavailable
) -> Sound | Contradicted | Unknown:
    """See `mended`. `entries` is what reading the whole room gave."""
    if isinstance(entries, Damaged):
        log.error("room damaged", extra={"room": room, "version": entries.version, "why": entries.why})
        return Unknown(entries.why)
    if isinstance(entries, Unavailable):
        return Unknown(entries.why)
    if not entries:
        await store.summarise(room, NOTHING, _NO_ROOM)
        return Unknown("there is no such room")
    found = await checked(store, room, entries)
    if isinstance(found, Contradicted):
        written = await store.summarise(room, entries[-1].version, found.made)
        if isinstance(written, Conflict):
            return Unknown("it has changed meanwhile")
        if isinstance(written, Damaged | Unavailable):
            return Unknown(written.why)
        log.error("summary rebuilt", extra={"room": room, "version": entries[-1].version, "why": found.why})
    return found


@final
class Repairs:
    """Rebuilds summaries that lists and records meet. It leaves a room alone for a while after a check told nothing.

    The events of such a room are damaged or were written by a newer program. To read them again for every list would
    cost much and change nothing.
    """

    def __init__(self, store: Store, monotonic: Monotonic) -> None:
        self._store = store
        self._monotonic = monotonic
        self._left_alone: OrderedDict[RoomId, float] = OrderedDict()
        """The rooms left alone, and until when. The one whose time ends first comes first."""

    def leaves_alone(self, room: RoomId) -> bool:
        """Whether a check of the room told nothing a short while ago."""
        return self._left_alone.get(room, -math.inf) > self._monotonic()

    async def mend(self, room: RoomId) -> int:
        """Check the room's summary and rebuild it if its events contradict it; gives how many events were read."""
        if self.leaves_alone(room):
            return 0
        entries = await self._store.read(room)
        if isinstance(await _mended(self._store, room, entries), Unknown):
            self._leave_alone(room)
        match entries:
            case Damaged():
                return entries.version
            case Unavailable():
                return 0
            case _:
                return len(entries)

    def _leave_alone(self, room: RoomId) -> None:
        self._left_alone[room] = self._monotonic() + _ALONE_SECONDS
        self._left_alone.move_to_end(room)
        if len(self._left_alone) > _MOST_ALONE:
            self._left_alone.popitem(last=False)


@final
class Scrub:
    """Checks the summaries of all rooms, one room in each step. After the last room it begins again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = RoomId("")

    async def step(self) -> RoomId | None:
        """Check the next room and rebuild its summary if necessary; gives the room, or None at the end of a round."""
        rooms = await self._store.rooms(self._last, 1)
        if isinstance(rooms, Unavailable) or not rooms:
            self._last = RoomId("")
            return None
        (self._last,) = rooms
        await mended(self._store, self._last)
        return self._last
