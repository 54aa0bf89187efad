"""Housekeeping: disband rooms that nobody fills, send heartbeats, show absent seats, drop idle rooms from memory."""

import logging
from collections.abc import AsyncIterator
from itertools import islice
from typing import Final, final

from erqiwang_core.match import Disband, DisbandReason, Gathering, Outside

from erqiwang_grpc.events.actor import HOUSE
from erqiwang_grpc.events.index import WAITING
from erqiwang_grpc.rooms.command import Accepted, HouseAsks
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.refusals import NoSuchRoom
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.store import START, BadCursor, Cursor, Moment, Page, Period, Search, TimeNs

log = logging.getLogger(__name__)

_EXPIRED: Final = Disband(Outside.HOUSE, DisbandReason.EXPIRED)
_PAGE: Final = 500
_WATCHED_BACK: Final = 7 * 24 * 60 * MINUTE
"""How far back a starting server looks for rooms that were never filled."""
_UNREADABLE_MINUTES: Final = 10
"""How long a room that cannot be read is left alone before it is tried again."""
_EXPIRED_AT_ONCE: Final = 100
"""Most rooms that one tick expires: about a second. After a long stop thousands may be due, and streams need heartbeats."""
_POLL_TICKS: Final = 5
"""The number of ticks between two looks for events that other nodes have appended."""
_DUE_TICKS: Final = 10
"""The number of ticks between two looks for rooms of other nodes that are due to expire."""


@final
class Housekeeping:
    """The regular work for all rooms of a node."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._node = rooms.node
        self._ticks = 0

    async def tick(self) -> None:
        """Do the regular work once. Call it about once a second."""
        self._ticks += 1
        self.look_after_streams()
        self._rooms.look_after_neighbours()
        if self._ticks % _POLL_TICKS == 0:
            self._rooms.poll()
        if self._node.store.shared and self._node.store.keeps_house and self._ticks % _DUE_TICKS == 0:
            await self.watch_due()
        await self.expire()
        self._rooms.put_away()

    def look_after_streams(self) -> None:
        """Send heartbeats on silent streams, and show each seat as absent whose client was silent for too long."""
        limits = self._node.limits
        for room in self._rooms.live:
            room.audience.look_after(limits.heartbeat_seconds, limits.absent_seconds)

    async def expire(self) -> None:
        """Disband rooms that were not filled in time, in memory or not. If that fails, try again in a minute.

        The earliest hundred that are due are disbanded now, and the others by later calls. Where another node keeps house,
        that one disbands them, and this one looks again in a minute whether it has.
        """
        now = self._node.now()
        keeps_house = self._node.store.keeps_house
        for room in islice(self._rooms.deadlines.due(now), _EXPIRED_AT_ONCE):
            found = await self._rooms.find(room)
            if not isinstance(found, Room | NoSuchRoom):
                # It cannot be read now. What is mended by then ends after all.
                self._rooms.deadlines.add(room, TimeNs(now + _UNREADABLE_MINUTES * MINUTE))
            if isinstance(found, Room) and isinstance(found.match, Gathering):
                answer = await found.carry_out(HouseAsks(HOUSE, _EXPIRED)) if keeps_house else None
                if isinstance(answer, Accepted):
                    log.info("room expired", extra={"room": room, "version": found.version})
                else:
                    self._rooms.deadlines.add(room, TimeNs(now + MINUTE))

    async def watch_stored(self, page: int = _PAGE) -> None:
        """Find the rooms that an earlier run left waiting, so that they expire even if nobody asks for them."""
        await self._watch(self._node.now(), page)

    async def watch_due(self, page: int = _PAGE) -> None:
        """Find the rooms that should have expired by now, on all nodes."""
        await self._watch(TimeNs(self._node.now() - self._node.limits.fill_minutes * MINUTE), page)

    async def _watch(self, until: TimeNs, page: int) -> None:
        """Note the deadlines of the rooms that wait for their seats and were created before `until`."""
        since = TimeNs(max(0, self._node.now() - _WATCHED_BACK))
        search = Search((WAITING,), Moment.CREATED, Period(since, until))
        async for found in self._pages(search, page):
            for listed in found.rooms:
                self._rooms.deadlines.add(listed.room, self._rooms.deadline(listed.summary.created))
            for room in found.doubtful:
                # Its events say when it was opened, and whether it still waits.
                await self._rooms.find(room)

    async def _pages(self, search: Search, page: int) -> AsyncIterator[Page]:
        after: Cursor | None = START
        while after is not None:
            found = await self._node.store.summaries(search, page, after)
            if not isinstance(found, Page):
                why = "its own cursor is refused" if isinstance(found, BadCursor) else found.why
                log.error("rooms left open by the last server are not watched", extra={"why": why})
                return
            yield found
            after = found.next
