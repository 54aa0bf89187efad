"""Statements: writes and reads one room, or in one statement a group of rooms.

Each is one statement, so that it sees the database at one moment and needs no transaction of its own: a node that stops
between two statements would hold up the feeds of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, final

import asyncpg

from erqiwang_grpc.store import batches, chain, pages
from erqiwang_grpc.store.batches import End, Prepared
from erqiwang_grpc.store.chain import Link
from erqiwang_grpc.store.port import (
    NOTHING,
    Conflict,
    Damaged,
    Duplicate,
    Entry,
    Listed,
    Rewritten,
    RoomId,
    Summary,
    Version,
)
from erqiwang_grpc.store.postgres import standby
from erqiwang_grpc.store.postgres.connections import Connection
from erqiwang_grpc.store.postgres.standby import Seen
from erqiwang_grpc.store.rows import decoded, text

# A group of appends, of one room at most one. What is stored is what `linked` holds: the rooms that are at the expected
# version. Their rows are locked in the order of their ids, since two nodes that lock in different orders would wait for
# each other for ever.
#
# Whoever waited for a lock sees the row as it is now, and everything else as it was when the statement began. `seen`
# holds the two against each other. A room that another node has just written is left out, and looked at once more.
#
# No two of these parts are joined with each other: each would be read once for every row of the other.
_APPEND: Final = f"""
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[],
    $8::bigint[], $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[], $14::text[], $15::bigint[],
    $16::bigint[], $17::bytea[], $18::bytea[]) WITH ORDINALITY
  AS w (room, expected, last_version, time_ns, actor, command, fingerprint, rules_version, bodies, feed, encoded, origin,
    terms, found_by, created_ns, ended_ns, body, summary, place)
), heads AS MATERIALIZED (
  SELECT w.*, r.version AS head, r.chain AS head_chain, r.seal AS head_seal,
    (r.terms, r.created_ns, r.ended_ns) IS DISTINCT FROM (w.terms, w.created_ns, w.ended_ns) AS is_found_anew
  FROM wanted w JOIN rooms r ON r.room = w.room WHERE w.expected > 0 ORDER BY w.room FOR NO KEY UPDATE OF r
), linked AS MATERIALIZED (
  SELECT h.*, sha256(h.head_chain || int8send(h.expected + 1) || h.encoded) AS chain
  FROM heads h
  WHERE h.head = h.expected
    AND EXISTS (SELECT FROM rooms seen WHERE seen.room = h.room AND seen.seal = h.head_seal)
    AND (h.head, h.head_chain) = (SELECT b.last_version, b.chain FROM batches b WHERE b.room = h.room
      ORDER BY b.last_version DESC LIMIT 1)
    AND NOT EXISTS (SELECT FROM batches b WHERE b.room = h.room AND b.actor = h.actor AND b.command = h.command)
  UNION ALL
  SELECT w.*, 0, w.origin, w.origin, true, sha256(w.origin || int8send(1) || w.encoded)
  FROM wanted w
  WHERE w.expected = 0
    AND NOT EXISTS (SELECT FROM rooms r WHERE r.room = w.room)
    AND NOT EXISTS (SELECT FROM batches b WHERE b.room = w.room)
), sealed AS MATERIALIZED (
  SELECT l.*, sha256('\\x{chain.SEALED.hex()}'::bytea || l.chain || int8send(l.last_version) || l.summary) AS seal
  FROM linked l
), moved AS (
  UPDATE rooms r SET version = s.last_version, chain = s.chain, terms = s.terms, created_ns = s.created_ns,
    ended_ns = s.ended_ns, body = s.body, seal = s.seal
  FROM sealed s WHERE s.expected > 0 AND r.room = s.room
), made AS (
  INSERT INTO rooms (room, version, chain, terms, created_ns, ended_ns, body, seal)
  SELECT s.room, s.last_version, s.chain, s.terms, s.created_ns, s.ended_ns, s.body, s.seal
  FROM sealed s WHERE s.expected = 0 ORDER BY s.room
  ON CONFLICT (room) DO NOTHING
  RETURNING room
), appended AS MATERIALIZED (
  SELECT s.* FROM sealed s WHERE s.expected > 0 OR s.room IN (SELECT room FROM made)
), stored AS (
  INSERT INTO batches (room, first_version, last_version, time_ns, actor, command, fingerprint, rules_version, bodies,
    feed, chain, xid, place)
  SELECT a.room, a.expected + 1, a.last_version, a.time_ns, a.actor, a.command, a.fingerprint, a.rules_version, a.bodies,
    a.feed, a.chain, pg_current_xact_id()::text::bigint, a.place
  FROM appended a
), unfound AS (
  DELETE FROM found f USING appended a
  WHERE a.is_found_anew AND f.room = a.room AND (f.created_ns <> a.created_ns
    OR encode(f.key, 'hex') || ':' || encode(f.value, 'hex') <> ALL (string_to_array(a.found_by, ',')))
), found_anew AS (
  INSERT INTO found AS f (key, value, created_ns, room, ended_ns)
  SELECT decode(split_part(t.term, ':', 1), 'hex'), decode(split_part(t.term, ':', 2), 'hex'), a.created_ns, a.room,
    a.ended_ns
  FROM appended a CROSS JOIN LATERAL unnest(string_to_array(a.found_by, ',')) AS t (term) WHERE a.is_found_anew
  ON CONFLICT (key, value, created_ns, room) DO UPDATE SET ended_ns = excluded.ended_ns
    WHERE f.ended_ns IS DISTINCT FROM excluded.ended_ns
)
SELECT place FROM appended
"""

_LOOK: Final = """
SELECT k.first_version, k.last_version, k.fingerprint, r.version, r.chain, n.last_version AS newest,
  n.chain AS newest_chain
FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS w (room, actor, command, place)
LEFT JOIN LATERAL (SELECT * FROM batches b WHERE b.room = w.room AND b.actor = w.actor AND b.command = w.command) k
  ON true
LEFT JOIN rooms r ON r.room = w.room
LEFT JOIN LATERAL (SELECT * FROM batches b WHERE b.room = w.room ORDER BY b.last_version DESC LIMIT 1) n ON true
ORDER BY w.place
"""

_BATCH: Final = (
    """first_version, last_version, time_ns, actor, command, fingerprint, rules_version, bodies, feed, chain"""
)
_NO_BATCH: Final = "NULL::bigint, NULL::bytea, NULL::bytea, NULL::bytea, NULL::bigint, NULL::bytea, NULL::bytea"
# The head, the end of the last batch that ends at the version or before, and the batches after it. Before them the
# timeline of a server whose commits wait for a standby.
_READ: Final = f"""
SELECT 0 AS part, NULL::bigint AS first_version, version AS last_version, {_NO_BATCH}, chain, NULL::bigint AS xid,
  NULL::text AS timeline FROM rooms WHERE room = $1
UNION ALL
(SELECT 1, NULL::bigint, last_version, {_NO_BATCH}, chain, NULL::bigint, NULL::text FROM batches
  WHERE room = $1 AND last_version <= $2 ORDER BY last_version DESC LIMIT 1)
UNION ALL
(SELECT 2, {_BATCH}, xid, NULL::text FROM batches WHERE room = $1 AND last_version > $2)
UNION ALL
(SELECT -1, NULL::bigint, NULL::bigint, {_NO_BATCH}, NULL::bytea, NULL::bigint, {standby.TIMELINE} WHERE {standby.WAITS})
ORDER BY 1, 3
"""
_FIRST: Final = f"SELECT {_BATCH} FROM batches WHERE room = $1 ORDER BY last_version LIMIT 1"

_SUMMARY: Final = """
SELECT n.last_version AS newest, n.chain AS newest_chain, f.keys, f.values, f.created, f.ended,
  r.room, r.version, r.chain, r.terms, r.created_ns, r.ended_ns, r.body, r.seal
FROM (SELECT $1::bytea AS room) w
LEFT JOIN rooms r ON r.room = w.room
LEFT JOIN LATERAL (SELECT * FROM batches b WHERE b.room = w.room ORDER BY b.last_version DESC LIMIT 1) n ON true
LEFT JOIN LATERAL (
  SELECT array_agg(key ORDER BY key, value) AS keys, array_agg(value ORDER BY key, value) AS values,
    array_agg(created_ns ORDER BY key, value) AS created, array_agg(ended_ns ORDER BY key, value) AS ended
  FROM found WHERE room = w.room) f ON true
