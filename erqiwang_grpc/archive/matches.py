"""The archive: reads matches from the store without opening their rooms."""

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
"""Most matches whose settled deals are kept in memory. Twelve deals take about 17 kB."""


@final
@dataclass(frozen=True, slots=True)
class ListedRooms:
    """A page of a list of rooms."""

    rooms: tuple[RoomSummary, ...]
    """The rooms, newest first."""
    next: Cursor | None
    """Where the next page begins; None on the last page."""


@final
@dataclass(frozen=True, slots=True)
class Recorded:
    """The record of a match, as messages."""

    message: record_pb2.MatchRecord
    """The record for a seat that played the match: without labels and reference, which only the platform is told."""
    summary: MatchSummary
    """The summary for the platform, with labels and reference."""
    read: int
    """The number of its deals that had to be read from the store now."""


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """A match up to the end of a deal, as it was read before. This much of it never changes."""

    begun: Begun
    deals: bytes
    """A `MatchRecord` with only these deals."""


@final
class Archive:
    """The matches in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[RoomId, _Kept] = OrderedDict()

    async def record(self, platform: PlatformId, room: RoomId) -> Recorded | NoSuchRecord | RoomQuarantined:
        """The record of a platform's match, with its deals that have ended.

        Refusals: `NoSuchRecord` if there is no such match, if it never began, or if it is another platform's;
        `RoomQuarantined` if its events are damaged or cannot all be read.
        """
        kept = self._kept.get(room)
        entries = await self._store.read(room, NOTHING if kept is None else kept.begun.version)
        if isinstance(entries, Damaged):
            return await self._damaged(platform, room, entries.version)
        # If there are no new entries, the match may have been deleted since it was kept.
        if not entries and (kept is None or await self._store.first(room) is None):
            self._kept.pop(room, None)
            return NoSuchRecord()
        # Reading a long match takes some ten milliseconds. On the event loop every seat would have to wait for it.
        record = await asyncio.to_thread(_told, kept, entries)
        if isinstance(record, UnreadableEntry):
            return await self._damaged(platform, room, record.version)
        recorded, summary, keep = record
        if summary.opened.platform != platform or summary.started is None:
            return NoSuchRecord()
        self._keep(room, keep)
        return recorded

    async def _damaged(self, platform: PlatformId, room: RoomId, version: Version) -> NoSuchRecord | RoomQuarantined:
        """The refusal for a room that is damaged from `version` on. Only its own platform may learn that it exists."""
        is_owner = await owner(self._store, room) == platform
        return RoomQuarantined(Version(version - 1)) if is_owner else NoSuchRecord()

    def _keep(self, room: RoomId, keep: _Kept) -> None:
        self._kept[room] = keep
        self._kept.move_to_end(room)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    async def page(self, search: Search, size: int, after: Cursor) -> ListedRooms | InvalidCursor | StoreUnavailable:
        """A page of at most `size` rooms, from their summaries. A summary that does not fit the list is rebuilt."""
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
    """The record made of what was kept and the newer entries, its summary, and what to keep from now on."""
    record = begin_record(entries) if kept is None else continue_record(kept.begun, entries)
    if isinstance(record, UnreadableEntry):
        return record
    message = record_pb2.MatchRecord() if kept is None else record_pb2.MatchRecord.FromString(kept.deals)
    message.deals.extend(encode.deal_record(deal) for deal in record.deals)
    deals = message.SerializeToString() if kept is None or record.deals else kept.deals
    message.summary.CopyFrom(encode.match_summary(record.summary))
    return Recorded(message, record.summary, len(record.deals)), record.summary, _Kept(record.begun, deals)
