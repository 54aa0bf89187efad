"""Compares two stores through their port: every event of every room, every summary, and the order of every feed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, final

from erqiwang_grpc.store.port import (
    START,
    BadCursor,
    Cursor,
    Damaged,
    Entry,
    Fed,
    RoomId,
    StoreReader,
    Unavailable,
)

_ROOMS: Final = 200
_BATCHES: Final = 500


class DifferError(Exception):
    """The stores differ, or one of them cannot be read. The text says where."""


@final
@dataclass(slots=True)
class Compared:
    """What was compared and is the same in both stores."""

    rooms: int = 0
    events: int = 0
    damaged: list[str] = field(default_factory=list)
    """A sentence for each room that is damaged in the first store."""


async def compare(one: StoreReader, other: StoreReader, feeds: Iterable[str]) -> Compared:
    """Compare everything that the stores hold. Raises `DifferError` at the first difference."""
    told = Compared()
    unsound = set[RoomId]()
    async for rooms in _pages(one):
        found = await asyncio.gather(*(_compared(one, other, room) for room in rooms))
        for room, each in zip(rooms, found, strict=True):
            told.rooms += each.is_there
            told.events += each.events
            if each.damage is not None:
                told.damaged.append(f"room {room}: {each.damage}")
            if each.is_unsound:
                unsound.add(room)
    there = 0
    async for rooms in _pages(other):
        there += len(rooms)
    if there != told.rooms:
        raise DifferError(f"there are {told.rooms:,} rooms here and {there:,} there")
    for feed in feeds:
        await _compare_feed(one, other, feed, unsound)
    return told


@final
@dataclass(frozen=True, slots=True)
class _Room:
    is_there: bool = True
    """False for a room that is only a leftover of an index."""
    events: int = 0
    damage: str | None = None
    is_unsound: bool = False
    """Whether its events are damaged, not only its summary."""


async def _pages(store: StoreReader) -> AsyncIterator[tuple[RoomId, ...]]:
    last = RoomId("")
    while True:
        rooms = await store.rooms(last, _ROOMS)
        if isinstance(rooms, Unavailable):
            raise DifferError(rooms.why)
        if rooms:
            yield rooms
        if len(rooms) < _ROOMS:
            return
        last = rooms[-1]


async def _compared(one: StoreReader, other: StoreReader, room: RoomId) -> _Room:
    here, there = await asyncio.gather(one.read(room), other.read(room))
    if isinstance(here, Unavailable):
        raise DifferError(here.why)
    if isinstance(there, Unavailable):
        raise DifferError(there.why)
    if here == () and there == ():
        return _Room(is_there=False)
    if isinstance(here, Damaged):
        return _Room(damage=f"from event {here.version} on {here.why}", is_unsound=True)
    if isinstance(there, Damaged):
        raise DifferError(f"room {room}: there it is damaged from event {there.version} on: {there.why}")
    if here != there:
        same = sum(1 for _ in _prefix(here, there))
        raise DifferError(f"room {room}: event {same + 1} is another one, or is in one of the stores only")
    summary, copy = await asyncio.gather(one.summary(room), other.summary(room))
    if isinstance(summary, Unavailable):
        raise DifferError(summary.why)
    if isinstance(copy, Unavailable):
        raise DifferError(copy.why)
    if isinstance(summary, Damaged):
        return _Room(events=len(here), damage=summary.why)
    if summary != copy:
        raise DifferError(f"room {room}: its summary is another one")
    return _Room(events=len(here))


def _prefix(here: tuple[Entry, ...], there: tuple[Entry, ...]) -> Iterable[Entry]:
    """The entries from the first one on that are the same."""
    for one, other in zip(here, there, strict=False):
        if one != other:
            return
        yield one


async def _compare_feed(one: StoreReader, other: StoreReader, feed: str, unsound: AbstractSet[RoomId]) -> None:
    """Compare a feed, but for unsound rooms: of those it tells what follows from the batch before, if that is there."""
    theirs = _fed(other, feed, unsound)
    async for batch in _fed(one, feed, unsound):
        copy = await anext(theirs, None)
        if copy is None or copy.entries != batch.entries:
            first = batch.entries[0]
            raise DifferError(f"the feed {feed!r} tells another event where event {first.version} of {first.room} was")
    if await anext(theirs, None) is not None:
        raise DifferError(f"the feed {feed!r} tells more events there")


async def _fed(store: StoreReader, feed: str, unsound: AbstractSet[RoomId]) -> AsyncIterator[Fed]:
    cursor: Cursor = START
    while True:
        page = await store.feed(feed, cursor, _BATCHES)
        if isinstance(page, BadCursor | Unavailable):
            raise DifferError(f"the feed {feed!r} cannot be read")
        for batch in page:
            if batch.entries[0].room not in unsound:
                yield batch
            cursor = batch.cursor
        if len(page) < _BATCHES:
            return
