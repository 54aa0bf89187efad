"""The figures of a database for metrics: asked for at other times than a scrape, which no database can hold up."""

import asyncio
from time import monotonic

import pytest

from erqiwang_grpc.store import NOTHING, Appended, Version
from erqiwang_grpc.store.figures import Looked
from erqiwang_grpc.store.postgres import Address, PostgresStore
from erqiwang_grpc.store.postgres.connections import Connection, connect
from erqiwang_grpc.store.postgres.database_clock import DatabaseClock
from erqiwang_grpc.store.postgres.looking import Looking
from erqiwang_grpc.testing.cluster import Cluster
from tests.service.tables import served
from tests.service.test_metrics import port_of, scraped, text_of
from tests.store.contract import ROOM, batch
from tests.store.postgres.test_network import distant


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def looked(looking: Looking, db: Connection) -> Looked:
    await looking.look(db)
    found = looking.looked
    assert found is not None
    return found


async def test_the_oldest_transaction_that_has_written_is_found_also_by_a_role_that_may_not_look_at_others(
    cluster: Cluster, database: Address
) -> None:
    hand = Hand()
    async with cluster.superuser() as writer:
        await writer.execute("CREATE ROLE watcher LOGIN")
        watcher = await connect(cluster.address(database.url.rpartition("/")[2], user="watcher"))
        looking = Looking(DatabaseClock(), hand)
        assert (await looked(looking, watcher)).oldest_writer_seconds == 0
        async with writer.transaction():
            await writer.fetchval("SELECT 1")
            assert (await looked(looking, watcher)).oldest_writer_seconds == 0, "it has written nothing"
            await writer.fetchval("SELECT pg_current_xact_id()")
            hand.now += 500
            assert (await looked(looking, watcher)).oldest_writer_seconds == 0, (
                "nothing came after it that it could hold up"
            )
            async with cluster.superuser() as other:
                await other.fetchval("SELECT pg_current_xact_id()")
            assert (await looked(looking, watcher)).oldest_writer_seconds == 0, "seen for the first time"
            hand.now += 70
            found = await looked(looking, watcher)
            assert found.oldest_writer_seconds == 70
            assert (found.standbys, found.waits_for_standby) == (0, False)
            assert (found.lag_seconds, found.lag_bytes) == (None, None)
        hand.now += 10
        assert (await looked(looking, watcher)).oldest_writer_seconds == 0
        watcher.terminate()
        await writer.execute("DROP ROLE watcher")


async def test_a_role_that_may_look_knows_when_it_began(cluster: Cluster) -> None:
    looking = Looking(DatabaseClock(), Hand())
    async with cluster.superuser() as writer, cluster.superuser() as db, writer.transaction():
        await writer.fetchval("SELECT pg_current_xact_id()")
        assert 0 < (await looked(looking, db)).oldest_writer_seconds < 60


def seconds_ago(looking: Looking) -> float | None:
    return None if looking.looked is None else looking.looked.seconds_ago


async def test_what_was_told_gets_older(database: Address) -> None:
    hand = Hand()
    looking = Looking(DatabaseClock(), hand)
    assert seconds_ago(looking) is None
    db = await connect(database)
    assert (await looked(looking, db)).seconds_ago == 0
    hand.now += 61
    assert seconds_ago(looking) == 61
    db.terminate()


async def test_connections_in_use_and_commits_are_counted(store: PostgresStore) -> None:
    assert await store.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))
    figures = store.figures()
    assert (figures.connections_in_use, figures.connections_idle) == (0, 1)
    assert (sum(store.commits.seconds.classes), store.commits.sizes.sum) == (1, 1)

    async def in_use(_: Connection) -> int:
        return store.figures().connections_in_use

    found = await asyncio.gather(*(store._connections.read(in_use) for _ in range(3)))  # what is counted
    assert found[0] == 1
    after = store.figures()
    assert after.connections_in_use == 0
    assert after.connections_idle >= 1


async def test_a_database_that_hangs_holds_up_no_scrape(
    cluster: Cluster, database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with distant(cluster, database) as (node, proxy), served(store=node, metrics_port=0) as service:
        async with asyncio.timeout(60):
            while "erqiwang_database_standbys" not in await text_of(port_of(service)):  # noqa: ASYNC110  # no bell rings
                await asyncio.sleep(0.05)
        proxy.to_client = False
        hanging = asyncio.create_task(node.append(ROOM, NOTHING, batch(b"1")))
        began = monotonic()
        told = [await scraped(port_of(service)) for _ in range(3)]
        assert monotonic() - began < 5, "an answer of the database may take ten"
        ages = [each["erqiwang_database_looked_seconds",] for each in told]
        assert ages == sorted(ages)
        assert not hanging.done()
        monkeypatch.setattr("erqiwang_grpc.rpc.metrics._STALE_SECONDS", 0.0)
        stale = await scraped(port_of(service))
        assert ("erqiwang_database_looked_seconds",) in stale
        assert ("erqiwang_database_standbys",) not in stale, "what is old is not told"
        proxy.to_client = True
        await hanging
