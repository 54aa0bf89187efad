"""Room presence: what a `WatchRooms` stream is told of the presence of its platform's seats, beside the events."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final, final

from erqiwang_core.rules import game_rules

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.refusals import StoreUnavailable
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rpc.openings import Openings
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import room_service_pb2 as pb

_AT_ONCE: Final = 1_000
"""Most rooms that are looked at for one response."""


@final
class RoomPresence:
    """The presence that one stream was told, and the rooms where it may be another by now."""

    def __init__(self, platform: PlatformId, rooms: Rooms, openings: Openings, ring: Callable[[], None]) -> None:
        """`ring` wakes the stream. Rooms in which somebody is present now are the first that it is told of."""
        self._platform = platform
        self._rooms = rooms
        self._openings = openings
        self._ring = ring
        self._told: dict[RoomId, tuple[bool, ...]] = {}
        """Only rooms in which somebody was present when they were last told."""
        self._unpaid = 0
        self._doubtful = dict.fromkeys(room for room in rooms.attended() if not self._is_foreign(room))
        if self._doubtful:
            ring()

    @property
    def waits(self) -> bool:
        """Whether there are rooms to look at."""
        return bool(self._doubtful)

    def hear(self, room: RoomId) -> None:
        """The presence of the room may have changed. Several hints until the next look are one."""
        if self._is_foreign(room):
            return
        self._doubtful[room] = None
        self._ring()

    def _is_foreign(self, room: RoomId) -> bool:
        """Whether the room is known to be another platform's, which then costs this stream nothing."""
        opened = self._openings.known(room)
        return opened is not None and opened.platform != self._platform

    async def news(self) -> list[pb.RoomPresence]:
        """The rooms whose presence is another than was told, and note that it is told now."""
        found = []
        for room in tuple(islice(self._doubtful, _AT_ONCE)):
            # Before it is looked at: what changes while the store is read is looked at again.
            del self._doubtful[room]
            is_read = self._openings.known(room) is None
            opened = await self._openings.of_room(room)
            if isinstance(opened, StoreUnavailable):
                self._doubtful[room] = None
                break
            if opened is None and room in self._told:  # it was deleted
                found += self._news_of(room, len(self._told[room]))
            elif isinstance(opened, RoomOpened) and opened.platform == self._platform:
                self._unpaid += is_read
                found += self._news_of(room, game_rules(opened.options.game, opened.options.review).seats)
        if self._doubtful:
            self._ring()
        return found

    def bill(self) -> int:
        """How many events of the platform's rooms were read since the last bill. Those of others are not its affair."""
        unpaid, self._unpaid = self._unpaid, 0
        return unpaid

    def _news_of(self, room: RoomId, seats: int) -> list[pb.RoomPresence]:
        present = self._rooms.presence(room, seats)
        if present == self._told.get(room, (False,) * seats):
            return []
        if any(present):
            self._told[room] = present
        else:
            del self._told[room]
        return [pb.RoomPresence(room_id=room, present=present)]
