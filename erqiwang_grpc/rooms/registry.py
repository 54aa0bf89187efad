"""The rooms of one server: find one in memory, or replay it from its log; put it away when nobody needs it."""

import asyncio
import logging
from base64 import b32encode
from collections.abc import AsyncIterator, Iterable
from hashlib import sha256
from typing import Final, final

from erqiwang_core.match import Disband, Gathering
from erqiwang_core.rules import RULES_VERSION

from erqiwang_grpc import events as stored
from erqiwang_grpc.events.index import ENDED, OPENED, STARTED, opening_tags
from erqiwang_grpc.events.model import HOUSE, RoomOpened
from erqiwang_grpc.rooms import state as ledgers
from erqiwang_grpc.rooms.command import PLATFORM, Accepted
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.open_rooms import Deadlines, OpenRooms
from erqiwang_grpc.rooms.outbox import Closing
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    LogUnavailable,
    NoSuchRoom,
    Refused,
    RoomQuarantined,
    TooManyRooms,
)
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.rooms.state import Broken, NoLedger, State
from erqiwang_grpc.store import (
    NOTHING,
    Appended,
    Batch,
    CommandKey,
    Conflict,
    Damaged,
    Duplicate,
    Mark,
    Period,
    RoomId,
    Tag,
    TimeNs,
    Unavailable,
    Version,
)
from erqiwang_grpc.v1 import seat_service_pb2 as pb

log = logging.getLogger(__name__)

_PAGE: Final = 500
_WATCHED_BACK: Final = 7 * 24 * 60 * MINUTE
"""How far back a starting server looks for rooms that were never filled."""


def room_id(platform: str, command_id: str) -> RoomId:
    """The id of the room that a platform's `CreateRoom` with that `command_id` opens, so that it opens one room only."""
    digest = sha256(f"{platform}\0{command_id}".encode()).digest()
    return RoomId(b32encode(digest[:15]).decode().lower())


