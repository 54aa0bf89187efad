"""The broadcasts that are open on a node."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from typing import Final, final

from erqiwang_grpc.auth.tokens import Lateness
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.rate_limit import Allowance
from erqiwang_grpc.rooms.refusals import RoomQuarantined, StoreUnavailable, WrittenByNewer
from erqiwang_grpc.rooms.room import Node
from erqiwang_grpc.spectators.broadcast import Admission, Broadcast
from erqiwang_grpc.store import RoomId, Version

LATENESSES: Final = 8
"""Most latenesses of one room at once, because each one is a fold of the whole log."""
ATTACHED_PER_SECOND: Final = 100
"""Spectators of one room that may attach in a second in the long run, twice as many in a burst."""
_LINGERING_SECONDS: Final = 60.0
"""Seconds that a broadcast without spectators is kept, so that coming and going does not read the log anew."""
_OPENING_AT_ONCE: Final = 2
"""Broadcasts that follow a whole log at once: each takes up to 100 ms of a core, which tables need too."""


@final
class _OfRoom:
    """The broadcasts of one room, and how fast spectators may come."""

    def __init__(self, now: float) -> None:
        self.broadcasts: dict[Lateness, Broadcast] = {}
        self.allowance = Allowance(ATTACHED_PER_SECOND, now)


@final
class Broadcasts:
    """All broadcasts of a node. Each begins with its first spectator."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._rooms: dict[RoomId, _OfRoom] = {}
        self._opening = asyncio.Semaphore(_OPENING_AT_ONCE)
        self._closing: Closing | None = None
        """Why all streams were ended; None while the server goes on."""
        self._hearing = contextlib.ExitStack()
        self._hearing.enter_context(node.wakeup.listen(self._wake))

    def __len__(self) -> int:
        return sum(1 for _ in self._all())

    def _all(self) -> Iterator[Broadcast]:
        for of_room in self._rooms.values():
            yield from of_room.broadcasts.values()

    def wait(self, room: RoomId) -> float:
        """The seconds that one more spectator of the room must wait; 0 if it may come now, which is counted."""
        return self._of(room).allowance.take(1, self._node.monotonic())

    def has_place(self, room: RoomId, lateness: Lateness) -> bool:
        """Whether the room may be watched with this lateness too, beside those with which it is watched now."""
        broadcasts = self._of(room).broadcasts
        if lateness not in broadcasts and len(broadcasts) >= LATENESSES:
            unwatched = [each for each in broadcasts.values() if not each.in_use]
            if not unwatched:
                return False
            del broadcasts[min(unwatched, key=lambda each: each.left).lateness]
        return True

    async def attach(
        self, room: RoomId, lateness: Lateness, admission: Admission, last_version: int | None
    ) -> Broadcast | RoomQuarantined | StoreUnavailable | WrittenByNewer:
        """Take a spectator into the broadcast; gives it, or the refusal if the log cannot be followed."""
        broadcasts = self._of(room).broadcasts
        broadcast = broadcasts.get(lateness)
        if broadcast is None or broadcast.closed is not None:
            broadcast = broadcasts[lateness] = Broadcast(room, lateness, self._node)
        if broadcast.is_open:
            refused = await broadcast.attach(admission, last_version)
        else:
            with broadcast.awaited():  # counted before the wait: one that nobody uses is dropped
                async with self._opening:
                    refused = await broadcast.attach(admission, last_version)
        if refused is not None:
            return refused
        if self._closing is not None:
            admission.spectator.end(self._closing)
        return broadcast

    def _of(self, room: RoomId) -> _OfRoom:
        if room not in self._rooms:
            self._rooms[room] = _OfRoom(self._node.monotonic())
        return self._rooms[room]

    def _wake(self, room: RoomId, version: Version) -> None:  # a read finds all versions
        of_room = self._rooms.get(room)
        if of_room is not None:
            for broadcast in of_room.broadcasts.values():
                broadcast.ring()

    def look_after(self) -> None:
        """Do the regular work: heartbeats, expired tokens, and broadcasts that nobody has watched for a while.

        Call it about once a second.
        """
        now, limits = self._node.monotonic(), self._node.limits
        for room, of_room in tuple(self._rooms.items()):
            for broadcast in tuple(of_room.broadcasts.values()):
                broadcast.look_after(limits.heartbeat_seconds)
                if not broadcast.in_use and now - broadcast.left > _LINGERING_SECONDS:
                    del of_room.broadcasts[broadcast.lateness]
            if not of_room.broadcasts:
                del self._rooms[room]

    def forget(self, deleted: Iterable[RoomId]) -> None:
        """End the spectators of rooms that were deleted from the store."""
        for room in deleted:
            of_room = self._rooms.pop(room, None)
            for broadcast in () if of_room is None else of_room.broadcasts.values():
                broadcast.close(Closing.DELETED)

    def end_streams(self, closing: Closing) -> None:
        """End every spectator of every room with this reason, and those that come later."""
        self._closing = closing
        for broadcast in self._all():
            broadcast.end(closing)

    def close(self) -> None:
        """Stop reading logs."""
        self._hearing.close()
        for broadcast in self._all():
            broadcast.stop()
