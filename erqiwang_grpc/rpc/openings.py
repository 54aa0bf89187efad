"""Openings: how the room of a public event was opened, which its watcher is told with every event."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, final

from erqiwang_grpc import events as stored
from erqiwang_grpc.archive.feed import Happened
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import Entry, RoomId, StoreReader

_KEPT: Final = 10_000
"""Openings that are kept ready of rooms that are not in memory: a long history is told room by room."""


@final
class Openings:
    """The first events of rooms: from memory, or read once from the store."""

    def __init__(self, rooms: Rooms, events: StoreReader) -> None:
        self._rooms = rooms
        self._events = events
        self._kept: OrderedDict[RoomId, RoomOpened] = OrderedDict()

    async def of(self, happened: Happened) -> RoomOpened | None:
        """How the room of an event was opened; None where its first event is damaged or unreadable."""
        room = happened.entry.room
        if isinstance(happened.event, RoomOpened):
            return self._keep(room, happened.event)
        live = self._rooms.in_memory(room)
        if live is not None:
            return live.state.opened
        if room in self._kept:
            self._kept.move_to_end(room)
            return self._kept[room]
        first = await self._events.first(room)
        if not isinstance(first, Entry):
            return None
        opened = stored.read(first.body, first.rules_version)
        return self._keep(room, opened) if isinstance(opened, RoomOpened) else None

    def _keep(self, room: RoomId, opened: RoomOpened) -> RoomOpened:
        self._kept[room] = opened
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return opened
