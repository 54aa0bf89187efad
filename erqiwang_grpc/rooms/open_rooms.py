"""Which rooms a server holds open, whose they are, and which of them wait for their seats to be taken.

A room that waits need not be in memory: it is put away soon, counts as open all the same, and its deadline stands here.
"""

import heapq
from collections import Counter
from collections.abc import Iterator
from typing import final

from erqiwang_grpc.store import RoomId, TimeNs


@final
class OpenRooms:
    """Rooms in memory, and rooms that were put away while they waited for their seats.

    Rooms that an earlier run of the server left waiting are counted once somebody asks for them: what is known of them
    before is when they expire.
    """

    def __init__(self) -> None:
        self._platforms: dict[RoomId, str] = {}
        self._of_platform: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._platforms)

    def __contains__(self, room: RoomId) -> bool:
        return room in self._platforms

    def of(self, platform: str) -> int:
        """How many the platform has."""
        return self._of_platform[platform]

    def add(self, room: RoomId, platform: str) -> None:
        """Count the room as open; a room that is counted already changes nothing."""
        if room not in self._platforms:
            self._platforms[room] = platform
            self._of_platform[platform] += 1

    def discard(self, room: RoomId) -> None:
        """The room is no longer held, if it was."""
        platform = self._platforms.pop(room, None)
        if platform is not None:
            self._of_platform[platform] -= 1
            if not self._of_platform[platform]:
                del self._of_platform[platform]


@final
class Deadlines:
    """When rooms are to be looked at, the earliest first; each room once, however often it is opened meanwhile."""

    def __init__(self) -> None:
        self._queue: list[tuple[TimeNs, RoomId]] = []
        self._rooms: set[RoomId] = set()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, room: RoomId, due: TimeNs) -> None:
        """Set the room's deadline, unless it has one already."""
        if room not in self._rooms:
            self._rooms.add(room)
            heapq.heappush(self._queue, (due, room))

    def discard(self, room: RoomId) -> None:
        """Remove the room's deadline."""
        # Its entry stays in the queue; `due` skips it.
        self._rooms.discard(room)

    def due(self, now: TimeNs) -> Iterator[RoomId]:
        """Every room whose time has come, taken out."""
        while self._queue and self._queue[0][0] <= now:
            _, room = heapq.heappop(self._queue)
            if room in self._rooms:
                self._rooms.discard(room)
                yield room
