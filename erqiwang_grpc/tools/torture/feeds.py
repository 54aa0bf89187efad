"""Feeds: what a platform heard while it watched its rooms, compared with what is stored."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Final, TypeAlias, final

from erqiwang_grpc.client import Platform
from erqiwang_grpc.events import Unreadable, read
from erqiwang_grpc.events.index import is_public
from erqiwang_grpc.store import START, Cursor, Entry, RoomId, StoreReader

_PAGE: Final = 500
_CATCHING_UP_SECONDS: Final = 60.0

Heard: TypeAlias = tuple[str, int]
"""A room, and the version of a public event."""


@final
class Watcher:
    """A platform that watches all its rooms, however often its connection is lost."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []

    async def watch(self, platform: Platform) -> None:
        """Hear every public event from the first on, without end."""
        async for event in platform.watch():
            self.heard.append((event.room_id, event.version))

    async def heard_so_many(self, count: int) -> None:
        """Wait until so many events were heard, but not for ever."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CATCHING_UP_SECONDS):
                while len(self.heard) < count:  # noqa: ASYNC110 - the comparison tells what is missing
                    await asyncio.sleep(0.1)


@asynccontextmanager
async def watching(platform: Platform) -> AsyncIterator[Watcher]:
    """A watcher, while in the context."""
    watcher = Watcher()
    task = asyncio.create_task(watcher.watch(platform))
    try:
        yield watcher
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def public_events(store: StoreReader, feed: str) -> list[Heard]:
    """The public events of a feed, in order."""
    told: list[Heard] = []
    after: Cursor = START
    while True:
        page = await store.feed(feed, after, _PAGE)
        assert isinstance(page, tuple), page
        told += (heard for batch in page for entry in batch.entries for heard in _public(entry))
        if len(page) < _PAGE:
            return told
        after = page[-1].cursor


def _public(entry: Entry) -> Iterator[Heard]:
    event = read(entry.body, entry.rules_version)
    if not isinstance(event, Unreadable) and is_public(event):
        yield entry.room, entry.version


async def faults(store: StoreReader, rooms: list[RoomId], told: list[Heard], heard: list[Heard]) -> list[str]:
    """The differences between the rooms, the feed that the store tells of them, and what its watcher heard."""
    found: list[str] = []
    stored: set[Heard] = set()
    for room in rooms:
        entries = await store.read(room)
        if isinstance(entries, tuple):
            stored |= {heard for entry in entries for heard in _public(entry)}
    found += (f"room {room}: version {version} is missing in the feed" for room, version in stored - set(told))
    found += (f"room {room}: version {version} is in the feed alone" for room, version in set(told) - stored)
    if len(set(told)) != len(told):
        found.append("the feed tells something twice")
    found += (f"room {room}: its feed is out of order" for room in sorted(_out_of_order(told)))
    if heard != told:
        place = next((at for at, pair in enumerate(zip(heard, told, strict=False)) if pair[0] != pair[1]), None)
        found.append(f"the watcher heard {len(heard)} of {len(told)} events; the first difference is at {place}")
    return found


def _out_of_order(told: list[Heard]) -> set[str]:
    versions: dict[str, list[int]] = {}
    for room, version in told:
        versions.setdefault(room, []).append(version)
    return {room for room, each in versions.items() if any(later <= earlier for earlier, later in pairwise(each))}