@final
class Rooms:
    """Every room that is in memory, and the way to those that are not."""

    def __init__(self, around: Node, quotas: Quotas | None = None) -> None:
        self._around = around
        self._quotas = quotas or Quotas(around.limits, around.monotonic)
        self._live: dict[RoomId, Room] = {}
        self._opening: dict[RoomId, asyncio.Task[Room | Refused]] = {}
        self._open_rooms = OpenRooms()
        self._deadlines = Deadlines()

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
        """The room, replayed from its log if it is not in memory. Refused: no such room; one whose log is damaged."""
        found = self._live.get(room)
        if found is not None:
            found.touch()
            return found
        opening = self._opening.get(room)
        if opening is None:
            opening = asyncio.create_task(self._open(room))
            self._opening[room] = opening
            opening.add_done_callback(lambda _: self._opening.pop(room, None))
        # Whoever waits may be cancelled; the others still want the room.
        return await asyncio.shield(opening)

    async def _open(self, room: RoomId) -> Room | Refused:
        entries = await self._around.events.read(room)
        if isinstance(entries, Damaged):
            log.error("room damaged", extra={"room": room, "version": entries.version, "why": entries.why})
            return RoomQuarantined(Version(entries.version - 1))
        if not entries:
            return NoSuchRoom()
        replayed = ledgers.replay(entries)
        match replayed:
            case NoLedger(why):
                log.error("room unreadable", extra={"room": room, "version": 0, "why": why})
                return RoomQuarantined(NOTHING)
            case Broken(ledger, why):
                log.error("room quarantined", extra={"room": room, "version": ledger.version, "why": why})
                return self._keep(room, ledger, why)
            case State():
                return self._keep(room, replayed, None)

    def _keep(self, room: RoomId, ledger: State, fault: str | None) -> Room:
        if room in self._live:
            # Created and looked for at once: there is one room, and whoever came first has it.
            return self._live[room]
        kept = Room(room, ledger, self._around, fault)
        self._live[room] = kept
        self._open_rooms.add(room, ledger.opened.platform)
        if isinstance(ledger.match, Gathering):
            self._deadlines.add(room, self.deadline(ledger))
        return kept

    def deadline(self, ledger: State) -> TimeNs:
        """When a room that is not full by then expires: on the wall clock, since it outlives the server's process."""
        return TimeNs(ledger.created + self._around.limits.fill_minutes * MINUTE)

    async def create(self, opened: RoomOpened, key: CommandKey) -> Room | Refused:
        """Open a room, or find the one that the same command has opened.

        Refused: an id that opened another; too many rooms, of this platform or of all; a log that takes nothing now.
        """
        room = room_id(opened.platform, key.id)
        if room in self._open_rooms:
            return await self._create(room, opened, key)
        reached = self._quotas.room(self._open_rooms.of(opened.platform))
        if reached is not None:
            return reached
        if len(self._open_rooms) >= self._around.limits.rooms:
            return TooManyRooms(self._around.limits.rooms)
        # Counted before it is stored: many may be on their way to the disk at once.
        self._open_rooms.add(room, opened.platform)
        try:
            return await self._create(room, opened, key)
        finally:
            if room not in self._live:
                self._open_rooms.discard(room)

    async def _create(self, room: RoomId, opened: RoomOpened, key: CommandKey) -> Room | Refused:
        time = self._around.now()
        batch = Batch(time, PLATFORM, key, RULES_VERSION, (stored.write(opened),), opening_tags(opened))
        appended = await self._around.events.append(room, NOTHING, batch)
        match appended:
            case Appended():
                ledger = ledgers.opened(opened, time)
                ledger.remember(PLATFORM, key, Version(1))
                self._around.wakeup.hint(room)
                return self._keep(room, ledger, None)
            case Duplicate(fingerprint=fingerprint):
                return await self.find(room) if fingerprint == key.fingerprint else CommandIdReused()
            case Conflict():
                return CommandIdReused()
            case Damaged(version=version):
                return RoomQuarantined(Version(version - 1))
            case Unavailable(why):
                log.error("log unavailable", extra={"room": room, "version": 0, "why": why})
                return LogUnavailable()

    async def expire(self) -> None:
        """End every room that was not filled in time, whether it is in memory or not."""
        now = self._around.now()
        for room in self._deadlines.due(now):
            found = await self.find(room)
            if isinstance(found, Room) and isinstance(found.match, Gathering):
                answer = await found.administer(HOUSE, Disband(), None)
                if isinstance(answer, Accepted):
                    log.info("room expired", extra={"room": room, "version": found.version})
                else:
                    self._deadlines.add(room, TimeNs(now + MINUTE))

    async def watch_stored(self) -> None:
        """Find the rooms that were open when the last server stopped, so that they expire though nobody asks for them."""
        now = self._around.now()
        period = Period(TimeNs(max(0, now - _WATCHED_BACK)), TimeNs(now))
        begun = {mark.room for tag in (STARTED, ENDED) async for mark in self._listed(tag, period)}
        async for mark in self._listed(OPENED, period):
            if mark.room not in begun:
                due = TimeNs(mark.time + self._around.limits.fill_minutes * MINUTE)
                self._deadlines.add(mark.room, due)

    async def _listed(self, tag: Tag, period: Period) -> AsyncIterator[Mark]:
        before: Mark | None = None
        while True:
            marks = await self._around.events.listing(tag, period, _PAGE, before)
            if isinstance(marks, Unavailable) or not marks:
                return
            for mark in marks:
                yield mark
            before = marks[-1]

    def put_away(self) -> int:
        """Forget rooms that nobody has used for a while; how many. Their logs hold everything.

        A room that waits for its seats goes sooner, since anybody with a key can open any number and fill none. It still
        counts as open, and its deadline stays.
        """
        now = self._around.monotonic()
        idle = [room for room in self._live.values() if not room.in_use and now - room.touched > self._patience(room)]
        for room in idle:
            del self._live[room.id]
            if not isinstance(room.match, Gathering):
                self._close(room.id)
        return len(idle)

    def _patience(self, room: Room) -> float:
        """How many seconds a room that is not in use stays in memory."""
        limits = self._around.limits
        idle = 60.0 * limits.idle_minutes
        return min(idle, limits.unfilled_seconds) if room.state.started is None else idle

    def _close(self, room: RoomId) -> None:
        """The room is neither in memory nor waiting for its seats."""
        self._open_rooms.discard(room)
        self._deadlines.discard(room)

    def forget(self, deleted: Iterable[RoomId]) -> None:
        """Rooms whose logs were deleted are no more, and whoever still listens to one is told so."""
        for room_id in deleted:
            room = self._live.pop(room_id, None)
            self._close(room_id)
            if room is not None:
                room.close_all(Closing.DELETED)

    def look_after_streams(self) -> None:
        """Say that the server is there on silent streams, and show absent whoever was not heard of."""
        now, limits = self._around.monotonic(), self._around.limits
        for room in self._live.values():
            for attachment in room.attachments:
                if now - attachment.written > limits.heartbeat_seconds:
                    attachment.written = now
                    attachment.outbox.put(room.heartbeat())
                if now - attachment.heard > limits.absent_seconds:
                    room.miss(attachment)

    def close_streams(self, why: Closing, last: pb.SeatMessage) -> None:
        """End every stream of every room."""
        for room in self._live.values():
            room.close_all(why, last)
