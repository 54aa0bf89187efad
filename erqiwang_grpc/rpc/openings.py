"""Openings: the first event of a room. `WatchRooms` tells the room's labels and reference from it with every event."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, final

from erqiwang_grpc.archive.feed import Happened
from erqiwang_grpc.archive.ownership import opening
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.refusals import StoreUnavailable, WrittenByNewer
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import RoomId, StoreReader

_KEPT: Final = 10_000
"""Most openings kept for rooms that are not in memory. Without them, a watcher of a long history would have the
same openings read again and again."""


@final
class Openings:
    """The openings of rooms, from memory or read once from the store."""

    def __init__(self, rooms: Rooms, events: StoreReader) -> None:
        self._rooms = rooms
        self._events = events
        self._kept: OrderedDict[RoomId, RoomOpened] = OrderedDict()

    async def of(self, happened: Happened) -> RoomOpened | StoreUnavailable | WrittenByNewer | None:
        """The opening of the event's room; None if the room's first event is damaged, a refusal if the store is away."""
        if isinstance(happened.event, RoomOpened):
            return self._keep(happened.entry.room, happened.event)
        return await self.of_room(happened.entry.room)

    def known(self, room: RoomId) -> RoomOpened | None:
        """The opening of a room, where no read is needed to know it; else None."""
        live = self._rooms.in_memory(room)
        return self._kept.get(room) if live is None else live.state.opened

    async def of_room(self, room: RoomId) -> RoomOpened | StoreUnavailable | WrittenByNewer | None:
        """The opening of a room; None if there is no such room, or if its first event is damaged; else as `of`."""
        live = self._rooms.in_memory(room)
        if live is not None:
            return live.state.opened
        if room in self._kept:
            self._kept.move_to_end(room)
            return self._kept[room]
        opened = await opening(self._events, room)
        return self._keep(room, opened) if isinstance(opened, RoomOpened) else opened

    def _keep(self, room: RoomId, opened: RoomOpened) -> RoomOpened:
        self._kept[room] = opened
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return opened
