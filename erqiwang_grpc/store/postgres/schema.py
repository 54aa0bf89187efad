"""The tables of a database, and the steps that made them. Each step is one version of the schema.

The tables are those of `sqlite.schema`. Text is kept as UTF-8 bytes, which hold every character, the character zero
too, and are ordered like the text itself, whatever the collation of the database.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from erqiwang_grpc.store.port import StoreId

if TYPE_CHECKING:
    from erqiwang_grpc.store.postgres.connections import Connection

SCHEMA: Final = "erqiwang"
"""The schema, in the sense of a name space, that holds all tables."""
LOCK: Final = 0x45525157
"""The advisory lock of whoever makes or changes the tables: "ERQW"."""
ALONE: Final = 0x4552515741
"""The advisory lock of a command that needs the store for itself alone: "ERQWA"."""

# One row is one batch, so half a batch cannot be stored. Feeds are in the order of (xid, place): the number of the
# transaction that wrote the batch, and the batch's place in it.
_BATCHES: Final = """CREATE TABLE batches (
  room bytea NOT NULL,
  first_version bigint NOT NULL,
  last_version bigint NOT NULL,
  time_ns bigint NOT NULL,
  actor bytea NOT NULL,
  command bytea,
  fingerprint bytea,
  rules_version bigint NOT NULL,
  bodies bytea NOT NULL,
  feed bytea,
  chain bytea NOT NULL,
  xid bigint NOT NULL,
  place bigint NOT NULL,
  PRIMARY KEY (room, last_version)
)"""
_BY_COMMAND: Final = (
    "CREATE UNIQUE INDEX batches_by_command ON batches (room, actor, command) WHERE command IS NOT NULL"
)
_BY_FEED: Final = "CREATE UNIQUE INDEX batches_by_feed ON batches (feed, xid, place) WHERE feed IS NOT NULL"
# A room's head is stored apart from its batches, so that a lost batch is noticed. `seal` binds the summary to the head.
# Every append changes its row and none of its indexes: with room on the page, the new row needs no index entry.
_ROOMS: Final = """CREATE TABLE rooms (
  room bytea PRIMARY KEY,
  version bigint NOT NULL,
  chain bytea NOT NULL,
  terms bytea NOT NULL,
  created_ns bigint NOT NULL,
  ended_ns bigint,
  body bytea NOT NULL,
  seal bytea NOT NULL
) WITH (fillfactor = 50)"""
# The terms by which lists find rooms. They are made from the summaries, and made again from them after damage.
_FOUND: Final = """CREATE TABLE found (
  key bytea NOT NULL,
  value bytea NOT NULL,
  created_ns bigint NOT NULL,
  room bytea NOT NULL,
  ended_ns bigint,
  PRIMARY KEY (key, value, created_ns, room)
)"""
_FOUND_BY_END: Final = "CREATE INDEX found_by_end ON found (key, value, ended_ns, room) WHERE ended_ns IS NOT NULL"
_FOUND_BY_ROOM: Final = "CREATE INDEX found_by_room ON found (room)"
# One row: the version of the schema, the identity of the store, which cursors name, and the database that it is at home
# in. A dump that was restored into another database is found by that.
_STORE: Final = "CREATE TABLE store (schema_version integer NOT NULL, identity text NOT NULL, home text NOT NULL)"
# It is there while another store is moved into these tables. Its rows say nothing: they may hold any part of it.
_MOVING: Final = "CREATE TABLE moving ()"

_HOME: Final = """SELECT (SELECT system_identifier FROM pg_control_system()) || '/'
  || (SELECT oid FROM pg_database WHERE datname = current_database())"""

STEPS: Final = ((_BATCHES, _BY_COMMAND, _BY_FEED, _ROOMS, _FOUND, _FOUND_BY_END, _FOUND_BY_ROOM),)
"""What each version of the schema changes. From the first release on a step is never changed, only added."""
VERSION: Final = len(STEPS)
"""The version of the schema that this program makes."""

_IDENTITY_BYTES: Final = 8


class NewerSchemaError(Exception):
    """The tables have a later version than this program knows."""

    def __init__(self, found: int) -> None:
        super().__init__(f"schema {found}")
        self.found = found


class NotAStoreError(Exception):
    """The schema holds tables that are not this program's."""


