"""What is asked of the file and put into it: functions of a connection that is in a transaction.

Every row that is read is matched by type, with a `case _` for what may come out of a damaged file: a flipped
bit can turn a number into a text.
A `FileError` from here means that the file itself could not be read or written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, TypeVar, final

from erqiwang_grpc.store import chain
from erqiwang_grpc.store.chain import Link
from erqiwang_grpc.store.port import (
    NOTHING,
    Actor,
    AppendAnswer,
    Appended,
    Batch,
    CommandId,
    CommandKey,
    Conflict,
    Damaged,
    Duplicate,
    Entry,
    Mark,
    Period,
    Position,
    RoomId,
    Tag,
    TimeNs,
    Version,
)
from erqiwang_grpc.store.sqlite import schema

K = TypeVar("K", str, int, tuple[int, int])

_NO_AGREEMENT: Final = "the last stored event is not the one its head names: restore the room from a backup"
_UNTAGGED: Final = "the table of tags does not fit the batches: some are not found, or at another place"
_BROKEN_CHAIN: Final = "the checksum does not match what is stored: restore the room from a backup"

_HEAD: Final = "SELECT version, chain FROM heads WHERE room = ?"
_LAST: Final = """SELECT last_version, chain FROM batches
  WHERE room = ? AND last_version <= ? ORDER BY last_version DESC LIMIT 1"""
_TAIL: Final = """SELECT first_version, last_version, time_ns, actor, command, fingerprint, rules_version,
  bodies, tags, chain FROM batches WHERE room = ? AND last_version > ? ORDER BY last_version"""
_OPENING: Final = """SELECT first_version, last_version, time_ns, actor, command, fingerprint, rules_version,
  bodies, tags, chain FROM batches WHERE room = ? ORDER BY last_version LIMIT 1"""
_KNOWN: Final = """SELECT first_version, last_version, fingerprint FROM batches
  WHERE room = ? AND actor = ? AND command = ?"""
_INSERT: Final = """INSERT INTO batches (room, first_version, last_version, time_ns, actor, command, fingerprint,
  rules_version, bodies, tags, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_SET_HEAD: Final = """INSERT INTO heads (room, version, chain) VALUES (?, ?, ?)
  ON CONFLICT (room) DO UPDATE SET version = excluded.version, chain = excluded.chain"""
_TAG: Final = "INSERT INTO tagged (key, value, position, time_ns) VALUES (?, ?, ?, ?)"
# Also from the batches: a room whose head is gone is a room all the same, and reading it says what is wrong.
_ROOMS: Final = """SELECT room FROM heads WHERE room > ?
  UNION SELECT room FROM batches WHERE room > ? ORDER BY room"""
_FEED: Final = """SELECT position, room, first_version, last_version, time_ns FROM batches
  WHERE position > ? ORDER BY position"""
_LATEST: Final = "SELECT ifnull(max(position), 0) FROM batches"
_TAGGED_FEED: Final = """SELECT position, room, first_version, last_version, batches.time_ns
  FROM tagged CROSS JOIN batches USING (position)
  WHERE key = ? AND value = ? AND position > ? ORDER BY position"""
# The time is the index's own, by which it is sorted: with a damaged one a page would not begin where the last one ended.
_LISTING: Final = """SELECT position, room, first_version, last_version, tagged.time_ns
  FROM tagged CROSS JOIN batches USING (position)
  WHERE key = ? AND value = ? AND tagged.time_ns >= ? AND (tagged.time_ns, position) < (?, ?)
  ORDER BY tagged.time_ns DESC, position DESC"""
_OLD_ROOMS: Final = """SELECT DISTINCT room FROM tagged CROSS JOIN batches USING (position)
  WHERE key = ? AND value = ? AND tagged.time_ns < ?"""
_TAGS: Final = "SELECT position, tags FROM batches WHERE room = ?"
_ALL_TAGS: Final = "SELECT position, time_ns, tags FROM batches"
_TAGGED_AT: Final = "SELECT time_ns FROM tagged WHERE key = ? AND value = ? AND position = ?"
_TAGGED_ROWS: Final = "SELECT count(*) FROM tagged"
_UNTAG: Final = "DELETE FROM tagged WHERE key = ? AND value = ? AND position = ?"
_DELETE_BATCHES: Final = "DELETE FROM batches WHERE room = ?"
_DELETE_HEAD: Final = "DELETE FROM heads WHERE room = ?"


@final
@dataclass(frozen=True, slots=True)
class Prepared:
    """An append with everything worked out that does not depend on what is in the file."""

    room: RoomId
    expected: Version
    batch: Batch
    encoded: bytes
    bodies: bytes
    tags: bytes


@final
@dataclass(frozen=True, slots=True)
class _Head:
    version: Version
    link: Link


@final
@dataclass(frozen=True, slots=True)
class _Stored:
    first: Version
    last: Version
    batch: Batch
    link: Link


def prepare(room: RoomId, expected: Version, batch: Batch) -> Prepared:
    """Encode an append. `ValueError` or `OverflowError` for text or numbers that cannot be stored."""
    room.encode()
    return Prepared(
        room=room,
        expected=expected,
        batch=batch,
        encoded=chain.encode(batch),
        bodies=chain.framed(batch.bodies),
        tags=chain.framed_tags(batch.tags),
    )


def append(db: sqlite3.Connection, wanted: Prepared) -> AppendAnswer:
    """Write the batch if its command is new and its expected version is the head; otherwise write nothing."""
    command = wanted.batch.command
    known = None if command is None else find(db, wanted.room, wanted.batch.actor, command.id)
    if known is not None:
        return known
    head = _head(db, wanted.room)
    if isinstance(head, Damaged):
        return head
    if head.version != wanted.expected:
        return Conflict(head.version)
    return Appended(_write(db, head, wanted))


def head(db: sqlite3.Connection, room: RoomId) -> Version | Damaged:
    """See `StoreReader.head`."""
    found = _head(db, room)
    return found if isinstance(found, Damaged) else found.version


def read(db: sqlite3.Connection, room: RoomId, after: Version) -> tuple[Entry, ...] | Damaged:
    """See `StoreReader.read`. Checks what it reads and that it ends at the head; costs what is read."""
    end = _head(db, room)
    if isinstance(end, Damaged):
        return end
    at = _at(db, room, after)
    entries: list[Entry] = []
    for row in _rows(db, _TAIL, room, after):
        stored = _stored(row)
        if stored is None or not _follows(at, stored):
            return Damaged(room, Version(at.version + 1), _BROKEN_CHAIN)
        entries += _entries(room, stored)
        at = _Head(stored.last, stored.link)
    if at != end:
        return Damaged(room, Version(at.version + 1), _NO_AGREEMENT)
    return tuple(entry for entry in entries if entry.version > after)


def first(db: sqlite3.Connection, room: RoomId) -> Entry | Damaged | None:
    """See `StoreReader.first`."""
    for row in _rows(db, _OPENING, room):
        stored = _stored(row)
        if stored is None or not _follows(_Head(NOTHING, chain.origin(room)), stored):
            return Damaged(room, Version(1), _BROKEN_CHAIN)
        return next(iter(_entries(room, stored)))
    return None


def find(db: sqlite3.Connection, room: RoomId, actor: Actor, command: CommandId) -> Duplicate | Damaged | None:
    """See `StoreReader.find`."""
    for row in _rows(db, _KNOWN, room, actor, command):
        match row:
            case (int(first), int(last), bytes(fingerprint)):
                return Duplicate(Version(first), Version(last), fingerprint)
            case _:
                return Damaged(room, NOTHING, _BROKEN_CHAIN)
    return None


def rooms(db: sqlite3.Connection, after: RoomId, limit: int) -> tuple[RoomId, ...]:
    """See `StoreReader.rooms`."""
    found = _ids(db.execute(_ROOMS, (after, after)), limit)
    _is_ascending((after, *found))
    return found


def feed(db: sqlite3.Connection, after: Position, limit: int, tag: Tag | None) -> tuple[Mark, ...]:
    """See `StoreReader.feed`."""
    rows = db.execute(_FEED, (after,)) if tag is None else db.execute(_TAGGED_FEED, (tag.key, tag.value, after))
    found = _marks(rows, limit)
    _is_ascending((after, *(mark.position for mark in found)))
    return found


def latest(db: sqlite3.Connection) -> Position:
    """See `StoreReader.latest`."""
    (position,) = db.execute(_LATEST).fetchone()
    return Position(position)


def listing(db: sqlite3.Connection, tag: Tag, period: Period, limit: int, before: Mark | None) -> tuple[Mark, ...]:
    """See `StoreReader.listing`."""
    end = (period.until, 0)  # positions start at 1
    if before is not None:
        end = min(end, (before.time, before.position))
    found = _marks(db.execute(_LISTING, (tag.key, tag.value, period.since, *end)), limit)
    _is_ascending((*((mark.time, mark.position) for mark in reversed(found)), end))
    return found


def faults(db: sqlite3.Connection) -> tuple[str, ...]:
    """What is wrong with the file beside its rooms: pages, indexes, and `tagged`, by which batches are found."""
    found = [text for (text,) in db.execute("PRAGMA integrity_check").fetchall() if isinstance(text, str)]
    return tuple(text for text in found if text != "ok") + (() if _is_tagged(db) else (_UNTAGGED,))


def _is_tagged(db: sqlite3.Connection) -> bool:
    """Whether `tagged` says exactly what the batches say of their tags: one that is not found is never told or listed."""
    number = 0
    for row in db.execute(_ALL_TAGS):
        match row:
            case (int(position), int(time), bytes(blob)):
                for tag in chain.unframed_tags(blob) or ():
                    if _rows(db, _TAGGED_AT, tag.key, tag.value, position) != [(time,)]:
                        return False
                    number += 1
            case _:
                pass  # the room itself says what is wrong when it is read
    return _rows(db, _TAGGED_ROWS) == [(number,)]


def delete_rooms(db: sqlite3.Connection, tag: Tag, before: TimeNs, limit: int) -> tuple[RoomId, ...]:
    """See `Store.delete_rooms`."""
    doomed = _ids(db.execute(_OLD_ROOMS, (tag.key, tag.value, before)), limit)
    for room in doomed:
        _delete(db, room)
    return doomed


def _write(db: sqlite3.Connection, head: _Head, wanted: Prepared) -> Version:
    batch = wanted.batch
    first = Version(head.version + 1)
    last = Version(head.version + len(batch.bodies))
    link = chain.link(head.link, first, wanted.encoded)
    command, fingerprint = (None, None) if batch.command is None else (batch.command.id, batch.command.fingerprint)
    position = db.execute(
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
            wanted.tags,
            link,
        ),
    ).lastrowid
    db.execute(_SET_HEAD, (wanted.room, last, link))
    db.executemany(_TAG, ((tag.key, tag.value, position, batch.time) for tag in batch.tags))
    return last


