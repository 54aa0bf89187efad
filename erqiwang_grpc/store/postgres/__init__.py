"""The store in a PostgreSQL database, which any number of equal nodes share.

`opening` reaches the database and makes the tables of `schema`, `connections` keeps the
connections and makes lost ones again, `committing` gathers appends into one statement, `standby` knows what may be
answered, `statements` and `lists` hold the statements, `wakeup` and `side_messages` tell other nodes over the connection of
`notifications`, which also looks at `database_clock`, seeks the `house_lock` and asks for figures in `looking`, and `failures` says what an error means.
`moving` takes a store to another engine and makes a copied database a store of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Final, TypeVar, final

from erqiwang_grpc.store import batches
from erqiwang_grpc.store.address import Address, is_url
from erqiwang_grpc.store.figures import Commits, DatabaseFigures
from erqiwang_grpc.store.pages import OutOfOrderError
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
from erqiwang_grpc.store.postgres import lists, opening, standby, statements
from erqiwang_grpc.store.postgres.committing import Committer, WriteFailed
from erqiwang_grpc.store.postgres.connections import Connection, Connections
from erqiwang_grpc.store.postgres.database_clock import DatabaseClock
from erqiwang_grpc.store.postgres.house_lock import HouseLock
from erqiwang_grpc.store.postgres.looking import Looking
from erqiwang_grpc.store.postgres.notifications import Notifications
from erqiwang_grpc.store.postgres.opening import (
    Copied,
    NewerSchema,
    NotAStore,
    NotPrepared,
    OlderServer,
    OpenRefused,
    OutOfReach,
    Pooled,
    Served,
    Taken,
    Unclear,
    UnfinishedMove,
    advice,
)
from erqiwang_grpc.store.postgres.side_messages import PostgresSideMessages
from erqiwang_grpc.store.postgres.standby import Seen, Standby
from erqiwang_grpc.store.postgres.statements import Again
from erqiwang_grpc.store.postgres.wakeup import PostgresWakeup

__all__ = [
    "PATIENCE",
    "Address",
    "Copied",
    "NewerSchema",
    "NotAStore",
    "NotPrepared",
    "OlderServer",
    "OpenRefused",
    "OutOfReach",
    "Pooled",
    "PostgresSideMessages",
    "PostgresStore",
    "PostgresWakeup",
    "Served",
    "Taken",
    "Unclear",
    "UnfinishedMove",
    "advice",
    "is_url",
    "open_store",
]

T = TypeVar("T")

PATIENCE: Final = 30.0
"""Seconds that a starting node waits for a database that is away."""
_ATTEMPTS: Final = 8
_CLOSED: Final = Unavailable("this store is closed: open it again")
_OUT_OF_ORDER: Final = Unavailable("an index of the database is out of order: REINDEX it, and see to its disk")
_CHANGING: Final = Unavailable("another server is the primary now: try it again")
_READS: Final = 3
"""Most times that something is read. It is read again after a failover, which may have come without what was read."""
_BUSY: Final = Unavailable("other nodes write this room all the time: try it again")


@final
class PostgresStore:
    """`Store` in a database that other nodes may write too. Use it only in the event loop that opened it."""

    shared: Final = True

    def __init__(self, identity: StoreId, connections: Connections) -> None:
        rung = asyncio.Event()
        self.wakeup = PostgresWakeup(rung)
        """Hints from and to the other nodes."""
        clock = DatabaseClock()
        self.side_messages = PostgresSideMessages(rung, clock)
        """Side messages from and to the other nodes."""
        self._house_lock = HouseLock()
        channels = (self.wakeup, self.side_messages)
        self._looking = Looking(clock)
        errands = (clock.look, self._house_lock.seek, self._looking.look)
        self.notifications = Notifications(connections.another, connections.heal, rung, channels, errands)
        """The connection over which both travel."""
        self._identity = identity
        self._connections = connections
        self.commits = Commits()
        """The commits of this node."""
        self._committer = Committer(connections, self.commits)
        self._standby = Standby(partial(self._committer.write, standby.confirm))
        self._is_closed = False

    @property
    def identity(self) -> StoreId:
        """The identity of this store."""
        return self._identity

    @property
    def outage(self) -> str | None:
        """Why the database is away; None if it is not."""
        return self._connections.outage or self._committer.outage

    @property
    def keeps_house(self) -> bool:
        """Whether this node has the lock of the one that keeps house."""
        return self._house_lock.is_held

    def figures(self) -> DatabaseFigures:
        """The figures of this node's connections now, and what the database said when it was last asked."""
        connections = self._connections
        return DatabaseFigures(connections.in_use, connections.idle, self._looking.looked)

    async def faults(self) -> tuple[str, ...] | Unavailable:
        """The faults of the tables outside of rooms. This reads a whole table."""
        return await self._connections.read(lists.faults)

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        """Append `batch` after version `expected` of the room. See `Store.append`.

        Raises `ValueError` for text that is not valid Unicode, and `OverflowError` for numbers over 63 bits.
        """
        if self._is_closed:
            return _CLOSED
        return await self._committer.append(batches.prepare(room, expected, batch))

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        """The entries of the room with versions above `after`. See `StoreReader.read`."""
        return await self._read(partial(statements.read, room=room, after=after))

    async def first(self, room: RoomId) -> Entry | Damaged | Unavailable | None:
        """The first entry of the room. See `StoreReader.first`."""
        return await self._look(partial(statements.first, room=room))

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """The next rooms in order of id, at most `limit`. See `StoreReader.rooms`."""
        try:
            return await self._look(partial(lists.rooms, after=after, limit=limit))
        except OutOfOrderError:
            return _OUT_OF_ORDER

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        """The next batches of a feed in commit order, at most `limit`. See `StoreReader.feed`."""
        try:
            return await self._look(partial(lists.feed, feed=feed, after=after, limit=limit))
        except OutOfOrderError:
            return _OUT_OF_ORDER

    async def latest(self) -> Cursor | Unavailable:
        """The cursor after everything that `feed` gives by now."""
        why = _CHANGING
        for _ in range(_READS):
            try:
                return await self._committer.write(lists.latest)
            except WriteFailed as failed:
                why = Unavailable(str(failed))
                if not failed.is_unsure:
                    break
        return why

    async def summary(self, room: RoomId) -> Listed | Damaged | Unavailable | None:
        """The room's summary, checked against its head. See `StoreReader.summary`."""
        return await self._look(partial(statements.summary, room=room))

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor | Unavailable:
        """A page of a list, at most `limit` rooms, newest first. See `StoreReader.summaries`."""
        try:
            return await self._look(partial(lists.summaries, search=search, limit=limit, after=after))
        except OutOfOrderError:
            return _OUT_OF_ORDER

    async def summarise(
        self, room: RoomId, expected: Version, summary: Summary
    ) -> Rewritten | Conflict | Damaged | Unavailable:
        """Replace the room's summary. See `Store.summarise`."""
        work = partial(statements.summarise, room=room, expected=expected, summary=summary)
        try:
            for _ in range(_ATTEMPTS):
                written = await self._committer.write(work)
                if not isinstance(written, Again):
                    return written
        except WriteFailed as failed:
            return Unavailable(str(failed))
        return _BUSY

    async def delete_rooms(self, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...] | Unavailable:
        """Delete at most `limit` rooms. See `Store.delete_rooms`."""
        try:
            return await self._committer.write(partial(lists.delete_rooms, term=term, before=before, limit=limit))
        except WriteFailed as failed:
            return Unavailable(str(failed))

    async def _look(self, query: Callable[[Connection], Coroutine[object, object, T]]) -> T | Unavailable:
        """The answer to a query, once the standby has everything that was committed by then."""
        return await self._read(partial(standby.seen, query=query))

    async def _read(self, query: Callable[[Connection], Coroutine[object, object, Seen[T]]]) -> T | Unavailable:
        """The answer to a query, once the standby has what it shows. It is asked again after a failover."""
        why = _CHANGING
        for _ in range(_READS):
            seen = await self._connections.read(query)
            if isinstance(seen, Unavailable):
                return seen
            try:
                if await self._standby.has(seen):
                    return seen.answer
            except WriteFailed as failed:
                why = Unavailable(str(failed))
        return why

    async def close(self) -> None:
        """Finish the appends that were begun, then close all connections. Later calls are `Unavailable`."""
        if self._is_closed:
            return
        self._is_closed = True
        await self.notifications.close()
        await self._committer.finish()
        await self._connections.close()


async def open_store(
    address: Address, patience: float = PATIENCE, *, makes: bool = True
) -> PostgresStore | OpenRefused:
    """Open the database. Makes its tables, or brings them to this program's version, if `makes`.

    Waits for a database that cannot be reached, `patience` seconds at most. Any number of nodes may have it open.
    """
    reached = await opening.reach(address, patience, makes=makes)
    if not isinstance(reached, opening.Reached):
        return reached
    return on(address, reached)


def on(address: Address, reached: opening.Reached) -> PostgresStore:
    """The store in a database that was reached."""
    connections = Connections(address, reached.identity, reached.db)
    return PostgresStore(reached.identity, connections)
