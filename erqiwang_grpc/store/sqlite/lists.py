"""Lists: pages of rooms, of feeds, and of summaries.

Every row is matched by type, as in `statements`. SQLite trusts its indexes, even damaged ones. So each page is checked
to be in order: with a damaged index a page might come before the last one, and a loop over pages would never end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from erqiwang_grpc.store import keyset, pages
from erqiwang_grpc.store.keyset import Place
from erqiwang_grpc.store.pages import Candidate
from erqiwang_grpc.store.port import (
    NOTHING,
    BadCursor,
    Cursor,
    Damaged,
    Fed,
    Listed,
    Moment,
    Page,
    RoomId,
    Search,
    Term,
    TimeNs,
)
from erqiwang_grpc.store.sqlite import statements

_UNFOUND: Final = "the table of terms does not fit the rooms: lists leave some out, or hold them at another place"
_UNSEALED: Final = "a room's summary fails its checksum"
_UNORDERED: Final = "batches stand at positions they were not given: feeds tell them at another place"

# Each table may name a room that the others have lost. It is listed, and reading it tells what is wrong.
_ROOMS: Final = """SELECT room FROM rooms WHERE room > ?1
  UNION SELECT room FROM batches WHERE room > ?1 UNION SELECT room FROM found WHERE room > ?1 ORDER BY room"""
_FEED: Final = "SELECT position, room FROM batches WHERE feed = ? AND position > ? ORDER BY position"
_LATEST: Final = "SELECT seq FROM sqlite_sequence WHERE name = 'batches'"
_SUMMARY: Final = "SELECT room, version, chain, terms, created_ns, ended_ns, body, seal FROM rooms WHERE room = ?"
_ALL: Final = "SELECT room, version, chain, terms, created_ns, ended_ns, body, seal FROM rooms"
_FOUND_OF: Final = "SELECT key, value, created_ns, ended_ns FROM found WHERE room = ? ORDER BY key, value"
_FOUND_ROWS: Final = "SELECT count(*) FROM found"
_BACKWARDS: Final = """SELECT count(*) FROM (
  SELECT position - lag(position) OVER (PARTITION BY room ORDER BY last_version) AS step FROM batches) WHERE step < 1"""
_BEYOND: Final = """SELECT count(*) FROM batches
  WHERE position > (SELECT seq FROM sqlite_sequence WHERE name = 'batches')"""
# The moment is read from the index, which is sorted by it. Otherwise, with damage, pages would not follow each other.
_BY_MOMENT: Final = {
    Moment.CREATED: """SELECT found.created_ns, found.room, rooms.* FROM found LEFT JOIN rooms USING (room)
  WHERE key = ? AND value = ? AND (found.created_ns, found.room) >= (?, ?) AND (found.created_ns, found.room) < (?, ?)""",
    Moment.ENDED: """SELECT found.ended_ns, found.room, rooms.* FROM found LEFT JOIN rooms USING (room)
  WHERE key = ? AND value = ? AND found.ended_ns IS NOT NULL
  AND (found.ended_ns, found.room) >= (?, ?) AND (found.ended_ns, found.room) < (?, ?)""",
}
_LAST_SCANNED: Final = {
    Moment.CREATED: """SELECT created_ns, room FROM found WHERE key = ? AND value = ? AND (created_ns, room) < (?, ?)
  ORDER BY created_ns DESC, room DESC LIMIT 1 OFFSET ?""",
    Moment.ENDED: """SELECT ended_ns, room FROM found
  WHERE key = ? AND value = ? AND ended_ns IS NOT NULL AND (ended_ns, room) < (?, ?)
  ORDER BY ended_ns DESC, room DESC LIMIT 1 OFFSET ?""",
}
_LOOKED_AT: Final = {
    Moment.CREATED: """SELECT count(*) FROM found WHERE key = ? AND value = ?
  AND (created_ns, room) >= (?, ?) AND (created_ns, room) < (?, ?)""",
    Moment.ENDED: """SELECT count(*) FROM found WHERE key = ? AND value = ? AND ended_ns IS NOT NULL
  AND (ended_ns, room) >= (?, ?) AND (ended_ns, room) < (?, ?)""",
}
_TOO: Final = """ AND EXISTS (SELECT 1 FROM found AS too
  WHERE too.key = ? AND too.value = ? AND too.created_ns = found.created_ns AND too.room = found.room)"""
_NEWEST: Final = {
    Moment.CREATED: " ORDER BY found.created_ns DESC, found.room DESC",
    Moment.ENDED: " ORDER BY found.ended_ns DESC, found.room DESC",
}
_OLD: Final = """SELECT found.ended_ns, found.room, rooms.* FROM found LEFT JOIN rooms USING (room)
  WHERE key = ? AND value = ? AND found.ended_ns < ? ORDER BY found.ended_ns"""


def rooms(db: sqlite3.Connection, after: RoomId, limit: int) -> tuple[RoomId, ...]:
    """See `StoreReader.rooms`."""
    rows = db.execute(_ROOMS, (after,))
    found = tuple(islice((RoomId(room) for (room,) in rows if isinstance(room, str)), limit))
    pages.ascending((after, *found))
    return found


def feed(db: sqlite3.Connection, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor:
    """See `StoreReader.feed`."""
    position = keyset.position(after)
    if position is None:
        return BadCursor()
    return tuple(islice(_fed(db, db.execute(_FEED, (feed, position)), position), limit))


def _fed(db: sqlite3.Connection, rows: Iterable[tuple[object, ...]], last: int) -> Iterator[Fed]:
    """The batches that pass their checks. Rows are read one by one, because a damaged one must not end a page early."""
    for row in rows:
        match row:
            case (int(position), str(room)):
                pages.ascending((last, position))
                last = position
                entries = statements.entries_at(db, RoomId(room), position)
                if entries is not None:
                    yield Fed(keyset.after(position - 1), keyset.after(position), entries)
            case _:
                pass  # skip it: reading its room tells what is wrong


def latest(db: sqlite3.Connection) -> Cursor:
    """See `StoreReader.latest`."""
    for row in db.execute(_LATEST):
        match row:
            case (int(position),):
                return keyset.after(position)
            case _:
                raise pages.OutOfOrderError("the last position cannot be read")
    return keyset.after(0)


def summary(db: sqlite3.Connection, room: RoomId) -> Listed | Damaged | None:
    """See `StoreReader.summary`."""
    head = statements.head(db, room)
    if isinstance(head, Damaged):
        return head
    if head[0] == NOTHING:
        return None
    for row in db.execute(_SUMMARY, (room,)):
        listed = pages.listed(row)
        if listed is not None:
            is_found = _found_of(db, room) == pages.found_by(listed.summary)
            return listed if is_found else Damaged(room, head[0], pages.NOT_FOUND)
    return Damaged(room, head[0], pages.BROKEN_SEAL)


def summaries(db: sqlite3.Connection, search: Search, limit: int, after: Cursor) -> Page | BadCursor:
    """See `StoreReader.summaries`."""
    span = keyset.span(search.period, after)
    if isinstance(span, BadCursor):
        return span
    start, end = span
    first, *others = search.terms
    floor = max(start, _last_scanned(db, search, end)) if others else start
    statement = _BY_MOMENT[search.moment] + _TOO * len(others) + _NEWEST[search.moment]
    values = (first.key, first.value, *floor, *end, *(text for t in others for text in (t.key, t.value)))
    taken = [end]
    candidates = _noted(pages.candidates(db.execute(statement, values)), taken)
    page = pages.page(candidates, search, end, limit)
    if others:
        page = replace(page, looked_at=_looked_at(db, search, floor if page.next is None else taken[-1], end))
    goes_on = page.next is None and floor > start
    return replace(page, next=keyset.behind(floor)) if goes_on else page


def _noted(candidates: Iterable[Candidate], taken: list[Place]) -> Iterator[Candidate]:
    """The candidates. The place of each one that is taken is added to `taken`."""
    for each in candidates:
        taken.append(each.place)
        yield each


def _looked_at(db: sqlite3.Connection, search: Search, start: Place, end: Place) -> int:
    """How many rooms with the first term stand from `start` up to but not including `end`: the others lack a term."""
    term = search.terms[0]
    (rooms,) = db.execute(_LOOKED_AT[search.moment], (term.key, term.value, *start, *end)).fetchone()
    return int(rooms)


def _last_scanned(db: sqlite3.Connection, search: Search, end: Place) -> Place:
    """The place of the last room that a page may look at; the earliest place if it may look at all that are left."""
    term = search.terms[0]
    values = (term.key, term.value, *end, pages.MOST_SCANNED - 1)
    match db.execute(_LAST_SCANNED[search.moment], values).fetchone():
        case (int(time), str(room)):
            return TimeNs(time), RoomId(room)
        case _:
            return pages.EARLIEST


def delete_rooms(db: sqlite3.Connection, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...]:
    """See `Store.delete_rooms`."""
    candidates = pages.candidates(db.execute(_OLD, (term.key, term.value, before)))
    doomed = tuple(islice((each.place[1] for each in candidates if pages.is_old(each, term, before)), limit))
    for room in doomed:
        statements.delete(db, room)
    return doomed


def faults(db: sqlite3.Connection) -> tuple[str, ...]:
    """The faults of the file outside its rooms' events: in pages, indexes, summaries, and the table of terms."""
    found = [text for (text,) in db.execute("PRAGMA integrity_check").fetchall() if isinstance(text, str)]
    unordered = any(db.execute(statement).fetchone() != (0,) for statement in (_BACKWARDS, _BEYOND))
    return (*(text for text in found if text != "ok"), *((_UNORDERED,) * unordered), *_faults_of_lists(db))


def _faults_of_lists(db: sqlite3.Connection) -> tuple[str, ...]:
    """The faults of summaries whose seal is wrong, and of a table of terms that does not agree with them."""
    terms = 0
    unsealed = unfound = False
    for row in db.execute(_ALL):
        listed = pages.listed(row)
        if listed is None:
            unsealed = True
            continue
        terms += len(listed.summary.terms)
        unfound = unfound or _found_of(db, listed.room) != pages.found_by(listed.summary)
    unfound = unfound or (not unsealed and db.execute(_FOUND_ROWS).fetchone() != (terms,))
    return (_UNSEALED,) * unsealed + (_UNFOUND,) * unfound


def _found_of(db: sqlite3.Connection, room: RoomId) -> list[tuple[object, ...]]:
    return db.execute(_FOUND_OF, (room,)).fetchall()
