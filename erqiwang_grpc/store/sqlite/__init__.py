"""The store in one SQLite file, which is the default: one writer thread with group commit, and reader threads."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from typing import Final, TypeVar, final

from erqiwang_grpc.store import batches
from erqiwang_grpc.store.batches import Prepared
from erqiwang_grpc.store.figures import Commits, FileFigures
from erqiwang_grpc.store.port import (
    NOTHING,
    START,
    AppendAnswer,
    BadCursor,
    Batch,
    Conflict,
    Cursor,
    Damaged,
    Entry,
    Fed,
    Listed,
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
from erqiwang_grpc.store.sqlite import lists, opening, schema, statements
from erqiwang_grpc.store.sqlite.committing import Committer
from erqiwang_grpc.store.sqlite.grouping import Groups
from erqiwang_grpc.store.sqlite.opening import (
    AlreadyServed,
    DamagedFile,
    NewerFile,
    NotAStore,
    OlderFile,
    OpenFile,
    OpenRefused,
    OutOfReach,
    ReadOnly,
    advice,
)

__all__ = [
    "STORE_FILE",
    "AlreadyServed",
    "Compacted",
    "DamagedFile",
    "NewerFile",
    "NotAStore",
    "OlderFile",
    "OpenRefused",
    "OutOfReach",
    "ReadOnly",
    "SqliteReader",
    "SqliteStore",
    "advice",
    "back_up",
    "new_identity",
    "open_reader",
    "open_store",
]

T = TypeVar("T")

STORE_FILE: Final = "rooms.sqlite"
"""The name of the file in a server's data folder."""

_READERS: Final = 2  # only opened rooms and lists are read, and more threads would only wait for one another
_NO_IDENTITY: Final = "its identity cannot be read, and `erqiwang store new-identity` gives it one"
_CLOSED: Final = Unavailable("this store is closed: open it again")


@final
@dataclass(frozen=True, slots=True)
class Compacted:
    """The size of the file in bytes, before and after compaction."""

    before: int
    after: int


