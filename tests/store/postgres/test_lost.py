"""A database that goes away: before, in and after a commit, for a moment or for longer, and for writers alone."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Conflict,
    Duplicate,
    Moment,
    RoomId,
    Search,
    Unavailable,
    Unsure,
    Version,
)
from erqiwang_grpc.store.postgres import Address, PostgresStore
from erqiwang_grpc.store.postgres.connections import Connection, connect
from erqiwang_grpc.testing.cluster import Cluster
from tests.store.contract import EVER, FEED, FINISHED, OTHER, ROOM, batch, bodies, fed, head, key, summary
from tests.store.postgres.conftest import opened

PATIENCE = 30.0
MINE = "datname = $1 AND application_name = 'erqiwang'"


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await holds():  # noqa: ASYNC110 - it is the server that is asked, and it rings no bell
            await asyncio.sleep(0.01)


def name(database: Address) -> str:
    return database.url.rpartition("/")[2]


async def end_all(db: Connection, database: Address) -> int:
    """End every connection of the nodes."""
    ended = await db.fetch(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {MINE}", name(database))
    return len(ended)


async def waits(db: Connection, database: Address, event: str) -> int | None:
    """The process of a node that waits for something, if one does."""
    found: int | None = await db.fetchval(
        f"SELECT pid FROM pg_stat_activity WHERE {MINE} AND $2 IN (wait_event_type, wait_event)", name(database), event
    )
    return found


async def one_that_waits(db: Connection, database: Address, event: str) -> int:
    found: list[int] = []

    async def is_there() -> bool:
        process = await waits(db, database, event)
        found.extend([] if process is None else [process])
        return process is not None

    await eventually(is_there)
    return found[0]


@asynccontextmanager
async def locked(cluster: Cluster, database: Address, room: RoomId) -> AsyncIterator[None]:
    """Somebody else holds the row of a room."""
    async with cluster.superuser(name(database)) as other, other.transaction():
        await other.execute("SELECT FROM erqiwang.rooms WHERE room = $1 FOR UPDATE", room.encode())
        yield


@asynccontextmanager
async def without_standby(db: Connection) -> AsyncIterator[None]:
    """Every commit waits for a standby that is not there."""
    await db.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    await db.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        await db.execute("ALTER SYSTEM RESET synchronous_standby_names")
        await db.execute("SELECT pg_reload_conf()")


async def test_connections_that_were_ended_are_made_again_before_anybody_notices(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    await store.append(ROOM, NOTHING, batch(b"1"))
    async with cluster.superuser() as db:
        for version in range(1, 6):
            assert await end_all(db, database) >= 1
            assert await store.append(ROOM, Version(version), batch(b"x")) == Appended(Version(version + 1))
            assert store.outage is None
        await end_all(db, database)
        assert await head(store, ROOM) == 6


async def test_a_connection_that_ends_before_the_commit_leaves_the_append_unsure_and_nothing_stored(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    await store.append(ROOM, NOTHING, batch(b"1"))
    async with cluster.superuser() as db:
        async with locked(cluster, database, ROOM):
            appending = asyncio.create_task(store.append(ROOM, Version(1), batch(b"2", command=key("c"))))
            await db.execute("SELECT pg_terminate_backend($1)", await one_that_waits(db, database, "Lock"))
            assert isinstance(await appending, Unsure)
        assert await bodies(store, ROOM) == [b"1"]
        assert await store.append(ROOM, Version(1), batch(b"2", command=key("c"))) == Appended(Version(2))


async def test_a_commit_that_gives_up_waiting_for_its_standby_is_unsure_and_is_not_read_until_it_is_there(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    for number, how in enumerate(("pg_cancel_backend", "pg_terminate_backend")):
        room = RoomId(f"room {number}")
        async with cluster.superuser() as db:
            async with without_standby(db):
                await eventually(lambda: is_set(db))
                appending = asyncio.create_task(store.append(room, NOTHING, batch(b"1", command=key("c"))))
                await db.execute(f"SELECT {how}($1)", await one_that_waits(db, database, "SyncRep"))
                assert isinstance(await appending, Unsure)
                reading = asyncio.create_task(store.read(room))
                await one_that_waits(db, database, "SyncRep")
                assert not reading.done()
            entries = await reading
            assert isinstance(entries, tuple)
            assert [entry.body for entry in entries] == [b"1"]


async def is_set(db: Connection) -> bool:
    return bool(await db.fetchval("SHOW synchronous_standby_names"))


async def test_a_restart_of_the_database_costs_refusals_and_nothing_else(
    cluster: Cluster, store: PostgresStore
) -> None:
    for number, how in enumerate((signal.SIGINT, signal.SIGQUIT)):
        room = RoomId(f"room {number}")
        await store.append(room, NOTHING, batch(b"1"))
        cluster.stop(how)
        try:
            answers = await asyncio.gather(
                store.append(room, Version(1), batch(b"2")),
                store.read(room),
                store.first(room),
                store.summary(room),
                store.feed(FEED, START, 1),
                store.summaries(Search((FINISHED,), Moment.CREATED, EVER), 1),
                store.rooms(RoomId(""), 1),
                store.latest(),
                store.summarise(room, Version(1), summary()),
                store.delete_rooms(FINISHED, batch(b"1").time, 1),
            )
            assert all(isinstance(answer, Unavailable) for answer in answers), answers
            assert store.outage is not None
            assert "cannot be reached" in store.outage
            assert "see whether it is running" in store.outage
        finally:
            cluster.start()
        await eventually(lambda: is_back(store))
        assert await store.append(room, Version(1), batch(b"2")) == Appended(Version(2))
        await asyncio.wait_for(store.notifications.is_connected.wait(), PATIENCE)


async def is_back(store: PostgresStore) -> bool:
    return store.outage is None


async def can_be_read(store: PostgresStore) -> bool:
    return isinstance(await store.read(ROOM), tuple)


async def test_a_database_that_may_only_be_read_is_away_until_it_may_be_written(
    cluster: Cluster, store: PostgresStore
) -> None:
    await store.append(ROOM, NOTHING, batch(b"1"))
    async with cluster.superuser() as db:
        await db.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        await db.execute("SELECT pg_reload_conf()")
        try:
            await eventually(lambda: is_refused(store))
            await eventually(lambda: is_away(store))
            assert "none of the hosts in the URL may be written" in (store.outage or "")
        finally:
            await db.execute("SET default_transaction_read_only = off")
            await db.execute("ALTER SYSTEM RESET default_transaction_read_only")
            await db.execute("SELECT pg_reload_conf()")
        await eventually(lambda: is_back(store))
        at = await head(store, ROOM)
        assert isinstance(at, int)
        assert await store.append(ROOM, at, batch(b"x")) == Appended(Version(at + 1))


async def is_away(store: PostgresStore) -> bool:
    return store.outage is not None


async def is_refused(store: PostgresStore) -> bool:
    at = await store.read(ROOM)
    if not isinstance(at, tuple):
        return isinstance(at, Unavailable)
    return isinstance(await store.append(ROOM, Version(len(at)), batch(b"x")), Unavailable)


async def test_what_others_set_for_all_programs_cancels_no_append(cluster: Cluster, database: Address) -> None:
    async with cluster.superuser(name(database)) as db:
        for setting in ("statement_timeout = '1ms'", "lock_timeout = '1ms'", "synchronous_commit = off"):
            await db.execute(f"ALTER DATABASE {name(database)} SET {setting}")
        store = await opened(database)
        await store.append(ROOM, NOTHING, batch(b"1"))
        async with locked(cluster, database, ROOM):
            appending = asyncio.create_task(store.append(ROOM, Version(1), batch(b"2")))
            await one_that_waits(db, database, "Lock")
            await asyncio.sleep(0.1)
        assert await appending == Appended(Version(2))
        await store.close()
        own = await connect(database)
        assert await own.fetchval("SHOW synchronous_commit") == "on"
        own.terminate()


async def test_a_room_whose_append_the_database_refuses_takes_no_other_with_it(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    async with cluster.superuser(name(database)) as db:
        await db.execute("ALTER TABLE erqiwang.batches ADD CHECK (room <> 'room-1')")
    bad, good, also = await asyncio.gather(
        store.append(ROOM, NOTHING, batch(b"1")),
        store.append(OTHER, NOTHING, batch(b"1")),
        store.append(RoomId("also"), NOTHING, batch(b"1")),
    )
    assert isinstance(bad, Unavailable)
    assert (good, also) == (Appended(Version(1)), Appended(Version(1)))
    assert store.outage is None
    assert await store.append(OTHER, NOTHING, batch(b"1")) == Conflict(Version(1))


async def test_a_full_disk_refuses_appends_and_rooms_can_be_read(cluster: Cluster, database: Address) -> None:
    """A file that may not grow takes the first bytes of a page and then no more, like a disk that is full."""
    cluster.stop()
    cluster.start(largest_file=18 * 2**20 + 4096)  # more than a file of the write-ahead log has
    try:
        store = await opened(database)
        stored = NOTHING
        answer = await store.append(ROOM, NOTHING, batch(os.urandom(2**20)))
        while isinstance(answer, Appended):
            stored = answer.version
            assert stored < 40
            answer = await store.append(ROOM, stored, batch(os.urandom(2**20)))
        assert isinstance(answer, Unavailable), answer
        assert "no space is left on its disk" in answer.why
        assert await head(store, ROOM) == stored
        assert await store.append(OTHER, NOTHING, batch(b"a small one")) == Appended(Version(1))
        assert store.outage is None
    finally:
        cluster.stop()
        cluster.start()
    await eventually(lambda: can_be_read(store))
    assert await store.append(ROOM, stored, batch(os.urandom(2**20))) == Appended(Version(stored + 1))
    await store.close()


async def test_a_place_in_a_feed_stays_behind_what_is_written_after_a_crash(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    """A server that has crashed gives numbers of transactions again that it had given and not yet written down."""
    await store.append(ROOM, NOTHING, batch(b"1", feed=FEED))
    cluster.stop()
    cluster.start({"wal_writer_delay": "10s"})
    try:
        async with cluster.superuser(name(database)) as db:
            await eventually(lambda: is_back(store))
            await burn(db, 200)
            latest = await store.latest()
            assert not isinstance(latest, Unavailable)
            cluster.stop(signal.SIGKILL)
        cluster.start()
        await eventually(lambda: is_stored(store, OTHER))
        assert [each.entries[0].body for each in await fed(store, latest)] == [b"1"]
    finally:
        cluster.stop()
        cluster.start()


async def is_stored(store: PostgresStore, room: RoomId) -> bool:
    answer = await store.append(room, NOTHING, batch(b"1", command=key("c"), feed=FEED))
    return isinstance(answer, Appended | Duplicate)


async def burn(db: Connection, count: int) -> None:
    """Use up numbers of transactions that leave no trace, as notifications do."""
    for _ in range(count):
        transaction = db.transaction()
        await transaction.start()
        await db.execute("SELECT pg_current_xact_id()")
        await transaction.rollback()