def _delete(db: sqlite3.Connection, room: RoomId) -> None:
    for row in _rows(db, _TAGS, room):
        match row:
            case (int(position), bytes(blob)):
                tags = chain.unframed_tags(blob) or ()  # else its index rows stay, and lead nowhere
                db.executemany(_UNTAG, ((tag.key, tag.value, position) for tag in tags))
            case _:
                pass  # likewise
    db.execute(_DELETE_BATCHES, (room,))
    db.execute(_DELETE_HEAD, (room,))


def _head(db: sqlite3.Connection, room: RoomId) -> _Head | Damaged:
    """The room's head, if the last batch is the one it names. A room that is not there is at its origin."""
    told = list(_rows(db, _HEAD, room))
    kept = list(_rows(db, _LAST, room, _HIGHEST))
    if told == kept == []:
        return _Head(NOTHING, chain.origin(room))
    match told:
        case [(int(version), bytes(link))] if told == kept:
            return _Head(Version(version), Link(link))
        case _:
            return Damaged(room, _first_missing(kept), _NO_AGREEMENT)


def _first_missing(kept: list[tuple[object, ...]]) -> Version:
    match kept:
        case [(int(version), bytes())]:
            return Version(version + 1)
        case _:
            return Version(1)


def _at(db: sqlite3.Connection, room: RoomId, after: Version) -> _Head:
    """Where the last batch ends that ends at `after` or before."""
    for row in _rows(db, _LAST, room, after):
        match row:
            case (int(version), bytes(link)):
                return _Head(Version(version), Link(link))
            case _:
                break  # no link follows from an origin in the middle: the reader will find it broken
    return _Head(NOTHING, chain.origin(room))