class UnfinishedMoveError(Exception):
    """A store was being moved into these tables, and that is not finished."""


class CopiedError(Exception):
    """The tables were copied into this database from another one."""


class OlderSchemaError(Exception):
    """The tables are not there, or have an earlier version than this program reads."""

    def __init__(self, found: int) -> None:
        super().__init__(f"schema {found}")
        self.found = found


async def look(db: Connection) -> StoreId:
    """The identity of the store, whose tables must be there. Nothing is changed."""
    found = await _version(db)
    if found < VERSION:
        raise OlderSchemaError(found)
    return await identity(db)


async def prepare(db: Connection) -> StoreId:
    """Make the tables, or bring them to this program's version, all or nothing; gives the identity of the store.

    Several nodes may start at once: one of them does it, the others wait for that.
    """
    async with db.transaction():
        await lock(db)
        await _make(db)
        if not await is_at_home(db):
            raise CopiedError
        return await identity(db)


async def lock(db: Connection) -> None:
    """Wait until no other node makes or moves tables, and hold them off to the end of the transaction."""
    await db.execute("SELECT pg_advisory_xact_lock($1)", LOCK)


async def begin_move(db: Connection) -> bool:
    """Make empty tables for a store that is moved here, and mark them. False if there are rooms already."""
    async with db.transaction():
        await lock(db)
        if await _is_moving(db):
            await db.execute("TRUNCATE batches, rooms, found")
            await db.execute("DROP TABLE moving")
        await _make(db)
        if await db.fetchval("SELECT EXISTS (SELECT FROM batches) OR EXISTS (SELECT FROM rooms)"):
            return False
        await db.execute(_MOVING)
        await stamp(db)
    return True


async def end_move(db: Connection) -> None:
    """Let servers open what was moved here."""
    await db.execute("DROP TABLE moving")


async def stamp(db: Connection) -> StoreId:
    """Give the store a new identity, at home in this database; gives the identity."""
    fresh = StoreId(secrets.token_hex(_IDENTITY_BYTES))
    await db.execute(f"UPDATE store SET identity = $1, home = ({_HOME})", fresh)
    return fresh


async def is_at_home(db: Connection) -> bool:
    """Whether the tables were made in this database. A dump that was restored was made in another one."""
    found: bool = await db.fetchval(f"SELECT home = ({_HOME}) FROM store")
    return found


async def is_of_this_cluster(db: Connection) -> bool:
    """Whether the numbers of transactions in the tables were given by this cluster."""
    found: bool = await db.fetchval(f"SELECT split_part(home, '/', 1) = split_part(({_HOME}), '/', 1) FROM store")
    return found


async def _make(db: Connection) -> None:
    found = await _version(db)
    if found == 0:
        await db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        await db.execute(_STORE)
        await db.execute(f"INSERT INTO store SELECT 0, $1, ({_HOME})", secrets.token_hex(_IDENTITY_BYTES))
    for step in STEPS[found:]:
        for statement in step:
            await db.execute(statement)
    if found < VERSION:
        await db.execute("UPDATE store SET schema_version = $1", VERSION)


async def _is_moving(db: Connection) -> bool:
    found: bool = await db.fetchval("SELECT to_regclass($1) IS NOT NULL", f"{SCHEMA}.moving")
    return found


async def identity(db: Connection) -> StoreId:
    """The identity of the store. Raises `NotAStoreError` if there is not exactly one."""
    match await db.fetch("SELECT identity FROM store"):
        case [row]:
            return StoreId(row["identity"])
        case _:
            raise NotAStoreError


async def _version(db: Connection) -> int:
    """The version of the tables; 0 if there are none yet.

    Raises `NewerSchemaError`, `UnfinishedMoveError`, and `NotAStoreError` for tables of something else.
    """
    tables = await db.fetchval(
        "SELECT coalesce(array_agg(relname::text), '{}') FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r'",
        SCHEMA,
    )
    if not tables:
        return 0
    if "store" not in tables:
        raise NotAStoreError
    if "moving" in tables:
        raise UnfinishedMoveError
    match await db.fetch("SELECT to_jsonb(store) ->> 'schema_version' AS version FROM store"):
        case [row] if row["version"] is not None:
            found = int(row["version"])
        case _:
            raise NotAStoreError
    if found > VERSION:
        raise NewerSchemaError(found)
    return found
