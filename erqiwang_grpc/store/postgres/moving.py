"""Moving a database to another store, and another store into a database; and making a copied database a store of its own.

Each of these needs the store for itself alone: it holds the lock `schema.ALONE`, which a starting server tries, and
nobody else is connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar, final

import asyncpg

from erqiwang_grpc.store.address import Address, BadAddress
from erqiwang_grpc.store.port import StoreId, StoreReader
from erqiwang_grpc.store.postgres import (
    OpenRefused,
    PostgresStore,
    failures,
    on,
    open_store,
    opening,
    schema,
)
from erqiwang_grpc.store.postgres.connections import Connection, connect
from erqiwang_grpc.store.postgres.opening import (
    NewerSchema,
    NotAStore,
    NotPrepared,
    OlderServer,
    OutOfReach,
    Served,
    Taken,
    Unclear,
    UnfinishedMove,
)
from erqiwang_grpc.store.rows import PAGE, BatchRow, Filled, HeadRow, MoveFailed, found_rows

Row = TypeVar("Row")

_COLUMNS: Final = (
    "room",
    "first_version",
    "last_version",
    "time_ns",
    "actor",
    "command",
    "fingerprint",
    "rules_version",
    "bodies",
    "feed",
    "chain",
)
_BATCHES: Final = f"SELECT {', '.join(_COLUMNS)} FROM batches ORDER BY xid, place"
_HEADS: Final = "SELECT room, version, chain, terms, created_ns, ended_ns, body, seal FROM rooms ORDER BY room"
_FEEDS: Final = "SELECT DISTINCT feed FROM batches WHERE feed IS NOT NULL ORDER BY feed"
_HEAD_COLUMNS: Final = ("room", "version", "chain", "terms", "created_ns", "ended_ns", "body", "seal")
_FOUND_COLUMNS: Final = ("key", "value", "created_ns", "room", "ended_ns")
_OTHERS: Final = """SELECT count(*) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'erqiwang' AND pid <> pg_backend_pid()"""

EARLIER: Final = (1, 2)
"""Numbers of transactions below those that a cluster gives: of all batches that were not written in this cluster.