def _follows(at: _Head, stored: _Stored) -> bool:
    return stored.first == at.version + 1 and stored.link == chain.link(
        at.link, stored.first, chain.encode(stored.batch)
    )


def _entries(room: RoomId, stored: _Stored) -> Iterable[Entry]:
    batch = stored.batch
    for version, body in enumerate(batch.bodies, start=stored.first):
        yield Entry(
            room=room,
            version=Version(version),
            time=batch.time,
            actor=batch.actor,
            command=batch.command,
            rules_version=batch.rules_version,
            body=body,
        )


def _stored(row: tuple[object, ...]) -> _Stored | None:
    """The batch in a row of `_TAIL`, or None if there is none to be made out."""
    match row:
        case (
            int(first),
            int(last),
            int(time),
            str(actor),
            (str() | None) as command,
            (bytes() | None) as fingerprint,
            int(rules),
            bytes(bodies_blob),
            bytes(tags_blob),
            bytes(link),
        ):
            bodies, tags = chain.unframed(bodies_blob), chain.unframed_tags(tags_blob)
            if bodies is None or tags is None or last - first + 1 != len(bodies):
                return None
            try:
                batch = Batch(TimeNs(time), Actor(actor), _key(command, fingerprint), rules, bodies, tags)
            except ValueError:
                return None
            return _Stored(Version(first), Version(last), batch, Link(link))
        case _:
            return None


