"""Wakeups between nodes: told once, in as few notifications as possible; forged or lost ones do no harm."""

import asyncio
import json

import pytest

from erqiwang_grpc.store import RoomId, Version
from erqiwang_grpc.store.postgres import Address, PostgresStore
from erqiwang_grpc.store.postgres.wakeup import CHANNEL, heard, payloads
from erqiwang_grpc.store.wakeup import Bell
from erqiwang_grpc.testing.cluster import Cluster
from tests.store.contract import OTHER, ROOM
from tests.store.postgres.conftest import opened

Hints = list[tuple[RoomId, Version]]


def test_what_is_told_is_heard_by_other_nodes_alone() -> None:
    due = {RoomId(name): Version(number) for number, name in enumerate(["a", "二七王", "\0", '"', "a b,c", "😀"])}
    (payload,) = payloads("one", due)
    assert payload.isascii()
    assert dict(heard("two", payload)) == due
    assert list(heard("one", payload)) == []


def test_many_hints_are_told_in_several_notifications_that_fit() -> None:
    due = {RoomId(f"room {number} 二七王"): Version(number) for number in range(2_000)} | {
        RoomId("x" * 9_000): Version(1)
    }
    told = payloads("one", due)
    assert all(len(payload.encode()) < 8_000 for payload in told)
    del due[RoomId("x" * 9_000)]
    assert {room: version for payload in told for room, version in heard("two", payload)} == due
    assert payloads("one", {}) == []


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "x",
        "{}",
        "[]",
        "null",
        '["two", 1, [1, 2], ["a"], ["a", "b"], ["a", 1, 2]]',
        '[["a", 1]]',
        "[" * 7_000,
        b"x",
    ],
)
def test_what_is_no_hint_is_passed_over(forged: object) -> None:
    assert list(heard("one", forged)) == []


async def told(hints: Hints, bell: Bell, wanted: Hints) -> None:
    async with asyncio.timeout(20):
        while hints != wanted:
            await bell.wait()


async def test_a_hint_reaches_every_other_node_once(store: PostgresStore, database: Address) -> None:
    other = await opened(database)
    for node in (store, other):
        await node.notifications.is_connected.wait()
    here: Hints = []
    there: Hints = []
    bell = Bell()
    with (
        store.wakeup.listen(lambda *hint: here.append(hint)),
        other.wakeup.listen(lambda *hint: there.append(hint)),
        other.wakeup.listen(bell.ring),
    ):
        store.wakeup.hint(ROOM, Version(3))
        store.wakeup.hint(OTHER, Version(1))
        await told(there, bell, [(ROOM, Version(3)), (OTHER, Version(1))])
        store.wakeup.hint(ROOM, Version(4))
        await told(there, bell, [(ROOM, Version(3)), (OTHER, Version(1)), (ROOM, Version(4))])
        assert here == there, "a node does not hear its own hints again"
    await other.close()


async def test_forged_notifications_stop_nothing_and_a_lost_connection_is_made_again(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    await store.notifications.is_connected.wait()
    hints: Hints = []
    bell = Bell()
    name = database.url.rpartition("/")[2]
    async with cluster.superuser(name) as db:
        with store.wakeup.listen(lambda *hint: hints.append(hint)), store.wakeup.listen(bell.ring):
            for forged in ("", "x", "[" * 7_000, json.dumps(["x", ["a", "b"]])):
                await db.execute("SELECT pg_notify($1, $2)", CHANNEL, forged)
            await db.execute("SELECT pg_notify($1, $2)", CHANNEL, json.dumps(["x", [ROOM, 5]]))
            await told(hints, bell, [(ROOM, Version(5))])
            await db.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            async with asyncio.timeout(20):
                while len(hints) == 1:
                    await db.execute("SELECT pg_notify($1, $2)", CHANNEL, json.dumps(["x", [ROOM, 6]]))
                    await asyncio.sleep(0.05)
            assert hints[1] == (ROOM, 6)
