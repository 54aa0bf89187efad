"""The rooms of one node: finds them in memory or opens them from the store, and drops them when they are idle."""

import asyncio
import contextlib
import logging
import math
from base64 import b32encode
from collections import OrderedDict
from collections.abc import Coroutine, Iterable
from hashlib import sha256
from typing import Final, TypeVar, final

from erqiwang_core.match import Gathering, Running
from erqiwang_core.units import Seat

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.events.actor import PLATFORM, stored
from erqiwang_grpc.events.batches import batch_of
from erqiwang_grpc.events.standing import opened
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import Accepted
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
    WrittenByNewer,
)
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rooms.spans import Span
from erqiwang_grpc.rooms.state import State, Unopenable, replay
from erqiwang_grpc.store import (
    NOTHING,
    Appended,
    CommandKey,
    Conflict,
    Damaged,
    Duplicate,
    NodeLeft,
    RoomId,
    Roster,
    SideMessage,
    SignalGiven,
    TimeNs,
    Unavailable,
    Unsure,
    Version,
)

log = logging.getLogger(__name__)

Refusing = TypeVar("Refusing", RoomQuarantined, WrittenByNewer)

_REFUSED_SECONDS: Final = 60.0
"""How long a room that could not be opened is refused without being read again."""
_MOST_REFUSED: Final = 1_000
"""Most such rooms that are remembered."""
_FEW_EVENTS: Final = 50
"""A room of so many events is followed within 5 ms, which is less than a thread is worth."""


def room_id(platform: PlatformId, command_id: str) -> RoomId:
    """The id of the room that a `CreateRoom` with this `command_id` opens. A repeated call gives the same id."""
    digest = sha256(f"{platform}\0{command_id}".encode()).digest()
    return RoomId(b32encode(digest[:15]).decode().lower())