def _key(command: str | None, fingerprint: bytes | None) -> CommandKey | None:
    if command is None or fingerprint is None:
        return None
    return CommandKey(CommandId(command), fingerprint)


def _is_ascending(keys: Sequence[K]) -> None:
    """See that each key is above the one before. SQLite itself never looks: it follows its index wherever that leads."""
    if any(not earlier < later for earlier, later in pairwise(keys)):
        raise schema.OutOfOrderError("an index is out of order")


def _marks(rows: Iterable[tuple[object, ...]], limit: int) -> tuple[Mark, ...]:
    """The first `limit` marks. Rows are taken one by one and not limited by SQL: a damaged one must not end a page early."""
    marks: list[Mark] = []
    for row in rows:
        if len(marks) == limit:
            break
        match row:
            case (int(position), str(room), int(first), int(version), int(time)):
                marks.append(Mark(Position(position), RoomId(room), Version(first), Version(version), TimeNs(time)))
            case _:
                pass  # the room itself says what is wrong when it is read
    return tuple(marks)


def _ids(rows: Iterable[tuple[object, ...]], limit: int) -> tuple[RoomId, ...]:
    """The first `limit` ids, in order."""
    return tuple(islice((RoomId(room) for (room,) in rows if isinstance(room, str)), limit))


def _rows(db: sqlite3.Connection, statement: str, *values: str | int) -> list[tuple[object, ...]]:
    return db.execute(statement, values).fetchall()


_HIGHEST: Final = 2**63 - 1
