"""Lists: pages of rooms, of feeds, and of summaries; and the deletion of old rooms.

A feed is in the order of (xid, place). A transaction gets its number before it is committed, and one with a later number
may be committed first: ordered by number alone, a reader would pass by the earlier one for ever. So a feed gives only
batches below `pg_snapshot_xmin`, the lowest number that is still open: everything below it is committed or never will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from erqiwang_grpc.store import batches, keyset, pages
from erqiwang_grpc.store.batches import End
from erqiwang_grpc.store.chain import Link
from erqiwang_grpc.store.keyset import Place
from erqiwang_grpc.store.port import (
    START,
    BadCursor,
    Cursor,
    Entry,
    Fed,
    Moment,
    Page,
    RoomId,
    Search,
    Term,
    TimeNs,
    Version,
)
from erqiwang_grpc.store.postgres import cursors, statements
from erqiwang_grpc.store.postgres.connections import Connection
from erqiwang_grpc.store.postgres.cursors import Spot

_SPARE: Final = 21
"""Rows read beyond the page: as many as may be doubtful, and the one that shows that there is more."""

# Rooms are looked for in the batches too: if a room's head is lost, it is listed, and reading it tells what is wrong.
# A step of `kept` jumps over all batches of a room.
_ROOMS: Final = """
WITH RECURSIVE kept AS (
  (SELECT room, 1 AS number FROM batches WHERE room > $1 ORDER BY room LIMIT 1)
  UNION ALL
  SELECT (SELECT b.room FROM batches b WHERE b.room > k.room ORDER BY b.room LIMIT 1), k.number + 1
  FROM kept k WHERE k.room IS NOT NULL AND k.number < $2
)
SELECT room FROM (
  SELECT room FROM kept WHERE room IS NOT NULL
  UNION
  (SELECT room FROM rooms WHERE room > $1 ORDER BY room LIMIT $2)) listed
ORDER BY room LIMIT $2
"""
_FEED: Final = """
SELECT b.xid, b.place, b.room, b.first_version, b.last_version, b.time_ns, b.actor, b.command, b.fingerprint,
  b.rules_version, b.bodies, b.feed, b.chain, p.last_version AS before, p.chain AS before_chain
FROM batches b
LEFT JOIN LATERAL (SELECT last_version, chain FROM batches WHERE room = b.room AND last_version < b.first_version
  ORDER BY last_version DESC LIMIT 1) p ON true
WHERE b.feed = $1 AND (b.xid, b.place) > ($2, $3)
  AND b.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ORDER BY b.xid, b.place LIMIT $4