@final
class Rooms:
    """The rooms in memory. Other rooms are opened from the store when they are asked for."""

    def __init__(self, node: Node, quotas: Quotas | None = None) -> None:
        self.node = node
        self._quotas = quotas or Quotas(node.limits, node.monotonic)
        self._live: dict[RoomId, Room] = {}
        self._opening: dict[RoomId, asyncio.Task[Room | Refused]] = {}
        self._refused: OrderedDict[RoomId, tuple[float, RoomQuarantined | WrittenByNewer]] = OrderedDict()
        """Rooms that could not be opened, with the time when each was tried."""
        self._following: set[asyncio.Task[None]] = set()
        self._open_rooms = OpenRooms()
        self.deadlines = Deadlines()
        """When the rooms that wait for their seats expire."""
        self._hearing = contextlib.ExitStack()
        if node.store.shared:
            self._hearing.enter_context(node.wakeup.listen(self._wake))
            self._hearing.enter_context(node.neighbours.listen(self._hear))

    @property
    def live(self) -> tuple[Room, ...]:
        """The rooms in memory."""
        return tuple(self._live.values())

    @property
    def open(self) -> int:
        """The number of open rooms: those in memory, and those that left memory while they wait for their seats."""
        return len(self._open_rooms)

    def in_memory(self, room: RoomId) -> Room | None:
        """The room if it is in memory, else None. It is not opened from the store."""
        return self._live.get(room)

    async def find(self, room: RoomId) -> Room | Refused:
        """The room, opened from the store if necessary.

        Refusals: `NoSuchRoom`, `RoomQuarantined` if it is damaged, `WrittenByNewer` if this version does not understand it,
        `StoreUnavailable` if the store cannot be read. A damaged room is read once a minute at most.
        """
        older = self._opening.get(room)
        if older is not None and self.node.store.shared:
            # It may have read the store before this caller asked, and another node may have appended between the two.
            await asyncio.shield(older)
        while True:
            found: Room | Refused | None = self._live.get(room)
            if isinstance(found, Room):
                found.touch()
                found = await found.refresh() or found
            else:
                found = self._lately_refused(room) or await self._opened(room)
            # A room that has left memory meanwhile would hear of nothing that other nodes append.
            if not isinstance(found, Room) or self._live.get(room) is found:
                return found

    async def _opened(self, room: RoomId) -> Room | Refused:
        opening = self._opening.get(room)
        if opening is None:
            opening = asyncio.create_task(self._open(room))
            self._opening[room] = opening
        # Several callers may wait for this opening. The cancellation of one must not cancel it for the others.
        return await asyncio.shield(opening)

    async def _open(self, room: RoomId) -> Room | Refused:
        try:
            return await self._read(room)
        finally:
            if self._opening.get(room) is asyncio.current_task():
                del self._opening[room]

    async def _read(self, room: RoomId) -> Room | Refused:
        entries = await self.node.store.read(room)
        if isinstance(entries, Damaged):
            log.error("room damaged", extra={"room": room, "version": entries.version, "why": entries.why})
            return self._refuse(room, RoomQuarantined(Version(entries.version - 1)))
        if isinstance(entries, Unavailable):
            return StoreUnavailable()
        if not entries:
            return NoSuchRoom()
        # A match of twelve deals takes 100 ms to follow: on the event loop every seat would wait for it.
        state = replay(entries) if len(entries) <= _FEW_EVENTS else await asyncio.to_thread(replay, entries)
        if self._opening.get(room) is not asyncio.current_task():
            return NoSuchRoom()  # it was deleted meanwhile
        newer = state.newer if isinstance(state, State) else state.why if state.is_newer else None
        if newer is not None:
            log.warning(
                "room left to a newer version", extra={"room": room, "version": entries[-1].version, "why": newer}
            )
            return self._refuse(room, WrittenByNewer())
        if isinstance(state, Unopenable):
            log.error("room unreadable", extra={"room": room, "version": 0, "why": state.why})
            return self._refuse(room, RoomQuarantined(NOTHING))
        if state.fault is not None:
            log.error("room quarantined", extra={"room": room, "version": state.version, "why": state.fault})
        self._make_place(state.opened.platform)
        kept = self._keep(room, state)
        if kept.version < state.version:
            # It was created here while the store was read, and another node has appended to it.
            return await kept.refresh() or kept
        return kept

    def _lately_refused(self, room: RoomId) -> RoomQuarantined | WrittenByNewer | None:
        """The refusal of a room that could not be opened a short time ago."""
        tried, refused = self._refused.get(room, (-math.inf, None))
        return refused if self.node.monotonic() - tried < _REFUSED_SECONDS else None

    def _refuse(self, room: RoomId, refused: Refusing) -> Refusing:
        """Refuse a room that cannot be opened, now and for a while."""
        self._refused[room] = self.node.monotonic(), refused
        self._refused.move_to_end(room)
        if len(self._refused) > _MOST_REFUSED:
            self._refused.popitem(last=False)
        return refused

    def _make_place(self, platform: PlatformId) -> None:
        """Drop the platform's longest unused room from memory if the platform has all the open rooms that it may have.

        Stored rooms are opened whenever they are asked for. So a platform that asks for many must not fill the memory.
        """
        if self._quotas.room(self._open_rooms.of(platform)) is None:
            return
        mine = (room for room in self._live.values() if room.state.opened.platform == platform)
        unused = [room for room in mine if not room.in_use and not isinstance(room.match, Gathering)]
        if unused:
            self._put_away(min(unused, key=lambda room: room.touched))

    def _keep(self, room: RoomId, state: State) -> Room:
        if room in self._live:
            # A room may be created and asked for at the same time. Keep the one that is in memory already.
            return self._live[room]
        kept = Room(room, state, self.node)
        self._live[room] = kept
        self._open_rooms.add(room, state.opened.platform)
        if isinstance(state.match, Gathering):
            self.deadlines.add(room, self.deadline(state.standing.created))
        return kept

    def deadline(self, created: TimeNs) -> TimeNs:
        """When a room expires unless its match has begun. On the wall clock, as the deadline outlives the process."""
        return TimeNs(created + self.node.limits.fill_minutes * MINUTE)

    async def create(self, opening: RoomOpened, key: CommandKey) -> Room | Refused:
        """Create a room, or find the one that the same command created before.

        Refusals: `CommandIdReused` if the id created a different room, `QuotaReached` for too many rooms of this
        platform, `TooManyRooms` for too many of all, `StoreUnavailable` and `OutcomeUnknown` if the store fails.
        """
        room = room_id(opening.platform, key.id)
        span = self.node.spans.command("create_room", None, room, opening.options, None)
        created = await self._created(room, opening, key, span)
        span.end(Accepted(Version(1), Version(1), repeated=False) if isinstance(created, Room) else created)
        return created

    async def _created(self, room: RoomId, opening: RoomOpened, key: CommandKey, span: Span) -> Room | Refused:
        if room in self._open_rooms:
            return await self._create(room, opening, key, span)
        reached = self._quotas.room(self._open_rooms.of(opening.platform))
        if reached is not None:
            return reached
        if len(self._open_rooms) >= self.node.limits.rooms:
            return TooManyRooms(self.node.limits.rooms)
        # Count the room before it is stored: many rooms may be on their way to the disk at once.
        self._open_rooms.add(room, opening.platform)
        try:
            return await self._create(room, opening, key, span)
        finally:
            if room not in self._live:
                self._open_rooms.discard(room)

    async def _create(self, room: RoomId, opening: RoomOpened, key: CommandKey, span: Span) -> Room | Refused:
        standing = opened(opening, self.node.now())
        batch = batch_of((opening,), standing, SummaryWriter(), stored(PLATFORM), key)
        with span.step("append"):
            appended = await self.node.store.append(room, NOTHING, batch)
        match appended:
            case Appended():
                state = State(standing)
                state.accepted.remember(PLATFORM, key, Version(1), Version(1))
                self.node.wakeup.hint(room, Version(1))
                return self._keep(room, state)
            case Duplicate(fingerprint=fingerprint):
                if fingerprint != key.fingerprint:
                    return CommandIdReused()
                found = await self.find(room)
                # A failover of the store may lose, just now, what nobody was answered.
                return OutcomeUnknown() if isinstance(found, NoSuchRoom) else found
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
        """Another node may have appended to a room. If the room is in memory, it reads the new events."""
        found = self._live.get(room)
        if found is not None and found.version < version:
            self._follow(found)

    def poll(self) -> None:
        """Let each room with listeners read what other nodes have appended, because a wakeup may be lost."""
        if self.node.store.shared:
            for room in self._live.values():
                if room.audience:
                    self._follow(room)

    def _follow(self, room: Room) -> None:
        self._begin(room.follow())

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        following = asyncio.create_task(work)
        self._following.add(following)
        following.add_done_callback(self._following.discard)

    # What other nodes tell

    def _hear(self, message: SideMessage) -> None:
        """Another node tells of its seats, or passes a signal on. Anything may stand in such a message."""
        neighbours = self.node.neighbours
        match message:
            case Roster(room=room):
                live, before = self._live.get(room), neighbours.all_present(room)
                if live is None:
                    neighbours.take(message, self.node.monotonic())
                else:
                    live.audience.hear_neighbour(message)
                # A roster is repeated every 20 seconds. Only one that changes something is worth a look.
                if neighbours.all_present(room) != before:
                    self.node.presences.changed(room)
            case SignalGiven(_, room, version, seat, signal):
                live = self._live.get(room)
                if live is not None and live.audience:
                    self._begin(live.pass_on(Seat(seat), signal, version))
            case NodeLeft(node):
                self._show_presence(neighbours.leave(node))

    def look_after_neighbours(self) -> None:
        """Forget what other nodes have not repeated for too long."""
        self._show_presence(self.node.neighbours.forget_silent(self.node.monotonic()))

    def _show_presence(self, rooms: Iterable[RoomId]) -> None:
        for room in rooms:
            live = self._live.get(room)
            if live is not None:
                live.audience.show_presence()
            self.node.presences.changed(room)

    def presence(self, room: RoomId, seats: int) -> tuple[bool, ...]:
        """Which of the seats of a room are present, on any node. The room need not be in memory."""
        live = self._live.get(room)
        if live is not None:
            return live.audience.presence().present
        return tuple(self.node.neighbours.present(room, Seat(seat)) for seat in range(seats))

    def attended(self) -> tuple[RoomId, ...]:
        """The rooms of all platforms in which a seat has a stream, on any node."""
        here = [room.id for room in self._live.values() if room.audience]
        return tuple(dict.fromkeys((*here, *self.node.neighbours.attended())))

    # Dropping from memory

    def put_away(self) -> int:
        """Drop rooms from memory that nobody has used for a while; gives how many. The store keeps everything.

        A room that waits for its seats is dropped sooner, because a platform could create many and never fill them. It
        still counts as open, and its deadline stays. A room whose match is over is dropped sooner, too.
        """
        now = self.node.monotonic()
        unused = [room for room in self._live.values() if not room.in_use]
        idle = [room for room in unused if room.is_left or now - room.touched > self._patience(room)]
        for room in idle:
            self._put_away(room)
        return len(idle)

    def _put_away(self, room: Room) -> None:
        del self._live[room.id]
        if not isinstance(room.match, Gathering) or room.is_left:
            self._close(room.id)

    def _patience(self, room: Room) -> float:
        """The seconds that an unused room stays in memory: longest while its match is played."""
        limits = self.node.limits
        idle = 60.0 * limits.idle_minutes
        return idle if isinstance(room.match, Running) else min(idle, limits.unfilled_seconds)

    def _close(self, room: RoomId) -> None:
        """Count the room as open no longer, and remove its deadline."""
        self._open_rooms.discard(room)
        self.deadlines.discard(room)

    def forget(self, deleted: Iterable[RoomId]) -> None:
        """Drop rooms that were deleted from the store, and end their listeners with `DELETED`."""
        for room_id in deleted:
            room = self._live.pop(room_id, None)
            self._opening.pop(room_id, None)
            self._refused.pop(room_id, None)
            self._close(room_id)
            if room is not None:
                room.audience.end(Closing.DELETED)

    def end_streams(self, closing: Closing) -> None:
        """End every listener of every room with this reason."""
        for room in self._live.values():
            room.audience.end(closing)

    def close(self) -> None:
        """Stop listening for what other nodes append, and tell them that this one has stopped."""
        self._hearing.close()
        self.node.neighbours.part()
        for following in self._following:
            following.cancel()
