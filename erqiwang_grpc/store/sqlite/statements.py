"""Statements: writes and reads one room. Every function needs a connection that is in a transaction.

Every row is matched by type, with a `case _` for rows of a damaged file: a flipped bit can turn a number into a text.
A `FileError` from here means that the file itself could not be read or written.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.store import batches, chain
from erqiwang_grpc.store.batches import End, Prepared
from erqiwang_grpc.store.chain import Link
from erqiwang_grpc.store.port import (
    NOTHING,
    AppendAnswer,
    Appended,
    Batch,
    Conflict,
    Damaged,
    Duplicate,
    Entry,
    Rewritten,
    RoomId,
    Summary,
    Version,
)

# The head of a room, its last batch, and whether it holds a command: all that an append must know, in one statement.
_HEAD: Final = """SELECT r.version, r.chain, r.terms, r.created_ns, r.ended_ns, b.last_version, b.chain, k.position
  FROM rooms r
  LEFT JOIN batches b ON b.position =
    (SELECT position FROM batches WHERE room = ?1 ORDER BY last_version DESC LIMIT 1)
  LEFT JOIN batches k ON k.room = ?1 AND k.actor = ?2 AND k.command = ?3
  WHERE r.room = ?1"""
_LAST: Final = """SELECT last_version, chain FROM batches
  WHERE room = ? AND last_version <= ? ORDER BY last_version DESC LIMIT 1"""
_BATCH: Final = """SELECT first_version, last_version, time_ns, actor, command, fingerprint, rules_version,
  bodies, feed, chain FROM batches"""
_TAIL: Final = f"{_BATCH} WHERE room = ? AND last_version > ? ORDER BY last_version"
_OPENING: Final = f"{_BATCH} WHERE room = ? ORDER BY last_version LIMIT 1"
_AT: Final = f"{_BATCH} WHERE position = ?"
_KNOWN: Final = """SELECT first_version, last_version, fingerprint FROM batches
  WHERE room = ? AND actor = ? AND command = ?"""
_INSERT: Final = """INSERT INTO batches (room, first_version, last_version, time_ns, actor, command, fingerprint,
  rules_version, bodies, feed, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_SET_ROOM: Final = """INSERT INTO rooms (room, version, chain, terms, created_ns, ended_ns, body, seal)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (room) DO UPDATE SET version = excluded.version, chain = excluded.chain, terms = excluded.terms,
  created_ns = excluded.created_ns, ended_ns = excluded.ended_ns, body = excluded.body, seal = excluded.seal"""
_FIND: Final = "INSERT INTO found (key, value, created_ns, room, ended_ns) VALUES (?, ?, ?, ?, ?)"
_UNFIND: Final = "DELETE FROM found WHERE room = ?"
_DELETE_BATCHES: Final = "DELETE FROM batches WHERE room = ?"
_DELETE_ROOM: Final = "DELETE FROM rooms WHERE room = ?"


@final
@dataclass(frozen=True, slots=True)
class _Head:
    version: Version
    link: Link
    found: tuple[bytes, int, int | None] | None = None
    """The terms and moments by which lists find the room; None if they do not find it yet."""
    is_known: bool = False
    """Whether the room holds the command of the batch that was asked about."""


def append(db: sqlite3.Connection, wanted: Prepared) -> AppendAnswer:
    """Write the batch if its command is new and the room is at the expected version. Otherwise write nothing."""
    head = _head(db, wanted.room, wanted.batch)
    if isinstance(head, Damaged) or head.is_known:
        known = _known(db, wanted)
        if known is not None:
            return known
    if isinstance(head, Damaged):
        return head
    if head.version != wanted.expected:
        return Conflict(head.version)
    return Appended(_write(db, head, wanted))


def read(db: sqlite3.Connection, room: RoomId, after: Version) -> tuple[Entry, ...] | Damaged:
    """See `StoreReader.read`. It checks what it reads, and that this ends at the room's head."""
    end = _head(db, room)
    if isinstance(end, Damaged):
        return end
    at = _at(db, room, after)
    entries: list[Entry] = []
    for row in _rows(db, _TAIL, room, after):
        stored = batches.stored(row)
        if stored is None or not batches.follows(at, stored):
            return Damaged(room, Version(at.version + 1), batches.BROKEN_CHAIN)
        entries += stored.entries(room)
        at = stored.end
    if (at.version, at.link) != (end.version, end.link):
        return Damaged(room, Version(at.version + 1), batches.NO_AGREEMENT)
    return tuple(entry for entry in entries if entry.version > after)


def first(db: sqlite3.Connection, room: RoomId) -> Entry | Damaged | None:
    """See `StoreReader.first`."""
    for row in _rows(db, _OPENING, room):
        stored = batches.stored(row)
        if stored is None or not batches.follows(batches.beginning(room), stored):
            return Damaged(room, Version(1), batches.BROKEN_CHAIN)
        return stored.entries(room)[0]
    return None


def entries_at(db: sqlite3.Connection, room: RoomId, position: int) -> tuple[Entry, ...] | None:
    """The entries of the batch at a position; None if its link does not follow from the batch before it."""
    for row in _rows(db, _AT, position):
        stored = batches.stored(row)
        if stored is not None and batches.follows(_at(db, room, Version(stored.first - 1)), stored):
            return stored.entries(room)
    return None


def head(db: sqlite3.Connection, room: RoomId) -> tuple[Version, Link] | Damaged:
    """The room's version and the link of its newest batch. A room that does not exist is at `NOTHING`."""
    found = _head(db, room)
    return found if isinstance(found, Damaged) else (found.version, found.link)


def summarise(
    db: sqlite3.Connection, room: RoomId, expected: Version, summary: Summary
) -> Rewritten | Conflict | Damaged:
    """See `Store.summarise`."""
    head = _head(db, room)
    if isinstance(head, Damaged):
        return head
    if head.version == NOTHING:
        db.execute(_UNFIND, (room,))
    if head.version != expected or head.version == NOTHING:
        return Conflict(head.version)
    # The room's terms may be damaged as well, so all of them are written again.
    _set_room(db, room, _Head(head.version, head.link), head.link, summary, chain.framed_terms(summary.terms))
    return Rewritten()


def _known(db: sqlite3.Connection, wanted: Prepared) -> Duplicate | Damaged | None:
    """The versions of the command's payloads; None if the command is not stored, or the batch has none."""
    room, batch = wanted.room, wanted.batch
    for row in () if batch.command is None else _rows(db, _KNOWN, room, batch.actor, batch.command.id):
        match row:
            case (int(first), int(last), bytes(fingerprint)):
                return Duplicate(Version(first), Version(last), fingerprint)
            case _:
                return Damaged(room, NOTHING, batches.BROKEN_CHAIN)
    return None


def _write(db: sqlite3.Connection, head: _Head, wanted: Prepared) -> Version:
    batch = wanted.batch
    first = Version(head.version + 1)
    last = Version(head.version + len(batch.bodies))
    link = chain.link(head.link, first, wanted.encoded)
    command, fingerprint = (None, None) if batch.command is None else (batch.command.id, batch.command.fingerprint)
    db.execute(
        _INSERT,
        (
            wanted.room,
            first,
            last,
            batch.time,
            batch.actor,
            command,
            fingerprint,
            batch.rules_version,
            wanted.bodies,
            batch.feed,
            link,
        ),
    )
    _set_room(db, wanted.room, _Head(last, head.link, head.found), link, batch.summary, wanted.terms)
    return last


def _set_room(db: sqlite3.Connection, room: RoomId, head: _Head, link: Link, summary: Summary, terms: bytes) -> None:
    """Write the room's new head and summary, and its terms if they have changed."""
    found = (terms, summary.created, summary.ended)
    db.execute(
        _SET_ROOM, (room, head.version, link, *found, summary.body, chain.seal(link, head.version, summary, terms))
    )
    if head.found != found:
        db.execute(_UNFIND, (room,))
        db.executemany(_FIND, ((term.key, term.value, summary.created, room, summary.ended) for term in summary.terms))


def delete(db: sqlite3.Connection, room: RoomId) -> None:
    """Delete a room with everything that belongs to it."""
    for statement in (_UNFIND, _DELETE_BATCHES, _DELETE_ROOM):
        db.execute(statement, (room,))


def _head(db: sqlite3.Connection, room: RoomId, batch: Batch | None = None) -> _Head | Damaged:
    """The room's head; `Damaged` if the last batch does not agree with it. A missing room is at its origin."""
    command = None if batch is None else batch.command
    asked = (None, None) if batch is None or command is None else (batch.actor, command.id)
    rows = _rows(db, _HEAD, room, *asked)
    if rows:
        # Not by `match`, which takes longer than the query. Every append comes here.
        version, link, terms, created, ended, last, last_link, known = rows[0]
        if isinstance(version, int) and isinstance(link, bytes) and last == version and last_link == link:
            return _Head(Version(version), Link(link), _found(terms, created, ended), known is not None)
    kept = _rows(db, _LAST, room, _HIGHEST)
    if rows or kept:
        return Damaged(room, _first_missing(kept), batches.NO_AGREEMENT)
    return _Head(NOTHING, chain.origin(room))


def _found(terms: object, created: object, ended: object) -> tuple[bytes, int, int | None] | None:
    """The terms and moments by which lists find the room; None if damaged, so that the next batch writes them again."""
    if isinstance(terms, bytes) and isinstance(created, int) and isinstance(ended, int | None):
        return terms, created, ended
    return None


def _first_missing(kept: list[tuple[object, ...]]) -> Version:
    match kept:
        case [(int(version), bytes())]:
            return Version(version + 1)
        case _:
            return Version(1)


def _at(db: sqlite3.Connection, room: RoomId, after: Version) -> End:
    """The end of the last batch that ends at version `after` or before."""
    for row in _rows(db, _LAST, room, after):
        match row:
            case (int(version), bytes(link)):
                return End(Version(version), Link(link))
            case _:
                break  # begin at the origin: no link of a later batch follows from it, so the reader finds the damage
    return batches.beginning(room)


def _rows(db: sqlite3.Connection, statement: str, *values: str | int | None) -> list[tuple[object, ...]]:
    return db.execute(statement, values).fetchall()


_HIGHEST: Final = 2**63 - 1
