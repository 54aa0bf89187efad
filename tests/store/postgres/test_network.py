"""A network that loses what is said: what is not answered is in doubt, and nothing waits for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    AppendAnswer,
    Appended,
    Batch,
    Conflict,
    Duplicate,
    Unavailable,
    Unsure,
    Version,
)
from erqiwang_grpc.store.postgres import Address, PostgresStore, connections
from erqiwang_grpc.testing.cluster import Cluster
from erqiwang_grpc.testing.proxy import Proxy, proxied
from tests.store.contract import ROOM, batch, bodies, key
from tests.store.postgres.conftest import opened
from tests.store.postgres.test_lost import PATIENCE, eventually, is_back, name


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait long for an answer that does not come."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(connections, "_CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(connections, "_PATIENCE_SECONDS", 1.0)


@asynccontextmanager
async def distant(cluster: Cluster, database: Address) -> AsyncIterator[tuple[PostgresStore, Proxy]]:
    """A node whose connections run through a proxy."""
    async with proxied(cluster.port) as proxy:
        node = await opened(cluster.address(name(database), hosts=f"127.0.0.1:{proxy.port}"))
        try:
            yield node, proxy
        finally:
            await node.close()


async def answered(node: PostgresStore, expected: Version, sent: Batch) -> AppendAnswer:
    """What the node answers when the database is there again. On a busy machine that is late at first."""
    while True:
        answer = await node.append(ROOM, expected, sent)
        if not isinstance(answer, Unavailable):
            return answer
        await asyncio.sleep(0.05)


async def is_out_of_reach(node: PostgresStore) -> bool:
    return "it does not answer in time" in (node.outage or "")


async def stored_in(node: PostgresStore) -> list[bytes]:
    """The payloads of the room, once it can be read."""
    while True:
        entries = await node.read(ROOM)
        if isinstance(entries, tuple):
            return [entry.body for entry in entries]
        assert isinstance(entries, Unavailable)
        await asyncio.sleep(0.05)


async def test_an_answer_that_is_lost_leaves_an_append_in_doubt_that_stands(
    cluster: Cluster, database: Address
) -> None:
    async with distant(cluster, database) as (node, proxy):
        await node.append(ROOM, NOTHING, batch(b"1"))
        proxy.to_client = False
        sent = batch(b"2", command=key("c"))
        async with asyncio.timeout(PATIENCE):
            assert isinstance(await node.append(ROOM, Version(1), sent), Unsure)
            assert isinstance(await node.read(ROOM), Unavailable), "nobody knows what is there"
            proxy.to_client = True
            await eventually(lambda: is_back(node))
            assert await answered(node, Version(1), sent) == Duplicate(Version(2), Version(2), b"print")
            assert await stored_in(node) == [b"1", b"2"]


async def test_an_append_that_never_arrived_is_in_doubt_too_and_does_not_stand(
    cluster: Cluster, database: Address
) -> None:
    async with distant(cluster, database) as (node, proxy):
        await node.append(ROOM, NOTHING, batch(b"1"))
        proxy.to_server = False
        sent = batch(b"2", command=key("c"))
        async with asyncio.timeout(PATIENCE):
            assert isinstance(await node.append(ROOM, Version(1), sent), Unsure)
            assert isinstance(await node.append(ROOM, Version(1), sent), Unavailable), "nothing was sent"
            assert node.outage is not None
            await eventually(lambda: is_out_of_reach(node))
            proxy.to_server = True
            await eventually(lambda: is_back(node))
            assert await stored_in(node) == [b"1"]
            assert await answered(node, Version(1), sent) == Appended(Version(2))


async def test_connections_that_are_cut_again_and_again_cost_no_answered_append(
    cluster: Cluster, database: Address
) -> None:
    luck = Random(6)
    stored: list[bytes] = []
    doubtful: set[bytes] = set()
    async with distant(cluster, database) as (node, proxy):
        for number in range(1_000):
            if number >= 60 and doubtful:  # some were cut while they were under way
                break
            version = Version(len(await stored_in(node)))
            if luck.random() < 0.3:
                asyncio.get_running_loop().call_later(luck.uniform(0, 0.005), proxy.cut)
            body = b"%d" % number
            answer = await node.append(ROOM, version, batch(body))
            if isinstance(answer, Appended):
                stored.append(body)
            elif isinstance(answer, Unsure):
                doubtful.add(body)
            elif isinstance(answer, Conflict):
                assert doubtful, "a batch that was cut while it was under way is stored now"
            else:
                assert isinstance(answer, Unavailable), answer
        await eventually(lambda: is_back(node))
        found = await stored_in(node)
    assert [body for body in found if body not in doubtful] == stored
    assert doubtful


async def test_a_caller_that_leaves_cancels_no_statement(store: PostgresStore) -> None:
    await store.append(ROOM, NOTHING, batch(b"1"))
    for _ in range(20):
        leaving = [asyncio.create_task(store.read(ROOM)) for _ in range(8)]
        await asyncio.sleep(0)
        for each in leaving:
            each.cancel()
        assert await bodies(store, ROOM) == [b"1"]
    assert store.outage is None
