"""The archive: reads matches from the store without opening their rooms."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_grpc.archive.ownership import owner
from erqiwang_grpc.archive.records import DealRecord, deals_since
from erqiwang_grpc.archive.summaries import Repairs
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import Monotonic
from erqiwang_grpc.events import Unreadable, summary as summaries
from erqiwang_grpc.events.history import UnreadableEntry
from erqiwang_grpc.events.summary import RoomSummary
from erqiwang_grpc.rooms.refusals import InvalidCursor, NoSuchRecord, RoomQuarantined, StoreUnavailable, WrittenByNewer
from erqiwang_grpc.store import (
    NOTHING,
    BadCursor,
    Cursor,
    Damaged,
    Entry,
    Listed,
    RoomId,
    Search,
    Store,
    TimeNs,
    Unavailable,
    Version,
)

log = logging.getLogger(__name__)

DealWriter: TypeAlias = Callable[[DealRecord], bytes]
"""Gives the bytes of one deal that has ended, as its transport sends it. The bytes of several deals, joined in order,
must be the bytes of all of them, so that a record can be made of deals that were written at different times."""

_KEPT: Final = 1_000
"""Most matches whose settled deals are kept in memory. Twelve deals take about 17 kB."""

_MOST_MENDED: Final = 20
"""Most summaries that are checked for one page of a list. Each check reads a whole room, and the caller waits for it."""


@final
@dataclass(frozen=True, slots=True)
class ListedRooms:
    """A page of a list of rooms."""

    rooms: tuple[RoomSummary, ...]
    """The rooms, newest first."""
    next: Cursor | None
    """Where the next page begins; None on the last page."""
    looked_at: int
    """How many rooms the store has looked at for the page. See `Page.looked_at`."""
    events_read: int
    """How many events were read to check rooms whose summaries do not fit the list."""


@final
@dataclass(frozen=True, slots=True)
class Recorded:
    """The record of a match."""

    summary: RoomSummary
    deals: bytes
    """The bytes of the deals that have ended, joined in order (see `DealWriter`)."""
    read: int
    """The number of these deals that had to be read from the store. The bytes of the others were in memory."""


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """The deals of a match that had ended when it was last read. They never change, so only later events are read."""

    created: TimeNs
    """When the room was created. Another room under the same id was created at another time."""
    version: Version
    """The version of the room at which the last of these deals ended."""
    deals: bytes
    """The bytes of these deals, joined in order (see `DealWriter`)."""


@final
class Archive:
    """The matches in a store: their records, and the lists of them and of rooms."""

    def __init__(self, store: Store, write_deal: DealWriter, monotonic: Monotonic) -> None:
        self._store = store
        self._repairs = Repairs(store, monotonic)
        self._write_deal = write_deal
        self._kept: OrderedDict[RoomId, _Kept] = OrderedDict()

    async def record(
        self, platform: PlatformId, room: RoomId
    ) -> Recorded | NoSuchRecord | RoomQuarantined | StoreUnavailable | WrittenByNewer:
        """The record of a platform's match, with its deals that have ended.

        Refusals: `NoSuchRecord` if there is no such room, if another platform owns it, or if its match never began;
        `RoomQuarantined` if one of its events is damaged or unreadable; `StoreUnavailable` if the store cannot be read;
        `WrittenByNewer` if this version does not understand one of them.
        """
        owned_by = await owner(self._store, room)
        if isinstance(owned_by, StoreUnavailable | WrittenByNewer):
            return owned_by
        if owned_by != platform:
            return NoSuchRecord()
        kept = await self._kept_of(room)
        summary = await self._summary(room)
        if not isinstance(summary, RoomSummary):
            return summary
        entries = await self._store.read(room, NOTHING if kept is None else kept.version)
        if isinstance(entries, Damaged):
            return RoomQuarantined(Version(entries.version - 1))
        if isinstance(entries, Unavailable):
            return StoreUnavailable()
        if summary.started is None or (kept is None and not entries):
            return NoSuchRecord()
        # The match may have gone on since the summary was read. Leave later events out, so that both agree.
        told = tuple(entry for entry in entries if entry.version <= summary.version)
        # A long match takes some ten milliseconds to read: on the event loop every seat would wait for it.
        found = await asyncio.to_thread(self._read, kept, told)
        if isinstance(found, UnreadableEntry):
            return WrittenByNewer() if found.is_newer else RoomQuarantined(Version(found.version - 1))
        deals, written = found
        if deals:
            self._keep(room, _Kept(summary.created, deals[-1].version, written))
        return Recorded(summary, written, len(deals))

    async def _summary(self, room: RoomId) -> RoomSummary | NoSuchRecord | RoomQuarantined | StoreUnavailable:
        """The summary of a room. It is rebuilt if it is damaged."""
        summary = _read_summary(await self._store.summary(room))
        if isinstance(summary, RoomQuarantined):
            await self._repairs.mend(room)
            summary = _read_summary(await self._store.summary(room))
        return summary

    def _read(
        self, kept: _Kept | None, entries: tuple[Entry, ...]
    ) -> tuple[tuple[DealRecord, ...], bytes] | UnreadableEntry:
        """The deals that ended in `entries`; and the bytes of all deals, those of `kept` first."""
        deals = deals_since(entries)
        if isinstance(deals, UnreadableEntry):
            return deals
        return deals, b"".join((b"" if kept is None else kept.deals, *map(self._write_deal, deals)))

    async def _kept_of(self, room: RoomId) -> _Kept | None:
        """What is kept of a match; None if nothing is, or if the room was deleted since and another one has its id."""
        kept = self._kept.get(room)
        if kept is None:
            return None
        first = await self._store.first(room)
        if isinstance(first, Damaged | Unavailable):
            return kept
        if first is not None and first.time == kept.created:
            return kept
        self._kept.pop(room, None)
        return None

    def _keep(self, room: RoomId, keep: _Kept) -> None:
        self._kept[room] = keep
        self._kept.move_to_end(room)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    async def page(self, search: Search, size: int, after: Cursor) -> ListedRooms | InvalidCursor | StoreUnavailable:
        """A page of at most `size` rooms, from their summaries.

        A summary that does not fit the list is rebuilt, up to 20 a page. The others are rebuilt by later calls. A room whose
        summary this version cannot read, because a newer one has written it, is left out.
        """
        page = await self._store.summaries(search, size, after)
        if isinstance(page, BadCursor):
            return InvalidCursor("page_token")
        if isinstance(page, Unavailable):
            return StoreUnavailable()
        found = [(listed.room, summaries.read(listed)) for listed in page.rooms]
        unreadable = (room for room, summary in found if isinstance(summary, Unreadable) and not summary.is_newer)
        events_read = await self._mend((*page.doubtful, *unreadable))
        rooms = tuple(summary for _, summary in found if isinstance(summary, RoomSummary))
        return ListedRooms(rooms, page.next, page.looked_at, events_read)

    async def _mend(self, contradicting: tuple[RoomId, ...]) -> int:
        """Rebuild the summaries of rooms that do not fit a list, as many as it may; gives how many events were read."""
        events_read = 0
        for room in [room for room in contradicting if not self._repairs.leaves_alone(room)][:_MOST_MENDED]:
            log.error("list contradicted", extra={"room": room})
            events_read += await self._repairs.mend(room)
        return events_read


def _read_summary(
    listed: Listed | Damaged | Unavailable | None,
) -> RoomSummary | NoSuchRecord | RoomQuarantined | StoreUnavailable:
    if listed is None:
        return NoSuchRecord()
    if isinstance(listed, Unavailable):
        return StoreUnavailable()
    summary = None if isinstance(listed, Damaged) else summaries.read(listed)
    return summary if isinstance(summary, RoomSummary) else RoomQuarantined(listed.version)