Batches that have one of them get the other one instead: the same number would be given twice for a moment.
"""
_NUMBERED_ANEW: Final = """
UPDATE batches b SET xid = $1, place = n.number
FROM (SELECT ctid AS spot, row_number() OVER (ORDER BY xid, place) AS number FROM batches) n
WHERE b.ctid = n.spot
"""
# The whole table is read here: the settings of a server's connections are for rows that are looked up.
_WHOLE_TABLES: Final = (
    "SET enable_seqscan = on; SET enable_hashjoin = on; SET enable_mergejoin = on; SET work_mem = '256MB'"
)
_PATIENCE_SECONDS: Final = 5.0
"""How long the connections of a server that has just been stopped may take to end."""
_STEP_SECONDS: Final = 0.1


@final
class PostgresOrigin:
    """`Origin` in a database."""

    def __init__(self, address: Address, db: Connection, store: PostgresStore) -> None:
        self._address = address
        self._db = db
        self._store = store

    @property
    def reader(self) -> StoreReader:
        """The same store, through its port."""
        return self._store

    async def batches(self) -> AsyncIterator[list[BatchRow | None]]:
        """See `Origin.batches`."""
        async for rows in self._pages(_BATCHES, BatchRow):
            yield [*rows]

    async def heads(self) -> AsyncIterator[list[HeadRow | None]]:
        """See `Origin.heads`."""
        async for rows in self._pages(_HEADS, HeadRow):
            yield [*rows]

    async def _pages(self, statement: str, made: Callable[..., Row]) -> AsyncIterator[list[Row]]:
        """The rows of a statement, a page at a time. `made` makes each of its columns."""
        with _told(self._address):
            async with self._db.transaction(readonly=True):
                cursor = await self._db.cursor(statement)
                while rows := await cursor.fetch(PAGE):
                    yield [made(*row) for row in rows]

    async def feeds(self) -> tuple[str, ...]:
        """See `Origin.feeds`."""
        with _told(self._address):
            return tuple(row["feed"].decode(errors="replace") for row in await self._db.fetch(_FEEDS))

    async def close(self) -> None:
        """See `Origin.close`."""
        await self._store.close()
        self._db.terminate()


@final
class PostgresTarget:
    """`Target` in a database. Its tables are marked until the end, so that servers leave them alone."""

    def __init__(self, address: Address, db: Connection, identity: StoreId) -> None:
        self._address = address
        self._db = db
        self._identity = identity
        self._place = 0
        self._store: PostgresStore | None = None

    async def write_batches(self, rows: Sequence[BatchRow]) -> None:
        """See `Target.write_batches`."""
        numbered = [(*row, EARLIER[0], self._place + number) for number, row in enumerate(rows, start=1)]
        self._place += len(rows)
        await self._copy("batches", (*_COLUMNS, "xid", "place"), numbered)

    async def write_heads(self, rows: Sequence[HeadRow]) -> None:
        """See `Target.write_heads`."""
        await self._copy("rooms", _HEAD_COLUMNS, rows)
        await self._copy("found", _FOUND_COLUMNS, [each for row in rows for each in found_rows(row)])

    async def written(self) -> StoreReader:
        """See `Target.written`."""
        with _told(self._address):
            await self._db.execute("ANALYZE batches; ANALYZE rooms; ANALYZE found")
            reached = opening.Reached(self._identity, await connect(self._address))
        self._store = on(self._address, reached)
        return self._store

    async def finish(self) -> StoreId:
        """See `Target.finish`."""
        with _told(self._address):
            await schema.end_move(self._db)
        return self._identity

    async def close(self) -> None:
        """See `Target.close`."""
        if self._store is not None:
            await self._store.close()
        self._db.terminate()

    async def _copy(self, table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
        with _told(self._address):
            await self._db.copy_records_to_table(table, schema_name=schema.SCHEMA, columns=columns, records=rows)


async def origin(address: Address) -> PostgresOrigin | OpenRefused:
    """The database as a store that is moved. Servers that have it open are in the way."""
    db = await _alone(address)
    return await _origin(address, db) if isinstance(db, asyncpg.Connection) else db


async def _origin(address: Address, db: Connection) -> PostgresOrigin | OpenRefused:
    store = await open_store(address, 0, makes=False)
    if isinstance(store, PostgresStore):
        return PostgresOrigin(address, db, store)
    db.terminate()
    return store


async def target(address: Address) -> PostgresTarget | Filled | OpenRefused:
    """New tables in the database; `Filled` if there are rooms already.

    What an interrupted move has left is thrown away.
    """
    db = await _alone(address, moves_here=True)
    if not isinstance(db, asyncpg.Connection):
        return db
    try:
        with _told(address):
            if await schema.begin_move(db):
                return PostgresTarget(address, db, await schema.identity(db))
    except BaseException:
        db.terminate()
        raise
    there = await _origin(address, db)
    return Filled(there) if isinstance(there, PostgresOrigin) else there


async def new_identity(address: Address) -> StoreId | OpenRefused:
    """Make the database a store of its own, all or nothing: all earlier cursors are refused then.

    Where it was copied from another cluster, its batches get new numbers in the same order. Otherwise feeds
    would tell them among those that are written from now on.
    """
    db = await _alone(address)
    if not isinstance(db, asyncpg.Connection):
        return db
    try:
        with _told(address):
            async with db.transaction():
                await schema.lock(db)
                if not await schema.is_of_this_cluster(db):
                    await _number_anew(db)
                return await schema.stamp(db)
    finally:
        db.terminate()


async def _number_anew(db: Connection) -> None:
    taken = await db.fetchval("SELECT EXISTS (SELECT FROM batches WHERE xid = $1)", EARLIER[0])
    await db.execute(_NUMBERED_ANEW, EARLIER[1] if taken else EARLIER[0])


@contextmanager
def _told(address: Address) -> Iterator[None]:
    """Raise `MoveFailed` for an error of the database."""
    try:
        yield
    except failures.ERRORS as error:
        raise MoveFailed(f"{address}: {failures.sentence(error)}") from error


async def _alone(address: Address, *, moves_here: bool = False) -> Connection | OpenRefused:
    """A connection whose holder has the store to itself; if `moves_here`, a store need not be there yet."""
    try:
        db = await connect(address)
    except BadAddress as bad:
        return Unclear(str(bad))
    except failures.ERRORS as error:
        return OutOfReach(address, failures.sentence(error))
    except ValueError:
        return Unclear("see its parameters")
    try:
        with _told(address):
            refused = await _looked_at(address, db, moves_here=moves_here)
    except BaseException:
        db.terminate()
        raise
    if refused is None:
        return db
    db.terminate()
    return refused


async def _looked_at(address: Address, db: Connection, *, moves_here: bool) -> OpenRefused | None:
    major = db.get_server_version().major
    if major < opening.OLDEST:
        return OlderServer(address, major)
    await db.execute("SET application_name = 'erqiwang alone'")
    await db.execute(_WHOLE_TABLES)
    if not await db.fetchval("SELECT pg_try_advisory_lock($1)", schema.ALONE):
        return Taken(address)
    others = await _others(db)
    if others:
        return Served(address, others)
    try:
        await schema.look(db)
    except schema.OlderSchemaError:
        return None if moves_here else NotPrepared(address)
    except schema.NewerSchemaError as newer:
        return NewerSchema(address, newer.found, schema.VERSION)
    except schema.NotAStoreError:
        return NotAStore(address)
    except schema.UnfinishedMoveError:
        return None if moves_here else UnfinishedMove(address)
    return None


async def _others(db: Connection) -> int:
    """How many connections of servers and other commands there are, once those that are just ending have ended."""
    until = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
    while True:
        others: int = await db.fetchval(_OTHERS)
        if not others or asyncio.get_running_loop().time() > until:
            return others
        await asyncio.sleep(_STEP_SECONDS)
