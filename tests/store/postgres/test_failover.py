"""A primary that is lost, and its synchronous standby in its place: nothing answered is lost, and nothing lost was answered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Duplicate,
    Moment,
    NodeLeft,
    Page,
    RoomId,
    Search,
    SideMessage,
    Unavailable,
    Unsure,
    Version,
)
from erqiwang_grpc.store.postgres import Address, PostgresStore, connections
from erqiwang_grpc.store.postgres.connections import Connection
from erqiwang_grpc.store.wakeup import Bell
from erqiwang_grpc.testing.cluster import Cluster
from erqiwang_grpc.testing.pair import Pair, paired
from erqiwang_grpc.testing.proxy import proxied
from tests.store.contract import EVER, FEED, FINISHED, ONE, OTHER, ROOM, all_heard, batch, bodies, fed, key, summary
from tests.store.postgres.conftest import opened
from tests.store.postgres.programs import needed
from tests.store.postgres.test_lost import PATIENCE, burn, is_set, one_that_waits, without_standby

DATABASE = "play"
LOST = RoomId("lost")


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    async with paired(needed()) as made:
        async with made.primary.superuser() as db:
            await db.execute(f"CREATE DATABASE {DATABASE}")
        yield made


@pytest.fixture
async def nodes(pair: Pair) -> AsyncIterator[list[PostgresStore]]:
    """Two nodes that know both servers."""
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(2):
            made.append(await opened(pair.address(DATABASE)))
            stack.push_async_callback(made[-1].close)
        yield made


async def failed_over(pair: Pair) -> None:
    """What the standby has not been sent by now is lost."""
    pair.link.cut()
    await pair.kill_primary()
    await pair.fail_over()
    pair.link.to_client = True


@asynccontextmanager
async def unanswered(pair: Pair) -> AsyncIterator[None]:
    """Nothing that the primary writes reaches the standby."""
    pair.link.to_client = False
    try:
        yield
    finally:
        pair.link.to_client = True


async def wound(pair: Pair, node: PostgresStore, how: str, room: RoomId = LOST) -> None:
    """Append to a room, and end the wait for the standby: the primary shows it, and the standby has it not."""
    async with pair.primary.superuser() as db:
        appending = asyncio.create_task(node.append(room, NOTHING, batch(b"1", command=key("c"), feed=FEED)))
        database = Address(f"postgresql://localhost/{DATABASE}")
        await db.execute(f"SELECT {how}($1)", await one_that_waits(db, database, "SyncRep"))
        answer = await appending
        assert isinstance(answer, Unsure), answer


async def test_a_failover_loses_nothing_that_was_answered_and_needs_no_restart(
    pair: Pair, nodes: list[PostgresStore]
) -> None:
    stored: dict[RoomId, list[bytes]] = {RoomId(f"room {number}"): [] for number in range(8)}
    ending = asyncio.Event()
    answered = asyncio.Event()

    async def write(node: PostgresStore, room: RoomId) -> None:
        number = 0
        while not ending.is_set():
            at = await node.read(room)
            if not isinstance(at, tuple):
                await asyncio.sleep(0.05)
                continue
            number += 1
            body = b"%d" % number
            answer = await node.append(room, Version(len(at)), batch(body))
            if isinstance(answer, Appended):
                stored[room].append(body)
                answered.set()

    async with asyncio.TaskGroup() as writing:
        for number, room in enumerate(stored):
            writing.create_task(write(nodes[number % 2], room))
        for _ in range(3):
            await asyncio.sleep(0.3)
            await pair.kill_primary()
            began = asyncio.get_running_loop().time()
            await pair.fail_over()
            answered.clear()
            await pair.make_standby()
            await asyncio.wait_for(answered.wait(), PATIENCE)
            took = asyncio.get_running_loop().time() - began
            assert took < 20, "seconds, with the making of a new standby"
        ending.set()
    for room, told in stored.items():
        assert told
        found = await bodies(nodes[0], room)
        assert [body for body in found if body in told] == told
    assert [node.outage for node in nodes] == [None, None]


@pytest.mark.parametrize("how", ["pg_terminate_backend", "pg_cancel_backend"])
async def test_what_only_a_lost_primary_had_was_told_by_no_node(
    pair: Pair, nodes: list[PostgresStore], how: str
) -> None:
    one, two = nodes
    await one.append(ROOM, NOTHING, batch(b"1", summary=summary(FINISHED), feed=FEED))
    assert await bodies(two, ROOM) == [b"1"]
    pair.link.to_client = False
    await wound(pair, one, how)
    search = Search((FINISHED,), Moment.CREATED, EVER)
    async with asyncio.TaskGroup() as asking:
        reads = [asking.create_task(node.read(LOST)) for node in nodes]
        firsts = [asking.create_task(node.first(LOST)) for node in nodes]
        feeds = [asking.create_task(node.feed(FEED, START, 10)) for node in nodes]
        latest = [asking.create_task(node.latest()) for node in nodes]
        lists = [asking.create_task(node.summaries(search, 10)) for node in nodes]
        await asyncio.sleep(0.5)
        assert not any(each.done() for each in (*reads, *firsts, *feeds, *latest, *lists))
        # A room without news is told all the same.
        assert await two.read(ROOM, Version(1)) == ()
        await failed_over(pair)
        await pair.make_standby()
    for read in reads:
        assert read.result() == () or isinstance(read.result(), Unavailable)
    for first in firsts:
        assert first.result() is None or isinstance(first.result(), Unavailable)
    for page in feeds:
        whole = page.result()
        assert isinstance(whole, tuple | Unavailable)
        assert isinstance(whole, Unavailable) or [each.entries[0].room for each in whole] == [ROOM]
    for listed in lists:
        assert isinstance(listed.result(), Page | Unavailable)
    assert await one.append(LOST, NOTHING, batch(b"2", command=key("c"))) == Appended(Version(1))
    assert await bodies(two, LOST) == [b"2"]


async def test_what_a_standby_has_after_all_stands_once(pair: Pair, nodes: list[PostgresStore]) -> None:
    one, two = nodes
    async with unanswered(pair):
        await wound(pair, one, "pg_terminate_backend")
        reading = asyncio.create_task(two.read(LOST))
        await asyncio.sleep(0.2)
        assert not reading.done()
    pair.link.cut()
    await pair.streaming()
    entries = await reading
    assert isinstance(entries, tuple)
    assert [entry.body for entry in entries] == [b"1"]
    await failed_over(pair)
    await pair.make_standby()
    again = await one.append(LOST, NOTHING, batch(b"1", command=key("c"), feed=FEED))
    assert again == Duplicate(Version(1), Version(1), b"print")
    assert await bodies(two, LOST) == [b"1"]


async def test_a_place_in_a_feed_stays_behind_what_is_written_after_a_failover(
    pair: Pair, nodes: list[PostgresStore]
) -> None:
    """The new primary gives numbers of transactions again that the old one had given and not yet sent."""
    await nodes[0].append(ROOM, NOTHING, batch(b"1", feed=FEED))
    async with pair.primary.superuser(DATABASE) as db:
        pair.link.to_client = False
        await burn(db, 200)
        asking = asyncio.create_task(nodes[1].latest())
        await asyncio.sleep(0.3)
        assert not asking.done()
    await failed_over(pair)
    await pair.make_standby()
    latest = await asking
    while isinstance(latest, Unavailable):
        latest = await nodes[1].latest()
    assert await nodes[0].append(OTHER, NOTHING, batch(b"2", feed=FEED)) == Appended(Version(1))
    assert [each.entries[0].body for each in await fed(nodes[1], latest)] == [b"2"]


async def next_number(db: Connection) -> int:
    number: int = await db.fetchval("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    return number


async def test_one_write_serves_all_that_was_read_before_it(pair: Pair, nodes: list[PostgresStore]) -> None:
    rooms = [RoomId(f"room {number}") for number in range(50)]
    await asyncio.gather(*(nodes[0].append(room, NOTHING, batch(b"1")) for room in rooms))
    async with pair.primary.superuser() as db:
        before = await next_number(db)
        assert all(await asyncio.gather(*(nodes[1].read(room) for room in rooms)))
        after = await next_number(db)
        assert 1 <= after - before <= 25
        assert all(await asyncio.gather(*(nodes[1].read(room) for room in rooms)))
        assert await next_number(db) == after, "this is known by now"


async def test_where_no_commit_waits_for_a_standby_reading_writes_nothing(
    cluster: Cluster, store: PostgresStore
) -> None:
    await store.append(ROOM, NOTHING, batch(b"1", feed=FEED))
    async with cluster.superuser() as db:
        before = await next_number(db)
        assert await bodies(store, ROOM) == [b"1"]
        assert len(await fed(store)) == 1
        assert await next_number(db) == before


async def test_a_node_says_at_its_start_whether_commits_wait_for_a_standby(
    cluster: Cluster, database: Address, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async def told() -> object:
        caplog.clear()
        await (await opened(database)).close()
        (record,) = [record for record in caplog.records if record.message == "database reached"]
        return record.__dict__["waits_for_standby"]

    assert await told() is False
    async with cluster.superuser() as db:
        await (await opened(database)).close()  # its tables are made: from now on nothing has to be written
        async with without_standby(db):
            async with asyncio.timeout(PATIENCE):
                while not await is_set(db):  # noqa: ASYNC110 - it rings no bell
                    await asyncio.sleep(0.01)
            assert await told() is True


async def test_a_host_that_does_not_answer_delays_nobody_for_long(cluster: Cluster, database: Address) -> None:
    async with proxied(cluster.port) as gone:
        gone.to_server = False
        hosts = f"127.0.0.1:{gone.port},127.0.0.1:{cluster.port}"
        began = asyncio.get_running_loop().time()
        node = await opened(cluster.address(database.url.rpartition("/")[2], hosts=hosts))
        assert await node.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))
        assert asyncio.get_running_loop().time() - began < 4, "three connections, and not 5 seconds for each"
        await node.close()


async def test_while_the_standby_is_away_one_commit_waits_for_it_and_all_others_are_refused(
    pair: Pair, nodes: list[PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every write that is given up leaves a process in the server: they would use up its connections."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.5)
    node = nodes[0]
    await node.append(ROOM, NOTHING, batch(b"1"))
    async with pair.primary.superuser() as db:
        pair.link.to_client = False
        sent = batch(b"1", command=key("c"))
        assert isinstance(await node.append(LOST, NOTHING, sent), Unsure)
        assert "standby" in (node.outage or "")
        for _ in range(40):
            assert isinstance(await node.append(OTHER, NOTHING, batch(b"1")), Unavailable)
            assert isinstance(await node.summarise(ROOM, Version(1), summary(FINISHED)), Unavailable)
            assert await node.read(ROOM, Version(1)) == ()
            await asyncio.sleep(0.1)
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'erqiwang'"
        assert await db.fetchval(waiting) == 1, "that commit"
        pair.link.to_client = True
        pair.link.cut()
        await pair.streaming()
        async with asyncio.timeout(PATIENCE):
            while node.outage is not None:  # noqa: ASYNC110 - it rings no bell
                await asyncio.sleep(0.05)
    monkeypatch.undo()
    assert await node.append(LOST, NOTHING, sent) == Duplicate(Version(1), Version(1), b"print")
    assert await node.append(OTHER, NOTHING, batch(b"1")) == Appended(Version(1))


async def test_hints_and_side_messages_wait_for_no_standby(pair: Pair, nodes: list[PostgresStore]) -> None:
    one, two = nodes
    for node in nodes:
        await node.notifications.is_connected.wait()
    hints: list[tuple[RoomId, Version]] = []
    messages: list[SideMessage] = []
    bell = Bell()
    async with unanswered(pair), asyncio.timeout(5):
        with (
            two.wakeup.listen(lambda *hint: hints.append(hint)),
            two.wakeup.listen(bell.ring),
            two.side_messages.listen(messages.append),
        ):
            one.wakeup.hint(ROOM, Version(1))
            while not hints:
                await bell.wait()
            one.side_messages.say(NodeLeft(ONE))
            await all_heard(messages, 1)
    assert (hints, messages) == ([(ROOM, Version(1))], [NodeLeft(ONE)])


async def test_a_write_that_a_lost_server_is_not_at_any_more_holds_nothing_up_for_long(
    pair: Pair, nodes: list[PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.5)
    node = nodes[0]
    pair.link.to_client = False
    assert isinstance(await node.append(LOST, NOTHING, batch(b"1")), Unsure)
    await failed_over(pair)
    await pair.make_standby()
    monkeypatch.undo()
    async with asyncio.timeout(PATIENCE):
        while isinstance(await node.append(LOST, NOTHING, batch(b"2")), Unavailable):  # noqa: ASYNC110 - it rings no bell
            await asyncio.sleep(0.05)
    assert await bodies(nodes[1], LOST) == [b"2"]
