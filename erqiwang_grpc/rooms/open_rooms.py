"""The open rooms of a server, by platform, and the deadlines of those that wait for their seats.

A room that waits for its seats leaves memory soon. It still counts as open, and its deadline is kept here.
"""

import heapq
from collections import Counter
from collections.abc import Iterator
from typing import final

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.store import RoomId, TimeNs


@final
class OpenRooms:
    """The rooms in memory, and those that left memory while they waited for their seats.

    A room that an earlier run of the server left waiting is counted once somebody asks for it. Before that only its
    deadline is known.
    """

    def __init__(self) -> None:
        self._platforms: dict[RoomId, PlatformId] = {}
        self._of_platform: Counter[PlatformId] = Counter()

    def __len__(self) -> int:
        return len(self._platforms)

    def __contains__(self, room: RoomId) -> bool:
        return room in self._platforms

    def of(self, platform: PlatformId) -> int:
        """The number of open rooms of the platform."""
        return self._of_platform[platform]

    def add(self, room: RoomId, platform: PlatformId) -> None:
        """Count the room as open. Does nothing if it is counted already."""
        if room not in self._platforms:
            self._platforms[room] = platform
            self._of_platform[platform] += 1

    def discard(self, room: RoomId) -> None:
        """Count the room as open no longer. Does nothing if it is not counted."""
        platform = self._platforms.pop(room, None)
        if platform is not None:
            self._of_platform[platform] -= 1
            if not self._of_platform[platform]:
                del self._of_platform[platform]


@final
class Deadlines:
    """The deadlines of rooms, earliest first. A room has at most one, however often it is opened."""

    def __init__(self) -> None:
        self._queue: list[tuple[TimeNs, RoomId]] = []
        self._rooms: set[RoomId] = set()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, room: RoomId, due: TimeNs) -> None:
        """Set the room's deadline. Does nothing if it has one already."""
        if room not in self._rooms:
            self._rooms.add(room)
            heapq.heappush(self._queue, (due, room))

    def discard(self, room: RoomId) -> None:
        """Remove the room's deadline."""
        # The entry stays in the queue, and `due` skips it.
        self._rooms.discard(room)

    def due(self, now: TimeNs) -> Iterator[RoomId]:
        """The rooms whose deadline has passed. Each is removed as it is given."""
        while self._queue and self._queue[0][0] <= now:
            _, room = heapq.heappop(self._queue)
            if room in self._rooms:
                self._rooms.discard(room)
                yield room