"""
# It writes something, so that it is answered when everything before it is written down too. Otherwise a server that crashes
# could give numbers below this one again: those of notifications, which are not written down at once. What is stored under
# them would stand before the cursor, and no feed would tell it.
_LATEST: Final = """SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS open,
  EXISTS (SELECT FROM batches) AS is_anything_stored, pg_logical_emit_message(true, 'erqiwang', '')"""

_ROOM: Final = "r.room, r.version, r.chain, r.terms, r.created_ns, r.ended_ns, r.body, r.seal"
# The moment is read from the index, which is sorted by it. Otherwise, with damage, pages would not follow each other.
_BY_MOMENT: Final = {
    Moment.CREATED: f"""SELECT f.created_ns, f.room, {_ROOM} FROM found f LEFT JOIN rooms r ON r.room = f.room
  WHERE f.key = $1 AND f.value = $2 AND (f.created_ns, f.room) >= ($3, $4) AND (f.created_ns, f.room) < ($5, $6)""",
    Moment.ENDED: f"""SELECT f.ended_ns, f.room, {_ROOM} FROM found f LEFT JOIN rooms r ON r.room = f.room
  WHERE f.key = $1 AND f.value = $2 AND f.ended_ns IS NOT NULL
  AND (f.ended_ns, f.room) >= ($3, $4) AND (f.ended_ns, f.room) < ($5, $6)""",
}
_LAST_SCANNED: Final = {
    Moment.CREATED: """SELECT created_ns, room FROM found WHERE key = $1 AND value = $2
  AND (created_ns, room) < ($3, $4) ORDER BY created_ns DESC, room DESC LIMIT 1 OFFSET $5""",
    Moment.ENDED: """SELECT ended_ns, room FROM found WHERE key = $1 AND value = $2 AND ended_ns IS NOT NULL
  AND (ended_ns, room) < ($3, $4) ORDER BY ended_ns DESC, room DESC LIMIT 1 OFFSET $5""",
}
_LOOKED_AT: Final = {
    Moment.CREATED: """SELECT count(*) FROM found WHERE key = $1 AND value = $2
  AND (created_ns, room) >= ($3, $4) AND (created_ns, room) < ($5, $6)""",
    Moment.ENDED: """SELECT count(*) FROM found WHERE key = $1 AND value = $2
  AND ended_ns IS NOT NULL AND (ended_ns, room) >= ($3, $4) AND (ended_ns, room) < ($5, $6)""",
}
_NEWEST: Final = {
    Moment.CREATED: " ORDER BY f.created_ns DESC, f.room DESC",
    Moment.ENDED: " ORDER BY f.ended_ns DESC, f.room DESC",
}
_OLD: Final = f"""SELECT f.ended_ns, f.room, {_ROOM} FROM found f LEFT JOIN rooms r ON r.room = f.room
  WHERE f.key = $1 AND f.value = $2 AND f.ended_ns < $3 AND (f.ended_ns, f.room) > ($4, $5)
  ORDER BY f.ended_ns, f.room LIMIT $6"""
# Only rooms that are still what they were when they were looked at. Their rows are locked in order, as for appends.
_DELETE: Final = """
WITH doomed AS MATERIALIZED (
  SELECT r.room FROM unnest($1::bytea[], $2::bytea[]) AS w (room, seal)
  JOIN rooms r ON r.room = w.room AND r.seal = w.seal ORDER BY r.room FOR UPDATE OF r
), unfound AS (DELETE FROM found f USING doomed d WHERE f.room = d.room
), gone AS (DELETE FROM batches b USING doomed d WHERE b.room = d.room
), headless AS (DELETE FROM rooms r USING doomed d WHERE r.room = d.room
)
SELECT room FROM doomed
"""
_LOWEST: Final = -(2**63)
_LEADS_NOWHERE: Final = """SELECT EXISTS (SELECT FROM found f
  WHERE NOT EXISTS (SELECT FROM rooms r WHERE r.room = f.room))"""
_LEADS_NOWHERE_SAID: Final = "lists lead to rooms that are not there: a list that meets one takes that away"


async def rooms(db: Connection, after: RoomId, limit: int) -> tuple[RoomId, ...]:
    """See `StoreReader.rooms`."""
    rows = await db.fetch(_ROOMS, after.encode(), limit)
    found = tuple(RoomId(room) for row in rows for room in statements.texts(row, 0) if isinstance(room, str))
    pages.ascending((after, *found))
    return found


async def feed(db: Connection, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor:
    """See `StoreReader.feed`."""
    last = cursors.spot(after)
    if last is None:
        return BadCursor()
    found: list[Fed] = []
    while len(found) < limit:
        wanted = limit - len(found)
        rows = await db.fetch(_FEED, feed.encode(), *last, wanted)
        for xid, place, room, *row in rows:
            spot: Spot = (xid, place)
            pages.ascending((last, spot))
            last = spot
            entries = _entries(room, row)
            if entries is not None:  # otherwise skip it: reading its room tells what is wrong
                found.append(Fed(_before(last), cursors.after(last), entries))
        if len(rows) < wanted:
            break
    return tuple(found)


def _before(spot: Spot) -> Cursor:
    xid, place = spot
    return cursors.after((xid, place - 1))


def _entries(room: bytes, row: Sequence[object]) -> tuple[Entry, ...] | None:
    """The entries of a batch; None if its link does not follow from the batch before it."""
    *batch, before, before_chain = row
    (name,) = statements.texts((room,), 0)
    stored = batches.stored(statements.texts(batch))
    if stored is None or not isinstance(name, str):
        return None
    at = batches.beginning(RoomId(name))
    if isinstance(before, int) and isinstance(before_chain, bytes):
        at = End(Version(before), Link(before_chain))
    return stored.entries(RoomId(name)) if batches.follows(at, stored) else None


async def latest(db: Connection) -> Cursor:
    """See `StoreReader.latest`. The cursor may be given once this write was answered."""
    row = await db.fetchrow(_LATEST)
    assert row is not None, "the statement gives one row"
    return cursors.after((row["open"], 0)) if row["is_anything_stored"] else START


async def summaries(db: Connection, search: Search, limit: int, after: Cursor) -> Page | BadCursor:
    """See `StoreReader.summaries`."""
    span = keyset.span(search.period, after)
    if isinstance(span, BadCursor):
        return span
    start, end = span
    first, *others = search.terms
    named = (first.key.encode(), first.value.encode())
    floor = max(start, await _last_scanned(db, search, end)) if others else start
    too = "".join(
        f""" AND EXISTS (SELECT FROM found too WHERE too.key = ${number} AND too.value = ${number + 1}
  AND too.created_ns = f.created_ns AND too.room = f.room)"""
        for number in range(8, 8 + 2 * len(others), 2)
    )
    statement = f"{_BY_MOMENT[search.moment]}{too}{_NEWEST[search.moment]} LIMIT $7"
    values = (*named, *_bound(floor), *_bound(end), limit + _SPARE)
    rows = await db.fetch(statement, *values, *(text.encode() for term in others for text in (term.key, term.value)))
    found = tuple(pages.candidates(statements.texts(row, 1, 2) for row in rows))
    page = pages.page(found, search, end, limit)
    if not others:
        return replace(page, looked_at=len(rows))
    lowest = _bound(floor) if len(rows) < limit + _SPARE else (rows[-1][0], rows[-1][1])
    looked_at = await db.fetchval(_LOOKED_AT[search.moment], *named, *lowest, *_bound(end))
    goes_on = page.next is None and floor > start
    return replace(page, looked_at=looked_at, next=keyset.behind(floor) if goes_on else page.next)


async def _last_scanned(db: Connection, search: Search, end: Place) -> Place:
    """The place of the last room that a page may look at; the earliest place if it may look at all that are left."""
    term = search.terms[0]
    values = (term.key.encode(), term.value.encode(), *_bound(end), pages.MOST_SCANNED - 1)
    row = await db.fetchrow(_LAST_SCANNED[search.moment], *values)
    if row is None:
        return pages.EARLIEST
    (name,) = statements.texts((row[1],), 0)
    return (TimeNs(row[0]), RoomId(name)) if isinstance(name, str) else pages.EARLIEST


def _bound(place: Place) -> tuple[int, bytes]:
    """A place as the statements take it."""
    time, room = place
    return time, room.encode()


async def delete_rooms(db: Connection, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...]:
    """See `Store.delete_rooms`."""
    deleted: list[RoomId] = []
    last: tuple[int, bytes] = (_LOWEST, b"")
    while len(deleted) < limit:
        wanted = limit - len(deleted)
        rows = await db.fetch(_OLD, term.key.encode(), term.value.encode(), before, *last, wanted)
        candidates = pages.candidates(statements.texts(row, 1, 2) for row in rows)
        old = [each.place[1].encode() for each in candidates if pages.is_old(each, term, before)]
        seals = {row["room"]: row["seal"] for row in rows}
        gone = {row["room"] for row in await db.fetch(_DELETE, old, [seals[room] for room in old])} if old else set()
        deleted += (RoomId(room.decode()) for room in old if room in gone)
        if len(rows) < wanted:
            break
        last = (rows[-1][0], rows[-1][1])
    return tuple(deleted)


async def faults(db: Connection) -> tuple[str, ...]:
    """The faults outside of rooms: in what lists find them by."""
    return (_LEADS_NOWHERE_SAID,) if await db.fetchval(_LEADS_NOWHERE) else ()
