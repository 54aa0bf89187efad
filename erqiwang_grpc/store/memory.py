"""A store in memory: for tests, and for a server that may forget. It is never damaged."""

from __future__ import annotations

import bisect
import secrets
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from typing import final

from erqiwang_grpc.store import keyset
from erqiwang_grpc.store.keyset import Place
from erqiwang_grpc.store.port import (
    NOTHING,
    START,
    Actor,
    AppendAnswer,
    Appended,
    BadCursor,
    Batch,
    CommandId,
    Conflict,
    Cursor,
    Damaged,
    Duplicate,
    Entry,
    Fed,
    Listed,
    Moment,
    Page,
    Rewritten,
    RoomId,
    Search,
    StoreId,
    Summary,
    Term,
    TimeNs,
    Unavailable,
    Version,
)


@final
@dataclass(frozen=True, slots=True)
class _Placed:
    position: int
    room: RoomId
    first: Version
    last: Version
    batch: Batch

    def entries(self) -> tuple[Entry, ...]:
        return self.batch.entries(self.room, self.first)


@final
class MemoryStore:
    """`Store` in memory. A list looks at every room, so it is not meant for many rooms."""

    def __init__(self, *, shared: bool = False) -> None:
        """Set `shared` if several nodes in this process serve the same rooms."""
        self.shared = shared
        self._batches: list[_Placed] = []
        self._rooms: dict[RoomId, list[_Placed]] = {}
        self._summaries: dict[RoomId, Summary] = {}
        self._known: dict[tuple[RoomId, Actor, CommandId], Duplicate] = {}
        self._last = 0
        self._closed = False
        self._identity = StoreId(secrets.token_hex(8))

    @property
    def identity(self) -> StoreId:
        """A new identity for each store in memory, since it never has the content of an earlier one."""
        return self._identity

    @property
    def outage(self) -> str | None:
        """None: memory is always there."""
        return None

    @property
    def keeps_house(self) -> bool:
        """True: work that is done twice for one room is refused the second time."""
        return True

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        """Append `batch` after version `expected` of the room. See `Store.append`."""
        if self._closed:
            return Unavailable("this store is closed: open it again")
        known = None if batch.command is None else self._known.get((room, batch.actor, batch.command.id))
        if known is not None:
            return known
        head = self._head(room)
        if head != expected:
            return Conflict(head)
        return Appended(self._place(room, head, batch))

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...]:
        """The entries of the room with versions above `after`."""
        return tuple(
            entry
            for placed in self._rooms.get(room, ())
            if placed.last > after
            for entry in placed.entries()
            if entry.version > after
        )

    async def first(self, room: RoomId) -> Entry | None:
        """The first entry of the room; None if there is no such room."""
        placed = self._rooms.get(room)
        return placed[0].entries()[0] if placed else None

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...]:
        """The next rooms in order of id, at most `limit`."""
        return tuple(nsmallest(limit, (room for room in self._rooms if room > after)))

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor:
        """The next batches of a feed in commit order, at most `limit`. See `StoreReader.feed`."""
        position = keyset.position(after)
        if position is None:
            return BadCursor()
        start = bisect.bisect_right(self._batches, position, key=lambda placed: placed.position)
        later = (placed for placed in self._batches[start:] if placed.batch.feed == feed)
        return tuple(
            Fed(keyset.after(placed.position - 1), keyset.after(placed.position), placed.entries())
            for placed, _ in zip(later, range(limit), strict=False)
        )

    async def latest(self) -> Cursor:
        """The cursor after everything that is stored by now."""
        return keyset.after(self._last)

    async def summary(self, room: RoomId) -> Listed | None:
        """The room's summary; None if there is no such room."""
        return self._listed(room) if room in self._rooms else None

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor:
        """A page of a list, at most `limit` rooms, newest first. See `StoreReader.summaries`."""
        span = keyset.span(search.period, after)
        if isinstance(span, BadCursor):
            return span
        found = nlargest(limit + 1, self._found(search, search.terms, *span))
        rooms = tuple(self._listed(room) for _, room in found[:limit])
        is_last = len(found) <= limit
        # As the engines on disk look at them: those with the first term, from the newest on.
        first = self._found(search, search.terms[:1], *span)
        looked_at = sum(is_last or place >= found[limit] for place in first)
        return Page(rooms, None if is_last else keyset.behind(found[limit - 1]), (), looked_at)

    def _found(self, search: Search, terms: tuple[Term, ...], start: Place, end: Place) -> list[Place]:
        wanted = set(terms)
        places = (
            (time, room)
            for room, summary in self._summaries.items()
            if (time := _moment(summary, search.moment)) is not None and wanted.issubset(summary.terms)
        )
        return [place for place in places if start <= place < end]

    async def summarise(self, room: RoomId, expected: Version, summary: Summary) -> Rewritten | Conflict | Damaged:
        """Replace the room's summary. See `Store.summarise`."""
        if self._head(room) != expected or room not in self._rooms:
            return Conflict(self._head(room))
        self._summaries[room] = summary
        return Rewritten()

    async def delete_rooms(self, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...]:
        """Delete at most `limit` rooms. See `Store.delete_rooms`."""
        old = (
            (summary.ended, room)
            for room, summary in self._summaries.items()
            if term in summary.terms and summary.ended is not None and summary.ended < before
        )
        doomed = tuple(room for _, room in nsmallest(limit, old))
        for room in doomed:
            del self._rooms[room]
            del self._summaries[room]
        gone = set(doomed)
        self._batches = [placed for placed in self._batches if placed.room not in gone]
        self._known = {key: known for key, known in self._known.items() if key[0] not in gone}
        return doomed

    async def close(self) -> None:
        """Close the store. Later appends are `Unavailable`."""
        self._closed = True

    def _head(self, room: RoomId) -> Version:
        placed = self._rooms.get(room)
        return placed[-1].last if placed else NOTHING

    def _listed(self, room: RoomId) -> Listed:
        return Listed(room, self._head(room), self._summaries[room])

    def _place(self, room: RoomId, head: Version, batch: Batch) -> Version:
        self._last += 1
        first, last = Version(head + 1), Version(head + len(batch.bodies))
        placed = _Placed(self._last, room, first, last, batch)
        self._batches.append(placed)
        self._rooms.setdefault(room, []).append(placed)
        self._summaries[room] = batch.summary
        if batch.command is not None:
            self._known[room, batch.actor, batch.command.id] = Duplicate(first, last, batch.command.fingerprint)
        return last


def _moment(summary: Summary, moment: Moment) -> TimeNs | None:
    match moment:
        case Moment.CREATED:
            return summary.created
        case Moment.ENDED:
            return summary.ended
