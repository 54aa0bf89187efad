"""The archive: matches as a log tells of them, read without opening a room."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.archive.ownership import owner
from erqiwang_grpc.archive.records import Begun, MatchSummary, begin_record, continue_record, has_ended, match_summary
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.history import UnreadableEntry
from erqiwang_grpc.events.index import finished, played
from erqiwang_grpc.rooms.refusals import NoSuchRecord, RoomQuarantined, StoreUnavailable
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import NOTHING, Damaged, Entry, Mark, Period, RoomId, StoreReader, Tag, Unavailable, Version
from erqiwang_grpc.v1 import record_pb2

_KEPT: Final = 1_000
"""Matches whose settled deals are kept ready. Twelve deals take about 17 kB."""


@final
@dataclass(frozen=True, slots=True)
class Search:
    """Which matches of a platform are looked for."""

    platform: PlatformId
    player: str
    """Empty for all players."""
    period: Period
    """When they ended."""

    @property
    def tag(self) -> Tag:
        """Under what they are found."""
        return played(self.platform, self.player) if self.player else finished(self.platform)


@final
@dataclass(frozen=True, slots=True)
class Page:
    """Some of the matches that were looked for."""

    matches: tuple[MatchSummary, ...]
    """The last to end first."""
    last: Mark | None
    """Behind which the next page begins; None where there is none."""


@final
@dataclass(frozen=True, slots=True)
class Recorded:
    """The record of a match, as it is told."""

    message: record_pb2.MatchRecord
    """As a seat that played it may read it: without what the platform alone knows of its room."""
    summary: MatchSummary
    """What `message` begins with, whole."""
    read: int
    """How many of its deals were not kept ready, but read from the log now."""


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """What was read of a match, up to the end of a deal: it never changes."""

    begun: Begun
    deals: bytes
    """A `MatchRecord` of these deals alone."""


@final
class Archive:
    """The matches of a log."""

    def __init__(self, events: StoreReader) -> None:
        self._events = events
        self._kept: OrderedDict[RoomId, _Kept] = OrderedDict()

    async def record(self, platform: PlatformId, room: RoomId) -> Recorded | NoSuchRecord | RoomQuarantined:
        """A match of that platform, with its deals that have ended.

        Refused: one that is not there, never began or is another platform's; one whose log is damaged or not readable to
        its end.
        """
        kept = self._kept.get(room)
        entries = await self._events.read(room, NOTHING if kept is None else kept.begun.version)
        if isinstance(entries, Damaged):
            return await self._damaged(platform, room, entries.version)
        if not entries:
            # Nothing new, or nothing at all: the match may have been deleted since it was kept.
            head = await self._events.head(room)
            if isinstance(head, Damaged):
                return await self._damaged(platform, room, head.version)
            if kept is None or head == NOTHING:
                self._kept.pop(room, None)
                return NoSuchRecord()
        # A long match takes some ten milliseconds to read: on the event loop every seat would wait for it.
        record = await asyncio.to_thread(_told, kept, entries)
        if isinstance(record, UnreadableEntry):
            return await self._damaged(platform, room, record.version)
        recorded, summary, keep = record
        if summary.opened.platform != platform or summary.started is None:
            return NoSuchRecord()
        self._keep(room, keep)
        return recorded

    async def _damaged(self, platform: PlatformId, room: RoomId, version: Version) -> NoSuchRecord | RoomQuarantined:
        """The refusal for a room that is damaged from `version` on. Only its owner learns that the room exists."""
        is_owner = await owner(self._events, room) == platform
        return RoomQuarantined(Version(version - 1)) if is_owner else NoSuchRecord()

    def _keep(self, room: RoomId, keep: _Kept) -> None:
        self._kept[room] = keep
        self._kept.move_to_end(room)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    async def ended(self, room: RoomId) -> MatchSummary | None:
        """A match that has ended, found without following it; None for one that goes on or is damaged."""
        entries = await self._events.read(room)
        is_over = not isinstance(entries, Damaged) and bool(entries) and has_ended(entries)
        return _readable(entries) if is_over else None

    async def page(self, search: Search, size: int, before: Mark | None) -> Page | StoreUnavailable:
        """At most `size` matches that have ended, older than the mark `before` if one is given."""
        marks = await self._events.listing(search.tag, search.period, size, before)
        if isinstance(marks, Unavailable):
            return StoreUnavailable()
        matches = [summary async for summary in self._summaries(marks)]
        return Page(tuple(matches), marks[-1] if len(marks) == size else None)

    async def _summaries(self, marks: tuple[Mark, ...]) -> AsyncIterator[MatchSummary]:
        """The matches at those marks, without damaged ones: `record` says what is wrong with such a match."""
        for mark in marks:
            summary = _readable(await self._events.read(mark.room))
            if summary is not None:
                yield summary


def _told(kept: _Kept | None, entries: tuple[Entry, ...]) -> tuple[Recorded, MatchSummary, _Kept] | UnreadableEntry:
    """The record that the entries behind what is kept make of it, its summary, and what to keep from now on."""
    record = begin_record(entries) if kept is None else continue_record(kept.begun, entries)
    if isinstance(record, UnreadableEntry):
        return record
    message = record_pb2.MatchRecord() if kept is None else record_pb2.MatchRecord.FromString(kept.deals)
    message.deals.extend(encode.deal_record(deal) for deal in record.deals)
    deals = message.SerializeToString() if kept is None or record.deals else kept.deals
    message.summary.CopyFrom(encode.match_summary(record.summary))
    return Recorded(message, record.summary, len(record.deals)), record.summary, _Kept(record.begun, deals)


def _readable(entries: tuple[Entry, ...] | Damaged) -> MatchSummary | None:
    if isinstance(entries, Damaged) or not entries:
        return None
    summary = match_summary(entries)
    return None if isinstance(summary, UnreadableEntry) else summary
