"""Several nodes on one database: one of them wins, none of them waits for ever, and a feed passes nothing by."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Conflict,
    Cursor,
    Duplicate,
    Fed,
    Rewritten,
    RoomId,
    Unavailable,
    Version,
)
from erqiwang_grpc.store.batches import prepare
from erqiwang_grpc.store.postgres import Address, PostgresStore, statements
from erqiwang_grpc.store.postgres.connections import Connection, connect
from erqiwang_grpc.testing.cluster import Cluster
from tests.store.contract import FEED, FINISHED, OTHER, ROOM, batch, bodies, ended, fed, head, key, listed, summary
from tests.store.postgres.conftest import opened
from tests.store.postgres.test_lost import MINE, eventually, locked, name, one_that_waits


@asynccontextmanager
async def nodes(database: Address, count: int) -> AsyncIterator[list[PostgresStore]]:
    async with AsyncExitStack() as stack:
        opened_nodes = []
        for _ in range(count):
            node = await opened(database)
            stack.push_async_callback(node.close)
            opened_nodes.append(node)
        yield opened_nodes


@asynccontextmanager
async def connection(database: Address) -> AsyncIterator[Connection]:
    """A connection of another program, which may keep a transaction open as no node does."""
    db = await connect(database)
    try:
        yield db
    finally:
        db.terminate()


async def test_nodes_that_open_an_empty_database_together_make_it_once(
    database: Address, caplog: pytest.LogCaptureFixture
) -> None:
    made = await asyncio.gather(*(opened(database) for _ in range(5)))
    assert len({node.identity for node in made}) == 1
    assert "database away" not in caplog.messages, "nobody was in the other's way"
    for node in made:
        await node.close()


async def test_one_node_reads_what_the_other_was_just_told(database: Address) -> None:
    async with nodes(database, 2) as (one, two):
        for version in range(20):
            assert await one.append(ROOM, Version(version), batch(b"%d" % version)) == Appended(Version(version + 1))
            assert await head(two, ROOM) == version + 1


@pytest.mark.parametrize("expected", [NOTHING, Version(1)])
async def test_of_nodes_that_write_one_room_at_once_one_wins(database: Address, expected: Version) -> None:
    async with nodes(database, 3) as all_nodes:
        for number in range(30):
            room = RoomId(f"room {number}")
            if expected:
                await all_nodes[0].append(room, NOTHING, batch(b"0"))
            answers = await asyncio.gather(*(node.append(room, expected, batch(b"x")) for node in all_nodes))
            assert sorted(map(repr, answers)) == sorted(
                map(repr, [Appended(Version(expected + 1)), *[Conflict(Version(expected + 1))] * 2])
            )


@pytest.mark.parametrize("expected", [NOTHING, Version(1)])
async def test_a_command_sent_to_all_nodes_at_once_is_carried_out_once(database: Address, expected: Version) -> None:
    async with nodes(database, 3) as all_nodes:
        for number in range(30):
            room = RoomId(f"room {number}")
            if expected:
                await all_nodes[0].append(room, NOTHING, batch(b"0"))
            sent = batch(b"x", command=key("once"))
            answers = await asyncio.gather(*(node.append(room, expected, sent) for node in all_nodes))
            known = Duplicate(Version(expected + 1), Version(expected + 1), b"print")
            assert sorted(map(repr, answers)) == sorted(map(repr, [Appended(known.last), known, known]))


async def test_groups_of_nodes_that_write_the_same_rooms_in_any_order_never_wait_for_each_other(
    database: Address,
) -> None:
    rooms = [RoomId(f"room {number}") for number in range(12)]
    async with nodes(database, 3) as all_nodes:

        async def write(node: PostgresStore, luck: Random) -> int:
            stored = 0
            for _ in range(15):
                at = {room: await head(node, room) for room in luck.sample(rooms, len(rooms))}
                terms = (FINISHED,) if luck.random() < 0.3 else ()
                answers = await asyncio.gather(
                    *(
                        node.append(room, version, batch(b"x", summary=summary(*terms), feed=FEED))
                        for room, version in at.items()
                        if isinstance(version, int)
                    )
                )
                assert all(isinstance(answer, Appended | Conflict) for answer in answers), answers
                stored += sum(isinstance(answer, Appended) for answer in answers)
            return stored

        stored = await asyncio.gather(*(write(node, Random(seed)) for seed, node in enumerate(all_nodes * 2)))
        heads = [await head(all_nodes[0], room) for room in rooms]
        assert sum(version for version in heads if isinstance(version, int)) == sum(stored)
        assert len(await fed(all_nodes[0], limit=10_000)) == sum(stored)
    assert await deadlocks(database) == 0


async def test_groups_in_contrary_orders_lock_their_rooms_in_one_order(cluster: Cluster, database: Address) -> None:
    """Each group would hold a room that the other one wants, while a third writer holds the room between them."""
    rooms = [RoomId("a"), RoomId("b"), RoomId("c")]
    async with nodes(database, 2) as (one, two), cluster.superuser() as db:
        await asyncio.gather(*(one.append(room, NOTHING, batch(b"1")) for room in rooms))
        writing = []
        async with locked(cluster, database, rooms[1]):
            for node, order in ((one, rooms), (two, rooms[::-1])):
                writing += [asyncio.create_task(node.append(room, Version(1), batch(b"2"))) for room in order]
            await eventually(lambda: do_so_many_wait(db, database, 2))
        answers = await asyncio.gather(*writing)
        assert [type(answer) for answer in answers].count(Appended) == 3
        assert [type(answer) for answer in answers].count(Conflict) == 3
    assert await deadlocks(database) == 0


async def do_so_many_wait(db: Connection, database: Address, number: int) -> bool:
    """Whether so many processes of nodes wait for a lock."""
    waiting = f"SELECT count(*) FROM pg_stat_activity WHERE {MINE} AND wait_event_type = 'Lock'"
    found: int = await db.fetchval(waiting, name(database))
    return found == number


async def deadlocks(database: Address) -> int:
    """How many deadlocks there were. All nodes must be closed."""
    async with connection(database) as db:
        # A process of the server counts for itself, and tells what it has counted at its end at the latest.
        await eventually(lambda: is_alone(db))
        found: int = await db.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return found


async def is_alone(db: Connection) -> bool:
    """Whether no other process of the server is at this database."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    found: int = await db.fetchval(others)
    return found == 0


