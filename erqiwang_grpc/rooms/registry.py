"""The rooms of one server: find one in memory, or replay it from its log; put it away when nobody needs it."""

import asyncio
import heapq
import logging
from base64 import b32encode
from collections.abc import AsyncIterator, Iterable
from hashlib import sha256
from time import monotonic
from typing import Final, final

from erqiwang_core.match import Disband, Gathering
from erqiwang_core.rules import RULES_VERSION

from erqiwang_grpc import events as stored
from erqiwang_grpc.events.index import ENDED, OPENED, STARTED, opening_tags
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms import state as ledgers
from erqiwang_grpc.rooms.command import HOUSE, PLATFORM, Accepted
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.outbox import Closing
from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    LogUnavailable,
    NoSuchRoom,
    OutcomeUnknown,
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
    Unsure,
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

    def __init__(self, around: Node) -> None:
        self._around = around
        self._live: dict[RoomId, Room] = {}
        self._opening: dict[RoomId, asyncio.Task[Room | Refused]] = {}
        self._deadlines: list[tuple[TimeNs, RoomId]] = []

    @property
    def live(self) -> tuple[Room, ...]:
        """The rooms in memory."""
        return tuple(self._live.values())

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
        if isinstance(ledger.match, Gathering):
            heapq.heappush(self._deadlines, (self.deadline(ledger), room))
        return kept

    def deadline(self, ledger: State) -> TimeNs:
        """When a room that is not full by then expires."""
        return TimeNs(ledger.created + self._around.limits.fill_minutes * MINUTE)

    async def create(self, opened: RoomOpened, key: CommandKey) -> Room | Refused:
        """Open a room, or find the one that the same command has opened.

        Refused: an id that opened another; too many rooms; a log that takes nothing now.
        """
        room = room_id(opened.platform, key.id)
        if room not in self._live and len(self._live) >= self._around.limits.rooms:
            return TooManyRooms(self._around.limits.rooms)
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
            case Unsure(why):
                log.error("outcome unknown", extra={"room": room, "version": 0, "why": why})
                return OutcomeUnknown()

    async def expire(self) -> None:
        """End every room that was not filled in time."""
        now = self._around.now()
        while self._deadlines and self._deadlines[0][0] <= now:
            _, room = heapq.heappop(self._deadlines)
            found = await self.find(room)
            if isinstance(found, Room) and isinstance(found.match, Gathering):
                answer = await found.administer(HOUSE, Disband(), None)
                if isinstance(answer, Accepted):
                    log.info("room expired", extra={"room": room, "version": found.version})
                else:
                    heapq.heappush(self._deadlines, (TimeNs(now + MINUTE), room))

    async def watch_stored(self, page: int = _PAGE) -> None:
        """Find the rooms that were open when the last server stopped, so that they expire though nobody asks for them."""
        now = self._around.now()
        period = Period(TimeNs(max(0, now - _WATCHED_BACK)), TimeNs(now))
        begun = {mark.room for tag in (STARTED, ENDED) async for mark in self._listed(tag, period, page)}
        async for mark in self._listed(OPENED, period, page):
            if mark.room not in begun:
                due = TimeNs(mark.time + self._around.limits.fill_minutes * MINUTE)
                heapq.heappush(self._deadlines, (due, mark.room))

    async def _listed(self, tag: Tag, period: Period, page: int) -> AsyncIterator[Mark]:
        before: Mark | None = None
        while True:
            marks = await self._around.events.listing(tag, period, page, before)
            if isinstance(marks, Unavailable):
                log.error("rooms left open by the last server are not watched", extra={"why": marks.why})
                return
            if not marks:
                return
            for mark in marks:
                yield mark
            before = marks[-1]

    def put_away(self) -> int:
        """Forget rooms that nobody has used for a while; how many. Their logs hold everything."""
        limit = monotonic() - 60 * self._around.limits.idle_minutes
        idle = [room for room in self._live.values() if not room.in_use and room.touched < limit]
        for room in idle:
            del self._live[room.id]
        return len(idle)

    def forget(self, deleted: Iterable[RoomId]) -> None:
        """Rooms whose logs were deleted are no more, and whoever still listens to one is told so."""
        for room_id in deleted:
            room = self._live.pop(room_id, None)
            if room is not None:
                room.close_all(Closing.DELETED)

    def look_after_streams(self) -> None:
        """Say that the server is there on silent streams, and show absent whoever was not heard of."""
        now, limits = monotonic(), self._around.limits
        for room in self._live.values():
            for attachment in room.attachments:
                if now - attachment.written > limits.heartbeat_seconds:
                    attachment.written = now
                    attachment.outbox.put(pb.SeatMessage(heartbeat=pb.Heartbeat(version=room.version)))
                if now - attachment.heard > limits.absent_seconds:
                    room.miss(attachment)

    def close_streams(self, why: Closing, last: pb.SeatMessage) -> None:
        """End every stream of every room."""
        for room in self._live.values():
            room.close_all(why, last)
