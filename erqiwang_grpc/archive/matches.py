"""The archive: matches as the store tells of them, read without opening a room."""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.archive.ownership import owner
from erqiwang_grpc.archive.records import Begun, MatchSummary, begin_record, continue_record
from erqiwang_grpc.archive.summaries import mended
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events import Unreadable, summary as summaries
from erqiwang_grpc.events.history import UnreadableEntry
from erqiwang_grpc.events.summary import RoomSummary
from erqiwang_grpc.rooms.refusals import InvalidCursor, NoSuchRecord, RoomQuarantined, StoreUnavailable
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import (
    NOTHING,
    BadCursor,
    Cursor,
    Damaged,
    Entry,
    RoomId,
    Search,
    Store,
    Unavailable,
    Version,
)
from erqiwang_grpc.v1 import record_pb2

log = logging.getLogger(__name__)

_KEPT: Final = 1_000
"""Matches whose settled deals are kept ready. Twelve deals take about 17 kB."""


@final
@dataclass(frozen=True, slots=True)
class ListedRooms:
    """Some of the rooms that were looked for."""

    rooms: tuple[RoomSummary, ...]
    """The newest first."""
    next: Cursor | None
    """Where the next page begins; None where there is none."""


@final
@dataclass(frozen=True, slots=True)
class Recorded:
    """The record of a match, as it is told."""

    message: record_pb2.MatchRecord
    """As a seat that played it may read it: without what the platform alone knows of its room."""
    summary: MatchSummary
    """What `message` begins with, whole."""
    read: int
    """How many of its deals were not kept ready, but read from the store now."""


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """What was read of a match, up to the end of a deal: it never changes."""

    begun: Begun
    deals: bytes
    """A `MatchRecord` of these deals alone."""


@final
class Archive:
    """The matches of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[RoomId, _Kept] = OrderedDict()

    async def record(self, platform: PlatformId, room: RoomId) -> Recorded | NoSuchRecord | RoomQuarantined:
        """A match of that platform, with its deals that have ended.

        Refused: one that is not there, never began or is another platform's; one whose events are damaged or not readable to
        its end.
        """
        kept = await self._kept_of(room)
        entries = await self._store.read(room, NOTHING if kept is None else kept.begun.version)
        if isinstance(entries, Damaged):
            return await self._damaged(platform, room, entries.version)
        if not entries and kept is None:
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
        is_owner = await owner(self._store, room) == platform
        return RoomQuarantined(Version(version - 1)) if is_owner else NoSuchRecord()

    async def _kept_of(self, room: RoomId) -> _Kept | None:
        """What is kept of a match. It may have been deleted since, and another room opened under its id."""
        kept = self._kept.get(room)
        if kept is None:
            return None
        first = await self._store.first(room)
        if isinstance(first, Damaged) or (first is not None and first.time == kept.begun.summary.created):
            return kept
        self._kept.pop(room, None)
        return None

    def _keep(self, room: RoomId, keep: _Kept) -> None:
        self._kept[room] = keep
        self._kept.move_to_end(room)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    async def page(self, search: Search, size: int, after: Cursor) -> ListedRooms | InvalidCursor | StoreUnavailable:
        """At most `size` rooms of a list, from their summaries alone. A list that is contradicted is mended."""
        page = await self._store.summaries(search, size, after)
        if isinstance(page, BadCursor):
            return InvalidCursor("page_token")
        if isinstance(page, Unavailable):
            return StoreUnavailable()
        found = [(listed.room, summaries.read(listed)) for listed in page.rooms]
        for room in (*page.doubtful, *(room for room, summary in found if isinstance(summary, Unreadable))):
            log.error("list contradicted", extra={"room": room})
            await mended(self._store, room, anyway=True)
        return ListedRooms(tuple(summary for _, summary in found if isinstance(summary, RoomSummary)), page.next)


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
