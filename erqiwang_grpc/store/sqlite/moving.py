"""Moving a file to another store, and another store into a file."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from erqiwang_grpc.store.port import RoomId, StoreId, StoreReader
from erqiwang_grpc.store.rows import PAGE, BatchRow, Filled, HeadRow, batch_row, decoded, found_rows, head_row
from erqiwang_grpc.store.sqlite import OpenRefused, SqliteReader, SqliteStore, open_reader, open_store, opening, schema
from erqiwang_grpc.store.sqlite.opening import ServerLock

_COLUMNS: Final = (
    "room, first_version, last_version, time_ns, actor, command, fingerprint, rules_version, bodies, feed, chain"
)
_BATCHES: Final = f"SELECT position, {_COLUMNS} FROM batches WHERE position > ? ORDER BY position LIMIT ?"
_HEADS: Final = """SELECT room, version, chain, terms, created_ns, ended_ns, body, seal FROM rooms
  WHERE room > ? ORDER BY room LIMIT ?"""
_FEEDS: Final = "SELECT DISTINCT feed FROM batches WHERE feed IS NOT NULL ORDER BY feed"
_INSERT: Final = f"INSERT INTO batches ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SET_ROOM: Final = """INSERT INTO rooms (room, version, chain, terms, created_ns, ended_ns, body, seal)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_FIND: Final = "INSERT INTO found (key, value, created_ns, room, ended_ns) VALUES (?, ?, ?, ?, ?)"
_LOWEST: Final = -(2**63)

UNFINISHED: Final = ".moving"
"""What stands after the name of a file that is not finished."""


@final
@dataclass(frozen=True, slots=True)
class Lost:
    """The file is gone, but what SQLite keeps beside it is there."""

    path: Path


@final
class SqliteOrigin:
    """`Origin` in a file. It is locked like a server's own."""

    def __init__(self, store: SqliteStore, db: sqlite3.Connection) -> None:
        self._store = store
        self._db = db

    @property
    def reader(self) -> StoreReader:
        """The same store, through its port."""
        return self._store

    async def batches(self) -> AsyncIterator[list[BatchRow | None]]:
        """See `Origin.batches`."""
        last: object = _LOWEST
        while rows := await self._page(_BATCHES, last):
            yield [batch_row(row[1:]) for row in rows]
            last = rows[-1][0]

    async def heads(self) -> AsyncIterator[list[HeadRow | None]]:
        """See `Origin.heads`."""
        last: object = ""
        while rows := await self._page(_HEADS, last):
            yield [head_row(row) for row in rows]
            last = rows[-1][0]

    async def feeds(self) -> tuple[str, ...]:
        """See `Origin.feeds`."""
        rows = await asyncio.to_thread(lambda: self._db.execute(_FEEDS).fetchall())
        return tuple(feed for (feed,) in rows if isinstance(feed, str))

    async def close(self) -> None:
        """See `Origin.close`."""
        self._db.close()
        await self._store.close()

    async def _page(self, statement: str, last: object) -> list[tuple[object, ...]]:
        return await asyncio.to_thread(lambda: self._db.execute(statement, (last, PAGE)).fetchall())


@final
class SqliteTarget:
    """`Target` in a file of another name, which is given the right one at the end."""

    def __init__(self, path: Path, lock: ServerLock, db: sqlite3.Connection) -> None:
        self._path = path
        self._unfinished = _unfinished(path)
        self._lock = lock
        self._db = db
        self._reader: SqliteReader | None = None

    async def write_batches(self, rows: Sequence[BatchRow]) -> None:
        """See `Target.write_batches`."""
        await self._write([(_INSERT, [decoded(row, _TEXTS) for row in rows])])

    async def write_heads(self, rows: Sequence[HeadRow]) -> None:
        """See `Target.write_heads`."""
        found = [decoded(each, (0, 1, 3)) for row in rows for each in found_rows(row)]
        await self._write([(_SET_ROOM, [decoded(row, (0,)) for row in rows]), (_FIND, found)])

    async def written(self) -> StoreReader:
        """See `Target.written`."""
        reader = await open_reader(self._unfinished)
        assert isinstance(reader, SqliteReader), "this process has written it"
        self._reader = reader
        return reader

    async def finish(self) -> StoreId:
        """See `Target.finish`."""
        await self._let_go()
        return await asyncio.to_thread(self._finish)

    async def close(self) -> None:
        """See `Target.close`."""
        await self._let_go()
        self._db.close()
        await asyncio.to_thread(_throw_away, self._unfinished)
        self._lock.release()

    async def _let_go(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.close()

    def _finish(self) -> StoreId:
        identity = schema.identity(self._db)
        assert identity is not None, "this process has written it"
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.close()
        descriptor = os.open(self._unfinished, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._unfinished.rename(self._path)
        opening.sync_folder(self._path.parent)
        self._lock.sign()
        return identity

    async def _write(self, statements: Sequence[tuple[str, list[tuple[object, ...]]]]) -> None:
        await asyncio.to_thread(self._transact, statements)

    def _transact(self, statements: Sequence[tuple[str, list[tuple[object, ...]]]]) -> None:
        self._db.execute("BEGIN")
        for statement, rows in statements:
            self._db.executemany(statement, rows)
        self._db.execute("COMMIT")


_TEXTS: Final = (0, 4, 5, 9)
"""Where room, actor, command and feed stand in the row of a batch."""


async def origin(path: Path) -> SqliteOrigin | OpenRefused:
    """The file as a store that is moved. A server that has it open is in the way."""
    store = await open_store(path)
    if not isinstance(store, SqliteStore):
        return store
    db = await asyncio.to_thread(opening.open_for_reading, path)
    if isinstance(db, sqlite3.Connection):
        return SqliteOrigin(store, db)
    await store.close()
    return db


async def target(path: Path) -> SqliteTarget | Filled | Lost | OpenRefused:
    """A new file; `Filled` if there is one with rooms already.

    What an interrupted move has left is thrown away.
    """
    if await asyncio.to_thread(path.exists):
        there = await origin(path)
        if not isinstance(there, SqliteOrigin):
            return there
        if await there.reader.rooms(RoomId(""), 1) != ():  # or it cannot be read
            return Filled(there)
        await there.close()
    return await asyncio.to_thread(_target, path)


def _target(path: Path) -> SqliteTarget | Lost | OpenRefused:
    if _beside(path, "-wal").exists():  # SQLite would write it into the new file
        return Lost(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = opening.locked(path)
    if not isinstance(lock, ServerLock):
        return lock
    unfinished = _unfinished(path)
    _throw_away(unfinished)
    opening.make_private(unfinished, for_the_owner_of_its_folder=True)
    db = sqlite3.connect(unfinished, isolation_level=None, check_same_thread=False)
    # Nobody believes this file before it is flushed and renamed at the end.
    db.execute("PRAGMA journal_mode = MEMORY")
    db.execute("PRAGMA synchronous = OFF")
    schema.create(db)
    return SqliteTarget(path, lock, db)


def _throw_away(unfinished: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        _beside(unfinished, suffix).unlink(missing_ok=True)


def _unfinished(path: Path) -> Path:
    return _beside(path, UNFINISHED)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