class SqliteReader:
    """`StoreReader` of a file, with or without a running server. Use it only in the event loop that opened it."""

    def __init__(self, identity: StoreId, connections: tuple[sqlite3.Connection, ...]) -> None:
        self._identity = identity
        self._connections = connections
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        for db in connections:
            self._idle.put(db)
        self._readers = ThreadPoolExecutor(len(connections), thread_name_prefix="store-reader")

    @property
    def identity(self) -> StoreId:
        """The identity of this store."""
        return self._identity

    async def faults(self) -> tuple[str, ...] | Unavailable:
        """The faults of the file outside its rooms' events. This reads the whole file."""
        return await self._of_all(lists.faults)

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged:
        """The entries of the room with versions above `after`. See `StoreReader.read`."""
        return await self._of_room(room, after, partial(statements.read, room=room, after=after))

    async def first(self, room: RoomId) -> Entry | Damaged | None:
        """The first entry of the room. See `StoreReader.first`."""
        return await self._of_room(room, NOTHING, partial(statements.first, room=room))

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """The next rooms in order of id, at most `limit`. See `StoreReader.rooms`."""
        return await self._of_all(partial(lists.rooms, after=after, limit=limit))

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        """The next batches of a feed in commit order, at most `limit`. See `StoreReader.feed`."""
        return await self._of_all(partial(lists.feed, feed=feed, after=after, limit=limit))

    async def latest(self) -> Cursor | Unavailable:
        """The cursor after everything that is stored by now."""
        return await self._of_all(lists.latest)

    async def summary(self, room: RoomId) -> Listed | Damaged | None:
        """The room's summary, checked against its head. See `StoreReader.summary`."""
        return await self._of_room(room, NOTHING, partial(lists.summary, room=room))

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor | Unavailable:
        """A page of a list, at most `limit` rooms, newest first. See `StoreReader.summaries`."""
        return await self._of_all(partial(lists.summaries, search=search, limit=limit, after=after))

    async def close(self) -> None:
        """Finish the reads that are running, then close the file."""
        await asyncio.to_thread(self._readers.shutdown)
        for db in self._connections:
            db.close()

    async def _of_room(self, room: RoomId, after: Version, query: Callable[[sqlite3.Connection], T]) -> T | Damaged:
        try:
            return await self._query(query)
        except schema.FILE_ERRORS as error:
            return Damaged(room, Version(after + 1), f"{error}: restore the file from a backup")

    async def _of_all(self, query: Callable[[sqlite3.Connection], T]) -> T | Unavailable:
        try:
            return await self._query(query)
        except schema.FILE_ERRORS as error:
            return Unavailable(f"the store cannot be listed ({error}): restore the file from a backup")

    async def _query(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._snapshot, query)

    def _snapshot(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run the query in a transaction, so that it sees the file at one moment."""
        db = self._idle.get()
        try:
            db.execute("BEGIN")
            return query(db)
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
            self._idle.put(db)


@final
class SqliteStore(SqliteReader):
    """`Store` in a file that no other process writes. Use it only in the event loop that opened it."""

    shared: Final = False

    def __init__(
        self,
        file: OpenFile,
        identity: StoreId,
        connections: tuple[sqlite3.Connection, ...],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(identity, connections)
        self._file = file
        self._committer = Committer(file.db)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self.commits = Commits()
        """The commits of appends. The writing thread counts them."""
        self._groups = Groups(loop, self._writer, self._commit, self._see_whether_lost)
        self._is_closed = False
        self._lost = asyncio.Event()

    @property
    def outage(self) -> str | None:
        """None: a disk that fails does not heal while the server runs. See `lost`."""
        return None

    @property
    def keeps_house(self) -> bool:
        """True: nobody else writes the file."""
        return True

    def figures(self) -> FileFigures | None:
        """The sizes of the file and of its log now; None if they cannot be read."""
        path = self._file.path
        try:
            return FileFigures(path.stat().st_size, path.with_name(f"{path.name}-wal").stat().st_size)
        except OSError:
            return None

    async def lost(self) -> None:
        """Return when a flush has failed. The process must then end without closing the file."""
        await self._lost.wait()

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        """Append `batch` after version `expected` of the room. See `Store.append`.

        Raises `ValueError` for text that is not valid Unicode, and `OverflowError` for numbers over 63 bits.
        """
        if self._is_closed:
            return _CLOSED
        return await self._groups.add(batches.prepare(room, expected, batch))

    async def summarise(
        self, room: RoomId, expected: Version, summary: Summary
    ) -> Rewritten | Conflict | Damaged | Unavailable:
        """Replace the room's summary. See `Store.summarise`."""
        work = partial(statements.summarise, room=room, expected=expected, summary=summary)
        return await self._write(lambda: self._committer.transact(work))

    async def delete_rooms(self, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """Delete at most `limit` rooms. Appends wait meanwhile. See `Store.delete_rooms`."""
        work = partial(lists.delete_rooms, term=term, before=before, limit=limit)
        return await self._write(lambda: self._committer.transact(work))

    async def compact(self) -> Compacted | Unavailable:
        """Give the space of deleted rooms back to the disk. Appends wait. It needs free space as large as the file."""
        return await self._write(lambda: self._committer.outside(partial(_compact, self._file.path)))

    async def backup(self, target: Path) -> Unavailable | None:
        """Write a copy of the file at this moment to `target`, which must not exist. The server goes on meanwhile."""
        if self._is_closed:
            return _CLOSED
        return await back_up(self._file.path, target)

    async def close(self) -> None:
        """Commit the work that was begun, then close the file. Later calls are `Unavailable`."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._groups.done()
        await asyncio.to_thread(self._writer.shutdown)
        await super().close()
        await asyncio.to_thread(self._file.close)

    def _commit(self, group: Sequence[Prepared]) -> list[AppendAnswer]:
        began = perf_counter()
        answers = self._committer.commit(group)
        self.commits.count(len(group), perf_counter() - began)
        return answers

    async def _write(self, work: Callable[[], T | Unavailable]) -> T | Unavailable:
        if self._is_closed:
            return _CLOSED
        done = await asyncio.get_running_loop().run_in_executor(self._writer, work)
        self._see_whether_lost()
        return done

    def _see_whether_lost(self) -> None:
        if self._committer.is_lost:
            self._lost.set()


async def open_store(path: Path, page_limit: int | None = None) -> SqliteStore | OpenRefused:
    """Open the store for the one server that writes it; make the file where there is none.

    The time does not depend on how much is stored. `page_limit` limits the file to that many pages of 4096 bytes; when
    it is full, appends are `Unavailable`, as on a full disk. The file must be on a local disk.
    """
    return await asyncio.to_thread(_open_store, path, page_limit, asyncio.get_running_loop())


async def open_reader(path: Path) -> SqliteReader | OpenRefused:
    """Open the file only for reading. A server may write it at the same time."""
    return await asyncio.to_thread(_open_reader, path)


async def new_identity(path: Path) -> StoreId | OpenRefused:
    """Give the file a new identity, so that all earlier cursors are refused. No server may have it open."""
    return await asyncio.to_thread(_new_identity, path)


async def back_up(path: Path, target: Path) -> Unavailable | None:
    """Write a copy of the store at this moment to `target`, which must not exist, also while a server writes it.

    The copy has a new identity, because from now on its events may differ from those of the original.
    """
    return await asyncio.to_thread(_back_up, path, target)


def _open_store(path: Path, page_limit: int | None, loop: asyncio.AbstractEventLoop) -> SqliteStore | OpenRefused:
    file = opening.open_for_writing(path, page_limit)
    if not isinstance(file, OpenFile):
        return file
    opened = _readers(path)
    if isinstance(opened, _Readers):
        return SqliteStore(file, opened.identity, opened.connections, loop)
    file.close()
    return opened


def _open_reader(path: Path) -> SqliteReader | OpenRefused:
    opened = _readers(path)
    return SqliteReader(opened.identity, opened.connections) if isinstance(opened, _Readers) else opened


def _new_identity(path: Path) -> StoreId | OpenRefused:
    file = opening.open_for_writing(path, page_limit=None)
    if not isinstance(file, OpenFile):
        return file
    try:
        return schema.stamp(file.db)
    except schema.FILE_ERRORS as error:
        return OutOfReach(path, str(error))
    finally:
        file.close()


@final
@dataclass(frozen=True, slots=True)
class _Readers:
    identity: StoreId
    connections: tuple[sqlite3.Connection, ...]


def _readers(path: Path) -> _Readers | OpenRefused:
    connections: list[sqlite3.Connection] = []
    for _ in range(_READERS):
        opened = opening.open_for_reading(path)
        if not isinstance(opened, sqlite3.Connection):
            return _let_go(connections, opened)
        connections.append(opened)
    try:
        identity = schema.identity(connections[0])
    except schema.FILE_ERRORS as error:
        return _let_go(connections, DamagedFile(path, str(error)))
    if identity is None:
        return _let_go(connections, DamagedFile(path, _NO_IDENTITY))
    return _Readers(identity, tuple(connections))


def _let_go(connections: list[sqlite3.Connection], refused: OpenRefused) -> OpenRefused:
    for db in connections:
        db.close()
    return refused


def _compact(path: Path, db: sqlite3.Connection) -> Compacted:
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.stat().st_size
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Compacted(before, path.stat().st_size)


def _back_up(path: Path, target: Path) -> Unavailable | None:
    if target.exists():
        return Unavailable(f"{target} exists already and was left alone: name another file")
    source = opening.open_for_reading(path)
    if not isinstance(source, sqlite3.Connection):
        return Unavailable(advice(source))
    partial_copy = target.with_name(target.name + ".partial")
    try:
        _copy(source, partial_copy)
        partial_copy.rename(target)
        opening.sync_folder(target.parent)
    except (*schema.FILE_ERRORS, OSError) as error:
        partial_copy.unlink(missing_ok=True)
        return Unavailable(f"{target} could not be written ({error}): see to its folder and disk")
    finally:
        source.close()
    return None


def _copy(source: sqlite3.Connection, target: Path) -> None:
    target.unlink(missing_ok=True)
    opening.make_private(target)
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        source.backup(copy, pages=-1)  # in one step: with several, each commit by the server would restart the copy
        schema.stamp(copy)
    finally:
        copy.close()
