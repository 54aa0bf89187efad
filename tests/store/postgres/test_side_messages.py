"""Side messages over the database: in as few notifications as possible. Anything else on the channel is ignored."""

import asyncio
import json

import pytest

from erqiwang_grpc.store import NodeId, NodeLeft, RoomId, Roster, SeatHere, SideMessage, SignalGiven, Version
from erqiwang_grpc.store.postgres import Address, PostgresSideMessages, PostgresStore
from erqiwang_grpc.store.postgres.database_clock import DatabaseClock
from erqiwang_grpc.store.postgres.side_messages import CHANNEL, heard, payloads
from erqiwang_grpc.testing.cluster import Cluster
from tests.store.contract import ONE, ROOM, SAID, all_heard
from tests.store.postgres.conftest import opened

_MOST = 10_000
"""Most messages of a kind that wait."""


def test_what_is_told_is_heard() -> None:
    told = payloads(list(SAID))
    assert len(told) == 2, "one of each node"
    assert all(payload.isascii() for payload in told)
    assert sorted((message for payload in told for message in heard(payload)), key=repr) == sorted(SAID, key=repr)


def test_many_messages_are_told_in_notifications_that_fit_and_one_that_fits_in_none_is_lost() -> None:
    rosters: list[SideMessage] = [
        Roster(ONE, RoomId(f"room {number} 二七王"), (SeatHere(1, number, True),)) for number in range(2_000)
    ]
    told = payloads([*rosters, Roster(ONE, RoomId("x" * 9_000), ())])
    assert all(len(payload.encode()) < 8_000 for payload in told)
    assert [message for payload in told for message in heard(payload)] == rosters


def test_while_the_database_is_away_the_last_roster_of_a_room_waits_and_not_too_many_of_them() -> None:
    side = PostgresSideMessages(asyncio.Event(), DatabaseClock())
    for number in range(_MOST + 5):
        side.say(Roster(ONE, RoomId(f"{number}"), ()))
        side.say(SignalGiven(ONE, ROOM, Version(number), 0, 1))
    last = Roster(ONE, RoomId("7"), (SeatHere(1, 2, True),))
    side.say(last)
    told = [message for payload in side.due() for message in heard(payload)]
    rosters = [message for message in told if isinstance(message, Roster)]
    assert (len(told), len(rosters)) == (2 * _MOST, _MOST)
    assert [each for each in rosters if each.room == last.room] == [last]
    assert side.due() == []


@pytest.mark.parametrize(
    "part",
    [
        None,
        1,
        "left",
        [],
        {},
        ["right"],
        ["left", 1],
        ["seats"],
        ["seats", ROOM],
        ["seats", 1, []],
        ["seats", ROOM, None],
        ["seats", ROOM, [1]],
        ["seats", ROOM, [[0, 1]]],
        ["seats", ROOM, [[0, 1, 1]]],
        ["seats", ROOM, [[0, "1", True]]],
        ["seats", ROOM, [[-1, 1, True]]],
        ["seats", ROOM, [[0, 2**63, True]]],
        ["seats", ROOM, [[0, 1, True], [1]]],
        ["seats", ROOM, [[0, 1, True]] * 17],
        ["seats", ROOM, [[0, 1e9, True]]],
        ["signal", ROOM, 1, 2],
        ["signal", ROOM, -1, 2, 3],
        ["signal", ROOM, 1, 10**40, 3],
        ["signal", ROOM, "1", 2, 3],
    ],
)
def test_a_part_that_is_no_message_is_passed_over_and_the_others_are_heard(part: object) -> None:
    assert list(heard(json.dumps(["two", part, ["left"], part]))) == [NodeLeft(NodeId("two"))]


@pytest.mark.parametrize(
    "payload", ["", "x", "{}", "[]", "null", "[1]", '["two"]', "[" * 7_000, "1" * 7_000, b"x", None]
)
def test_a_notification_that_is_none_of_ours_is_passed_over(payload: object) -> None:
    assert list(heard(payload)) == []


async def test_garbage_on_the_channel_stops_nothing_and_after_a_lost_connection_nodes_hear_each_other_again(
    cluster: Cluster, store: PostgresStore, database: Address
) -> None:
    other = await opened(database)
    messages: list[SideMessage] = []
    for node in (store, other):
        await node.notifications.is_connected.wait()
    name = database.url.rpartition("/")[2]
    async with cluster.superuser(name) as db:
        with store.side_messages.listen(messages.append):
            for forged in (
                "",
                "x",
                "[" * 7_000,
                json.dumps(["two", ["seats", ROOM, [[-1, 1, True]]]]),
                "[" + "9" * 7_000,
            ):
                await db.execute("SELECT pg_notify($1, $2)", CHANNEL, forged)
            signal = SignalGiven(ONE, ROOM, Version(1), 0, 1)
            other.side_messages.say(signal)
            await all_heard(messages, 1)
            assert messages == [signal]
            await db.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            async with asyncio.timeout(20):
                while len(messages) == 1:
                    other.side_messages.say(NodeLeft(ONE))
                    await asyncio.sleep(0.05)
            assert set(messages[1:]) == {NodeLeft(ONE)}
    await other.close()


async def test_a_node_that_closes_says_its_last_words(store: PostgresStore, database: Address) -> None:
    leaving = await opened(database)
    for node in (store, leaving):
        await node.notifications.is_connected.wait()
    messages: list[SideMessage] = []
    with store.side_messages.listen(messages.append):
        leaving.side_messages.say(NodeLeft(ONE))
        await leaving.close()
        await all_heard(messages, 1)
    assert messages == [NodeLeft(ONE)]
