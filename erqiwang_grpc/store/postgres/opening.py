"""Opening a database: reaches it, makes its tables, and says what to do where that is not possible."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_grpc.store.address import Address, BadAddress, unreadable
from erqiwang_grpc.store.port import StoreId
from erqiwang_grpc.store.postgres import failures, schema
from erqiwang_grpc.store.postgres.connections import Connection, connect

log = logging.getLogger(__name__)

OLDEST: Final = 13
"""The oldest major version of PostgreSQL that numbers transactions as feeds need it."""
_FIRST_DELAY: Final = 0.1
_LONGEST_DELAY: Final = 2.0
_ASKED: Final = 5
"""How often a pooler is asked which connection it lends."""


@final
@dataclass(frozen=True, slots=True)
class OutOfReach:
    """The database cannot be reached, or refuses this user."""

    address: Address
    why: str


@final
@dataclass(frozen=True, slots=True)
class Unclear:
    """The URL cannot be read."""

    why: str


@final
@dataclass(frozen=True, slots=True)
class NewerSchema:
    """The tables have version `found`, but this program knows them only up to `known`."""

    address: Address
    found: int
    known: int


@final
@dataclass(frozen=True, slots=True)
class NotPrepared:
    """No server of this version has had the database yet, and only a server makes or changes its tables."""

    address: Address


@final
@dataclass(frozen=True, slots=True)
class NotAStore:
    """The schema holds tables that are not this program's."""

    address: Address


@final
@dataclass(frozen=True, slots=True)
class UnfinishedMove:
    """A store was being moved into the database, and that is not finished."""

    address: Address


@final
@dataclass(frozen=True, slots=True)
class Copied:
    """The tables were copied into this database from another one, and have that one's identity."""

    address: Address


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """A command that must have the store to itself is at work."""

    address: Address


@final
@dataclass(frozen=True, slots=True)
class Served:
    """Servers, or other commands, have the store open, by so many connections."""

    address: Address
    connections: int


@final
@dataclass(frozen=True, slots=True)
class OlderServer:
    """The server is too old."""

    address: Address
    found: int


@final
@dataclass(frozen=True, slots=True)
class Pooled:
    """Between this program and the database stands a pooler that lends connections for one transaction."""

    address: Address


OpenRefused: TypeAlias = (
    OutOfReach
    | Unclear
    | NewerSchema
    | NotPrepared
    | NotAStore
    | UnfinishedMove
    | Copied
    | Taken
    | Served
    | OlderServer
    | Pooled
)


def advice(refused: OpenRefused) -> str:
    """One line for the operator: what is wrong, and what to do. It never holds a password."""
    match refused:
        case OutOfReach(address, why):
            return f"{address}: {why}"
        case Unclear(why):
            return unreadable(why)
        case NewerSchema(address, found, known):
            return f"{address} has schema {found}, this program knows up to {known}: use a newer version of erqiwang"
        case NotPrepared(address):
            return f"{address} was not served by this version of erqiwang yet: start a server on it, which makes its tables"
        case NotAStore(address):
            return (
                f'{address} has a schema "{schema.SCHEMA}" of something else and was left alone: name another database'
            )
        case UnfinishedMove(address):
            return (
                f"{address} holds a part of a store that was being moved there: run `erqiwang move` again, or drop its "
                f'schema "{schema.SCHEMA}"'
            )
        case Copied(address):
            return (
                f"{address} is a copy of another database, from whose cursors its own must differ: run `erqiwang store "
                "new-identity` on it once"
            )
        case Taken(address):
            return f"{address} is being moved or renewed by another command: wait for it"
        case Served(address, connections):
            return (
                f"{address} is open to servers or other commands by {connections} connections: stop them, also those on "
                "other machines"
            )
        case OlderServer(address, found):
            return f"{address} is PostgreSQL {found}: {OLDEST} or later is needed"
        case Pooled(address):
            return (
                f"{address} is a pooler that lends connections for one transaction, through which no node hears another: "
                "name the database itself, or have the pooler lend a connection for a session"
            )


@final
@dataclass(frozen=True, slots=True)
class Reached:
    """A database that may be used, and the first connection to it."""

    identity: StoreId
    db: Connection


async def reach(address: Address, patience: float, *, makes: bool) -> Reached | OpenRefused:
    """Connect, and make the tables if `makes`. Waits for a database that cannot be reached, `patience` seconds at most."""
    loop = asyncio.get_running_loop()
    until = loop.time() + patience
    delay = _FIRST_DELAY
    while True:
        try:
            return await _reach(address, makes=makes)
        except BadAddress as bad:
            return Unclear(str(bad))
        except failures.ERRORS as error:
            why = failures.sentence(error)
            if failures.is_lasting(error) or loop.time() + delay > until:
                return Pooled(address) if failures.is_of_a_pooler(error) else OutOfReach(address, why)
            log.warning("database away", extra={"address": str(address), "why": why})
        except ValueError:
            # asyncpg quotes what it could not read, which may be a password.
            return Unclear("see its parameters")
        await asyncio.sleep(delay)
        delay = min(2 * delay, _LONGEST_DELAY)


async def _reach(address: Address, *, makes: bool) -> Reached | OpenRefused:
    db = await connect(address)
    try:
        opened = await _looked_at(address, db, makes=makes)
    except BaseException:
        db.terminate()
        raise
    if not isinstance(opened, Reached):
        await db.close()
    return opened


async def _looked_at(address: Address, db: Connection, *, makes: bool) -> Reached | OpenRefused:
    major = db.get_server_version().major
    if major < OLDEST:
        return OlderServer(address, major)
    if await _is_pooled(address, db):
        return Pooled(address)
    if makes and not await db.fetchval("SELECT pg_try_advisory_xact_lock_shared($1)", schema.ALONE):
        return Taken(address)
    try:
        identity = await (schema.prepare(db) if makes else schema.look(db))
    except schema.OlderSchemaError:
        return NotPrepared(address)
    except schema.NewerSchemaError as newer:
        return NewerSchema(address, newer.found, schema.VERSION)
    except schema.NotAStoreError:
        return NotAStore(address)
    except schema.UnfinishedMoveError:
        return UnfinishedMove(address)
    except schema.CopiedError:
        return Copied(address)
    if makes:
        await _say_how_it_is_set(address, db)
    return Reached(identity, db)


async def _is_pooled(address: Address, db: Connection) -> bool:
    """Whether a connection is lent for one transaction: then the server's process is not always this client's own."""
    own = {await _process(db) for _ in range(_ASKED)}
    other = await connect(address)
    try:
        async with other.transaction():
            return len(own) > 1 or await _process(other) in own
    finally:
        other.terminate()


async def _process(db: Connection) -> int:
    process: int = await db.fetchval("SELECT pg_backend_pid()")
    return process


async def _say_how_it_is_set(address: Address, db: Connection) -> None:
    """Tell the log what the settings of the server mean for what is answered."""
    row = await db.fetchrow(
        """SELECT current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') <> 'local'
    AS waits, current_setting('fsync') = 'on' AS flushes,
    has_database_privilege('public', current_database(), 'CONNECT') AS is_open"""
    )
    assert row is not None, "the statement gives one row"
    where = {"address": str(address)}
    log.info("database reached", extra=where | {"waits_for_standby": row["waits"]})
    if not row["flushes"]:
        log.warning(
            "database does not flush", extra=where | {"why": "fsync is off: a crash of its machine loses rooms"}
        )
    if row["is_open"]:
        why = "it holds the cards in hand: REVOKE CONNECT ON DATABASE … FROM PUBLIC"
        log.warning("database open to others", extra=where | {"why": why})
