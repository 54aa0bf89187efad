"""The rooms of one node: find one in memory, or open it from the store; put it away when nobody needs it."""

import asyncio
import contextlib
import logging
from base64 import b32encode
from collections.abc import Callable, Iterable
from hashlib import sha256
from time import monotonic
from typing import final

from erqiwang_core.rules import RULES_VERSION

from erqiwang_grpc import events
from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.events.actor import PLATFORM, stored
from erqiwang_grpc.events.index import opening_tags
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    LogUnavailable,
    NoSuchRoom,
    Refused,
    RoomQuarantined,
    TooManyRooms,
)
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rooms.state import State, Unopenable, opened, replay
from erqiwang_grpc.store import (
    NOTHING,
    Appended,
    Batch,
    CommandKey,
    Conflict,
    Damaged,
    Duplicate,
    RoomId,
    TimeNs,
    Unavailable,
    Version,
)

log = logging.getLogger(__name__)


def room_id(platform: str, command_id: str) -> RoomId:
    """The id of the room that a platform's `CreateRoom` with that `command_id` opens, so that it opens one room only."""
    digest = sha256(f"{platform}\0{command_id}".encode()).digest()
    return RoomId(b32encode(digest[:15]).decode().lower())


@final
class Rooms:
    """Every room that is in memory, and the way to those that are not."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._live: dict[RoomId, Room] = {}
        self._opening: dict[RoomId, asyncio.Task[Room | Refused]] = {}
        self._following: set[asyncio.Task[None]] = set()
        self._watchers: list[Callable[[Room], None]] = []
        self._hearing = contextlib.ExitStack()
        if node.store.shared:
            self._hearing.enter_context(node.wakeup.listen(self._wake))

    @property
    def live(self) -> tuple[Room, ...]:
        """The rooms in memory."""
        return tuple(self._live.values())

    def on_kept(self, watcher: Callable[[Room], None]) -> None:
        """Have `watcher` told of every room that comes into memory."""
        self._watchers.append(watcher)

    def in_memory(self, room: RoomId) -> Room | None:
        """The room, if it is in memory."""
        return self._live.get(room)

    async def find(self, room: RoomId) -> Room | Refused:
        """The room, opened from the store if it is not in memory. Refused: no such room; one that is damaged."""
        found = self._live.get(room)
        if found is not None:
            found.touch()
            await found.refresh()
            return found
        opening = self._opening.get(room)
        if opening is None:
            opening = asyncio.create_task(self._open(room))
            self._opening[room] = opening
            opening.add_done_callback(lambda _: self._opening.pop(room, None))
        # One of those who wait may be cancelled; the others still want the room.
        return await asyncio.shield(opening)

    async def _open(self, room: RoomId) -> Room | Refused:
        entries = await self._node.store.read(room)
        if isinstance(entries, Damaged):
            log.error("room damaged", extra={"room": room, "version": entries.version, "why": entries.why})
            return RoomQuarantined(Version(entries.version - 1))
        if not entries:
            return NoSuchRoom()
        state = replay(entries)
        if isinstance(state, Unopenable):
            log.error("room unreadable", extra={"room": room, "version": 0, "why": state.why})
            return RoomQuarantined(NOTHING)
        if state.fault is not None:
            log.error("room quarantined", extra={"room": room, "version": state.version, "why": state.fault})
        return self._keep(room, state)

    def _keep(self, room: RoomId, state: State) -> Room:
        if room in self._live:
            # Created and looked for at once: there is one room, the one that was there first.
            return self._live[room]
        kept = Room(room, state, self._node)
        self._live[room] = kept
        for watcher in self._watchers:
            watcher(kept)
        return kept

    def deadline(self, state: State) -> TimeNs:
        """When a room that is not full by then expires."""
        return TimeNs(state.created + self._node.limits.fill_minutes * MINUTE)

    async def create(self, opening: RoomOpened, key: CommandKey) -> Room | Refused:
        """Open a room, or find the one that the same command has opened.

        Refused: an id that opened another; too many rooms; a store that takes nothing now.
        """
        room = room_id(opening.platform, key.id)
        if room not in self._live and len(self._live) >= self._node.limits.rooms:
            return TooManyRooms(self._node.limits.rooms)
        time = self._node.now()
        batch = Batch(time, stored(PLATFORM), key, RULES_VERSION, (events.write(opening),), opening_tags(opening))
        appended = await self._node.store.append(room, NOTHING, batch)
        match appended:
            case Appended():
                state = opened(opening, time)
                state.remember(PLATFORM, key, Version(1))
                self._node.wakeup.hint(room, Version(1))
                return self._keep(room, state)
            case Duplicate(fingerprint=fingerprint):
                return await self.find(room) if fingerprint == key.fingerprint else CommandIdReused()
            case Conflict():
                return CommandIdReused()
            case Damaged(version=version):
                return RoomQuarantined(Version(version - 1))
            case Unavailable(why):
                log.error("log unavailable", extra={"room": room, "version": 0, "why": why})
                return LogUnavailable()

    # What other nodes append

    def _wake(self, room: RoomId, version: Version) -> None:
        """Another node may have appended: a room in memory reads what is new."""
        found = self._live.get(room)
        if found is not None and found.version < version:
            self._follow(found)

    def poll(self) -> None:
        """Have every room that is listened to look for what other nodes have appended: a wakeup may be lost."""
        if self._node.store.shared:
            for room in self._live.values():
                if room.audience:
                    self._follow(room)

    def _follow(self, room: Room) -> None:
        following = asyncio.create_task(room.follow())
        self._following.add(following)
        following.add_done_callback(self._following.discard)

    # Putting away

    def put_away(self) -> int:
        """Forget rooms that nobody has used for a while; how many. The store holds everything."""
        limit = monotonic() - 60 * self._node.limits.idle_minutes
        idle = [room for room in self._live.values() if not room.in_use and room.touched < limit]
        for room in idle:
            del self._live[room.id]
        return len(idle)

    def forget(self, deleted: Iterable[RoomId]) -> None:
        """Rooms that were deleted from the store are no more; their listeners are told so."""
        for room_id in deleted:
            room = self._live.pop(room_id, None)
            if room is not None:
                room.audience.end(Closing.DELETED)

    def end_streams(self, closing: Closing) -> None:
        """End every listener of every room."""
        for room in self._live.values():
            room.audience.end(closing)

    def close(self) -> None:
        """Hear no more of other nodes."""
        self._hearing.close()
        for following in self._following:
            following.cancel()
