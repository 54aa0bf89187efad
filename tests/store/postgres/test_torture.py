"""The torture of nodes on one database, for a bounded time; and its judge of feeds, who must notice what is missing."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.tools.torture import feeds
from erqiwang_grpc.tools.torture.chaos import Fault
from erqiwang_grpc.tools.torture.feeds import Heard
from erqiwang_grpc.tools.torture.many_nodes import torture
from tests.durability.played import PLAYERS, act, next_command, node_on, seated
from tests.store.postgres.soak import soak

SECONDS = 35.0
TABLES = 12


@pytest.mark.usefixtures("cluster")
def test_nodes_in_chaos_lose_repeat_and_invent_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    report = asyncio.run(torture(3, SECONDS, TABLES, Random().getrandbits(32), None))
    print(report)
    assert report.compared.faults == 0, capsys.readouterr().err
    assert {fault for fault in Fault if report.survived[fault]} >= {Fault.NODE_KILLED, Fault.NODE_CUT}
    assert report.survived[Fault.FAILOVER] + report.survived[Fault.TORN_FAILOVER] >= 1
    assert report.compared.rooms >= TABLES
    assert report.told > 0


@pytest.mark.usefixtures("cluster")
def test_a_short_soak_finds_no_deadlock() -> None:
    count = asyncio.run(soak(3.0, 3, Random().getrandbits(32)))
    assert count.faults == []
    assert count.appended.total() > 0
    assert count.deleted


async def played() -> tuple[MemoryStore, RoomId]:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)))
    luck = Random(1)
    for number in range(40):
        seat, command = next_command(room.match, luck)
        await act(room, seat, command, f"{number}")
    return store, room.id


async def test_a_feed_that_is_whole_and_was_heard_is_believed() -> None:
    store, room = await played()
    told = await feeds.public_events(store, "local")
    assert len(told) > len(PLAYERS[:3])
    assert await feeds.faults(store, [room], told, list(told)) == []


def without_first(events: list[Heard]) -> list[Heard]:
    return events[1:]


def first_twice(events: list[Heard]) -> list[Heard]:
    return [events[0], *events]


def turned_round(events: list[Heard]) -> list[Heard]:
    return [events[1], events[0], *events[2:]]


def invented(events: list[Heard]) -> list[Heard]:
    return [*events, ("elsewhere", 1)]


@pytest.mark.parametrize("spoil", [without_first, first_twice, turned_round, invented])
async def test_a_feed_that_is_not_what_is_stored_is_noticed(spoil: Callable[[list[Heard]], list[Heard]]) -> None:
    store, room = await played()
    told = await feeds.public_events(store, "local")
    assert await feeds.faults(store, [room], spoil(told), spoil(told)), "the store tells something else"
    assert await feeds.faults(store, [room], told, spoil(told)), "the watcher heard something else"