"""

# The room's terms may be damaged as well, so all of them are written again.
_SUMMARISE: Final = f"""
WITH terms AS MATERIALIZED (
  SELECT * FROM unnest($3::bytea[], $4::bytea[]) AS t (key, value)
), head AS MATERIALIZED (
  SELECT r.room, r.version, r.chain, r.seal FROM rooms r WHERE r.room = $1 FOR NO KEY UPDATE OF r
), moved AS (
  UPDATE rooms r SET terms = $5, created_ns = $6, ended_ns = $7, body = $8,
    seal = sha256('\\x{chain.SEALED.hex()}'::bytea || h.chain || int8send(h.version) || $9::bytea)
  FROM head h
  WHERE r.room = h.room AND h.version = $2::bigint
    AND EXISTS (SELECT FROM rooms seen WHERE seen.room = h.room AND seen.seal = h.seal)
    AND (h.version, h.chain) = (SELECT b.last_version, b.chain FROM batches b WHERE b.room = h.room
      ORDER BY b.last_version DESC LIMIT 1)
  RETURNING r.room
), unfound AS (
  DELETE FROM found f USING moved m
  WHERE f.room = m.room AND NOT EXISTS (
    SELECT FROM terms t WHERE t.key = f.key AND t.value = f.value AND f.created_ns = $6)
), found_anew AS (
  INSERT INTO found AS f (key, value, created_ns, room, ended_ns)
  SELECT t.key, t.value, $6, m.room, $7 FROM moved m CROSS JOIN terms t
  ON CONFLICT (key, value, created_ns, room) DO UPDATE SET ended_ns = excluded.ended_ns
    WHERE f.ended_ns IS DISTINCT FROM excluded.ended_ns
)
SELECT room FROM moved
"""
_UNFIND: Final = "DELETE FROM found f WHERE f.room = $1 AND NOT EXISTS (SELECT FROM rooms r WHERE r.room = $1)"


@final
@dataclass(frozen=True, slots=True)
class Again:
    """Nothing stands in the way of the append any more: another node was writing the room when it was tried."""


async def append(db: Connection, group: Sequence[Prepared]) -> set[int]:
    """Store all appends of the group that may be stored; gives which, by their numbers in the group.

    The group is in the order of its rooms, and holds none of them twice.
    """
    rows = await db.fetch(_APPEND, *_columns(group))
    return {row["place"] - 1 for row in rows}


def _columns(group: Sequence[Prepared]) -> tuple[list[object], ...]:
    return (
        [each.room.encode() for each in group],
        [each.expected for each in group],
        [each.expected + len(each.batch.bodies) for each in group],
        [each.batch.time for each in group],
        [each.batch.actor.encode() for each in group],
        [None if each.batch.command is None else each.batch.command.id.encode() for each in group],
        [None if each.batch.command is None else each.batch.command.fingerprint for each in group],
        [each.batch.rules_version for each in group],
        [each.bodies for each in group],
        [None if each.batch.feed is None else each.batch.feed.encode() for each in group],
        [each.encoded for each in group],
        [None if each.expected else chain.origin(each.room) for each in group],
        [each.terms for each in group],
        [_found_by(each.batch.summary) for each in group],
        [each.batch.summary.created for each in group],
        [each.batch.summary.ended for each in group],
        [each.batch.summary.body for each in group],
        [chain.encode_summary(each.batch.summary, each.terms) for each in group],
    )


def _found_by(summary: Summary) -> str:
    """The terms as text that the statement takes apart where they have changed: `key:value,…` in hexadecimal."""
    return ",".join(f"{term.key.encode().hex()}:{term.value.encode().hex()}" for term in summary.terms)


async def look(db: Connection, group: Sequence[Prepared]) -> list[Duplicate | Conflict | Damaged | Again]:
    """Why each append of the group was not stored."""
    rows = await db.fetch(
        _LOOK,
        [each.room.encode() for each in group],
        [each.batch.actor.encode() for each in group],
        [None if each.batch.command is None else each.batch.command.id.encode() for each in group],
    )
    return [
        _why(
            each,
            (row["first_version"], row["last_version"], row["fingerprint"]),
            _end(row["version"], row["chain"]),
            _end(row["newest"], row["newest_chain"]),
        )
        for each, row in zip(group, rows, strict=True)
    ]


def _why(
    wanted: Prepared, known: tuple[int | None, int | None, bytes | None], told: End | None, kept: End | None
) -> Duplicate | Conflict | Damaged | Again:
    first, last, fingerprint = known
    if first is not None and last is not None:
        if fingerprint is None:
            return Damaged(wanted.room, NOTHING, batches.BROKEN_CHAIN)
        return Duplicate(Version(first), Version(last), fingerprint)
    head = _head(wanted.room, told, kept)
    if isinstance(head, Damaged):
        return head
    return Again() if head.version == wanted.expected else Conflict(head.version)


async def read(db: Connection, room: RoomId, after: Version) -> Seen[tuple[Entry, ...] | Damaged]:
    """See `StoreReader.read`. It checks what it reads, and that this ends at the room's head."""
    rows = await db.fetch(_READ, room.encode(), after)
    timeline = next((row["timeline"] for row in rows if row["part"] == -1), None)
    newest = max((row["xid"] for row in rows if row["xid"] is not None), default=0)
    return Seen(_checked(rows, room, after), newest + 1 if newest else 0, timeline)