async def test_a_summary_made_anew_while_others_write_ends_in_the_right_lists(database: Address) -> None:
    async with nodes(database, 2) as (one, two):
        for number in range(20):
            room = RoomId(f"room {number}")
            await one.append(room, NOTHING, batch(b"1"))
            made, appended = await asyncio.gather(
                one.summarise(room, Version(1), summary(FINISHED)),
                two.append(room, Version(1), batch(b"2", summary=summary(FINISHED, ended=3))),
            )
            assert isinstance(made, Rewritten | Conflict)
            assert appended == Appended(Version(2))
        assert len((await listed(one, FINISHED)).rooms) == 20


async def test_rooms_deleted_by_two_nodes_at_once_are_gone_once(database: Address) -> None:
    async with nodes(database, 2) as all_nodes:
        for number in range(40):
            await all_nodes[0].append(RoomId(f"room {number}"), NOTHING, ended(b"1", time=1))
        gone = await asyncio.gather(*(node.delete_rooms(FINISHED, ended(b"1", time=9).time, 30) for node in all_nodes))
        named = [room for each in gone if isinstance(each, tuple) for room in each]
        assert len(named) == len(set(named)) == 40


async def test_a_room_that_is_written_while_it_is_deleted_stays(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    await store.append(ROOM, NOTHING, ended(b"1", time=1))
    async with cluster.superuser() as db, connection(database) as late:
        transaction = late.transaction()
        await transaction.start()
        again = batch(b"2", summary=summary(FINISHED))
        assert await statements.append(late, [prepare(ROOM, Version(1), again)]) == {0}
        deleting = asyncio.create_task(store.delete_rooms(FINISHED, ended(b"1", time=9).time, 10))
        await one_that_waits(db, database, "Lock")
        await transaction.commit()
        assert await deleting == ()
    assert await bodies(store, ROOM) == [b"1", b"2"]


# Feeds


async def test_a_batch_that_is_committed_late_is_not_passed_by(store: PostgresStore, database: Address) -> None:
    async with connection(database) as late:
        transaction = late.transaction()
        await transaction.start()
        assert await statements.append(late, [prepare(ROOM, NOTHING, batch(b"late", feed=FEED))]) == {0}
        assert await store.append(OTHER, NOTHING, batch(b"early", feed=FEED)) == Appended(Version(1))
        assert await fed(store) == (), "what may still be committed stands before it"
        latest = await store.latest()
        assert not isinstance(latest, Unavailable)
        await transaction.commit()
        whole = await fed(store)
        assert [each.entries[0].body for each in whole] == [b"late", b"early"]
        assert await fed(store, latest) == whole


async def test_a_batch_that_is_never_committed_holds_nothing_up(store: PostgresStore, database: Address) -> None:
    async with connection(database) as late:
        transaction = late.transaction()
        await transaction.start()
        assert await statements.append(late, [prepare(ROOM, NOTHING, batch(b"late", feed=FEED))]) == {0}
        await store.append(OTHER, NOTHING, batch(b"early", feed=FEED))
        await transaction.rollback()
        assert [each.entries[0].body for each in await fed(store)] == [b"early"]
        assert await bodies(store, ROOM) == []


async def test_a_follower_misses_nothing_whatever_is_committed_when(database: Address) -> None:
    luck = Random(3)
    async with nodes(database, 3) as all_nodes, AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(connection(database)) for _ in range(4)]
        rooms = iter(RoomId(f"room {number}") for number in range(10_000))

        async def hurry(node: PostgresStore) -> None:
            for _ in range(40):
                assert await node.append(next(rooms), NOTHING, batch(b"x", feed=FEED)) == Appended(Version(1))

        async def dawdle(db: Connection) -> None:
            for _ in range(10):
                async with db.transaction():
                    await statements.append(db, [prepare(next(rooms), NOTHING, batch(b"x", feed=FEED))])
                    await asyncio.sleep(luck.uniform(0, 0.03))  # the time that its commit is late

        writing = asyncio.gather(*map(hurry, all_nodes), *map(dawdle, slow))
        seen: list[Fed] = []
        after: Cursor = START
        async with asyncio.timeout(60):
            while len(seen) < 160:
                page = await fed(all_nodes[0], after, limit=7)
                seen += page
                after = page[-1].cursor if page else after
        await writing
        assert tuple(seen) == await fed(all_nodes[0], limit=1_000)
