"""The rooms of one node: find one in memory, or open it from the store; put it away when nobody needs it."""

import asyncio
import contextlib
import logging
from base64 import b32encode
from collections.abc import Iterable
from hashlib import sha256
from typing import final

from erqiwang_core.match import Gathering

from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.events.actor import PLATFORM, stored
from erqiwang_grpc.events.batches import batch_of
from erqiwang_grpc.events.standing import opened
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.open_rooms import Deadlines, OpenRooms
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    NoSuchRoom,
    OutcomeUnknown,
    Refused,
    RoomQuarantined,
    StoreUnavailable,
    TooManyRooms,
)
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rooms.state import State, Unopenable, replay
from erqiwang_grpc.store import (
    NOTHING,
    Appended,
    CommandKey,
    Conflict,
    Damaged,
    Duplicate,
    RoomId,
    TimeNs,
    Unavailable,
    Unsure,
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

    def __init__(self, node: Node, quotas: Quotas | None = None) -> None:
        self.node = node
        self._quotas = quotas or Quotas(node.limits, node.monotonic)
        self._live: dict[RoomId, Room] = {}
        self._opening: dict[RoomId, asyncio.Task[Room | Refused]] = {}
        self._following: set[asyncio.Task[None]] = set()
        self._open_rooms = OpenRooms()
        self.deadlines = Deadlines()
        """When rooms that wait for their seats expire."""
        self._hearing = contextlib.ExitStack()
        if node.store.shared:
            self._hearing.enter_context(node.wakeup.listen(self._wake))

    @property
    def live(self) -> tuple[Room, ...]:
        """The rooms in memory."""
        return tuple(self._live.values())

    @property
    def open(self) -> int:
        """How many rooms count as open: those in memory, and those that were put away while they wait for their seats."""
        return len(self._open_rooms)

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
        # Several callers may wait for this opening: the cancellation of one must not cancel it for the others.
        return await asyncio.shield(opening)

    async def _open(self, room: RoomId) -> Room | Refused:
        entries = await self.node.store.read(room)
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
            # A room may be created and looked for at the same time: keep the one that is in memory already.
            return self._live[room]
        kept = Room(room, state, self.node)
        self._live[room] = kept
        self._open_rooms.add(room, state.opened.platform)
        if isinstance(state.match, Gathering):
            self.deadlines.add(room, self.deadline(state.standing.created))
        return kept

    def deadline(self, created: TimeNs) -> TimeNs:
        """When a room expires that is not full by then: on the wall clock, since it outlives the server's process."""
        return TimeNs(created + self.node.limits.fill_minutes * MINUTE)

    async def create(self, opening: RoomOpened, key: CommandKey) -> Room | Refused:
        """Open a room, or find the one that the same command has opened.

        Refused: an id that opened another; too many rooms, of this platform or of all; a store that takes nothing now.
        """
        room = room_id(opening.platform, key.id)
        if room in self._open_rooms:
            return await self._create(room, opening, key)
        reached = self._quotas.room(self._open_rooms.of(opening.platform))
        if reached is not None:
            return reached
        if len(self._open_rooms) >= self.node.limits.rooms:
            return TooManyRooms(self.node.limits.rooms)
        # Counted before it is stored: many may be on their way to the disk at once.
        self._open_rooms.add(room, opening.platform)
        try:
            return await self._create(room, opening, key)
        finally:
            if room not in self._live:
                self._open_rooms.discard(room)

    async def _create(self, room: RoomId, opening: RoomOpened, key: CommandKey) -> Room | Refused:
        standing = opened(opening, self.node.now())
        batch = batch_of((opening,), standing, SummaryWriter(), stored(PLATFORM), key)
        appended = await self.node.store.append(room, NOTHING, batch)
        match appended:
            case Appended():
                state = State(standing)
                state.remember(PLATFORM, key, Version(1))
                self.node.wakeup.hint(room, Version(1))
                return self._keep(room, state)
            case Duplicate(fingerprint=fingerprint):
                return await self.find(room) if fingerprint == key.fingerprint else CommandIdReused()
            case Conflict():
                return CommandIdReused()
            case Damaged(version=version):
                return RoomQuarantined(Version(version - 1))
            case Unavailable(why):
                log.error("store unavailable", extra={"room": room, "version": 0, "why": why})
                return StoreUnavailable()
            case Unsure(why):
                log.error("outcome unknown", extra={"room": room, "version": 0, "why": why})
                return OutcomeUnknown()

    # What other nodes append

    def _wake(self, room: RoomId, version: Version) -> None:
        """Another node may have appended: a room in memory reads what is new."""
        found = self._live.get(room)
        if found is not None and found.version < version:
            self._follow(found)

    def poll(self) -> None:
        """Have every room that is listened to look for what other nodes have appended: a wakeup may be lost."""
        if self.node.store.shared:
            for room in self._live.values():
                if room.audience:
                    self._follow(room)

    def _follow(self, room: Room) -> None:
        following = asyncio.create_task(room.follow())
        self._following.add(following)
        following.add_done_callback(self._following.discard)

    # Putting away

    def put_away(self) -> int:
        """Forget rooms that nobody has used for a while; how many. The store holds everything.

        A room that waits for its seats goes sooner, since anybody with a key can open any number and fill none. It still
        counts as open, and its deadline stays.
        """
        now = self.node.monotonic()
        idle = [room for room in self._live.values() if not room.in_use and now - room.touched > self._patience(room)]
        for room in idle:
            del self._live[room.id]
            if not isinstance(room.match, Gathering):
                self._close(room.id)
        return len(idle)

    def _patience(self, room: Room) -> float:
        """How many seconds a room that is not in use stays in memory."""
        limits = self.node.limits
        idle = 60.0 * limits.idle_minutes
        return min(idle, limits.unfilled_seconds) if room.state.standing.started is None else idle

    def _close(self, room: RoomId) -> None:
        """Count the room as open no longer, and drop its deadline."""
        self._open_rooms.discard(room)
        self.deadlines.discard(room)

    def forget(self, deleted: Iterable[RoomId]) -> None:
        """Drop rooms that were deleted from the store, and end their listeners with `DELETED`."""
        for room_id in deleted:
            room = self._live.pop(room_id, None)
            self._close(room_id)
            if room is not None:
                room.audience.end(Closing.DELETED)

    def end_streams(self, closing: Closing) -> None:
        """End every listener of every room."""
        for room in self._live.values():
            room.audience.end(closing)

    def close(self) -> None:
        """Stop following what other nodes append."""
        self._hearing.close()
        for following in self._following:
            following.cancel()