def _checked(rows: Sequence[asyncpg.Record], room: RoomId, after: Version) -> tuple[Entry, ...] | Damaged:
    told: End | None = None
    kept: End | None = None
    at = batches.beginning(room)
    entries: list[Entry] = []
    for row in rows:
        part, *batch, _, _ = row
        if part == -1:
            continue
        if part == 0:
            told = _end(row["last_version"], row["chain"])
        elif part == 1:
            kept = at = End(Version(row["last_version"]), Link(row["chain"]))
        else:
            stored = batches.stored(texts(batch))
            if stored is None or not batches.follows(at, stored):
                return Damaged(room, Version(at.version + 1), batches.BROKEN_CHAIN)
            entries += stored.entries(room)
            kept = at = stored.end
    head = _head(room, told, kept)
    if isinstance(head, Damaged):
        return head
    return tuple(entry for entry in entries if entry.version > after)


async def first(db: Connection, room: RoomId) -> Entry | Damaged | None:
    """See `StoreReader.first`."""
    for row in await db.fetch(_FIRST, room.encode()):
        stored = batches.stored(texts(row))
        if stored is None or not batches.follows(batches.beginning(room), stored):
            return Damaged(room, Version(1), batches.BROKEN_CHAIN)
        return stored.entries(room)[0]
    return None


async def summary(db: Connection, room: RoomId) -> Listed | Damaged | None:
    """See `StoreReader.summary`."""
    row = await db.fetchrow(_SUMMARY, room.encode())
    assert row is not None, "the statement gives one row, whether there is a room or not"
    newest, newest_chain, keys, values, created, ended, *kept = row
    head = _head(room, _end(row["version"], row["chain"]), _end(newest, newest_chain))
    if isinstance(head, Damaged):
        return head
    if head.version == NOTHING:
        return None
    listed = pages.listed(texts(kept, 0))
    if listed is None:
        return Damaged(room, head.version, pages.BROKEN_SEAL)
    columns = (keys or (), values or (), created or (), ended or ())
    found = [(text(key), text(value), *moments) for key, value, *moments in zip(*columns, strict=True)]
    return listed if found == pages.found_by(listed.summary) else Damaged(room, head.version, pages.NOT_FOUND)


async def summarise(
    db: Connection, room: RoomId, expected: Version, summary: Summary
) -> Rewritten | Conflict | Damaged | Again:
    """See `Store.summarise`."""
    terms = chain.framed_terms(summary.terms)
    moved = await db.fetch(
        _SUMMARISE,
        room.encode(),
        expected,
        [term.key.encode() for term in summary.terms],
        [term.value.encode() for term in summary.terms],
        terms,
        summary.created,
        summary.ended,
        summary.body,
        chain.encode_summary(summary, terms),
    )
    if moved:
        return Rewritten()
    (row,) = await db.fetch(_LOOK, [room.encode()], [b""], [None])
    head = _head(room, _end(row["version"], row["chain"]), _end(row["newest"], row["newest_chain"]))
    if isinstance(head, Damaged):
        return head
    if head.version == NOTHING:
        await db.execute(_UNFIND, room.encode())
        return Conflict(NOTHING)
    return Again() if head.version == expected else Conflict(head.version)


def texts(row: Iterable[object], *places: int) -> tuple[object, ...]:
    """The row with its texts decoded. One that is not UTF-8 stays bytes, which no text may be: the row is damaged.

    The texts stand at `places`; without any, at those of a batch.
    """
    return decoded(row, places or _TEXTS)


_TEXTS: Final = (3, 4, 8)
"""Where actor, command and feed stand in the row of a batch."""


def _end(version: int | None, link: bytes | None) -> End | None:
    return None if version is None or link is None else End(Version(version), Link(link))


def _head(room: RoomId, told: End | None, kept: End | None) -> End | Damaged:
    """The room's head; `Damaged` if the last batch does not agree with it. A missing room is at its beginning."""
    if told is None and kept is None:
        return batches.beginning(room)
    if told is not None and told == kept:
        return told
    return Damaged(room, Version(1 if kept is None else kept.version + 1), batches.NO_AGREEMENT)
