"""One node on a database keeps house: it alone expires rooms and deletes old matches, and another takes over from it."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from erqiwang_core.match import Disband, Outside, Over

from erqiwang_grpc.archive.retention import delete_old_matches
from erqiwang_grpc.events.standing import RoomState
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import MINUTE, Limits
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import RoomId, TimeNs
from erqiwang_grpc.store.postgres import Address, PostgresStore, house_lock, notifications
from erqiwang_grpc.testing.cluster import Cluster
from tests.durability.played import Clock, administer, opened as opened_room
from tests.service.tables import eventually
from tests.store.postgres.conftest import opened
from tests.store.postgres.test_lost import name

WAITED_FOR = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted)"
END_HOLDER = """SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
  WHERE locktype = 'advisory' AND objid = $1 AND granted"""


@pytest.fixture
async def stores(database: Address, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[PostgresStore, ...]]:
    """Two nodes: the one that keeps house, and the other."""
    monkeypatch.setattr(notifications, "_QUIET_SECONDS", 0.2)
    one = await opened(database)
    await one.notifications.is_connected.wait()
    two = await opened(database)
    await two.notifications.is_connected.wait()
    yield one, two
    for store in (one, two):
        await store.close()


def rooms_on(store: PostgresStore, clock: Clock) -> Rooms:
    return Rooms(Node(store, store.wakeup, clock, seeded(7), Limits(commands_per_second=10_000)))


async def ticks(*rooms: Rooms) -> None:
    """Ten seconds of housekeeping, at once."""
    keeping = [Housekeeping(each) for each in rooms]
    for _ in range(10):
        await asyncio.gather(*(each.tick() for each in keeping))


async def state(store: PostgresStore, room: RoomId) -> tuple[RoomState, int]:
    """Where a room stands, and how many events it has."""
    found = await rooms_on(store, Clock()).find(room)
    assert isinstance(found, Room)
    return found.state.standing.state, found.version


async def test_one_of_the_nodes_keeps_house_and_the_other_takes_over_when_it_stops(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    one, two = stores
    assert (one.keeps_house, two.keeps_house) == (True, False)
    await one.close()
    await eventually(lambda: two.keeps_house)
    assert not one.keeps_house


async def test_a_node_that_loses_its_connection_keeps_house_no_longer_and_one_does_so_soon(
    cluster: Cluster, database: Address, stores: tuple[PostgresStore, PostgresStore]
) -> None:
    one, two = stores
    async with cluster.superuser(name(database)) as db:
        # A session that waits for the lock gets it when its holder ends. So no node can take it again at once.
        waiting = asyncio.create_task(db.execute("SELECT pg_advisory_lock($1)", house_lock.LOCK))
        async with cluster.superuser() as other:
            while not await other.fetchval(WAITED_FOR, house_lock.LOCK):  # noqa: ASYNC110  # the server rings no bell
                await asyncio.sleep(0.01)
            await other.execute(END_HOLDER, house_lock.LOCK)
        await waiting
        await eventually(lambda: not one.keeps_house)
        assert not two.keeps_house
        await db.execute("SELECT pg_advisory_unlock($1)", house_lock.LOCK)
        await eventually(lambda: one.keeps_house or two.keeps_house)
    assert not (one.keeps_house and two.keeps_house)


async def test_a_session_that_asks_nothing_is_ended_so_that_a_frozen_node_keeps_no_house(
    store: PostgresStore,
) -> None:
    await store.notifications.is_connected.wait()
    db = store._house_lock._held_on  # no other sees the settings of a session
    assert db is not None
    if db.get_server_version().major < 14:
        pytest.skip("sessions that ask nothing are ended from PostgreSQL 14 on (idle_session_timeout)")
    assert await db.fetchval("SHOW idle_session_timeout") == "1min"


async def test_a_room_that_another_node_created_expires_once_also_if_that_node_is_gone(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    one, two = stores
    clock = Clock()
    keeper, creator = rooms_on(one, clock), rooms_on(two, clock)
    room = (await opened_room(creator, "left")).id
    other = (await opened_room(creator, "given up")).id
    clock.forward(31 * MINUTE)
    await ticks(creator)
    assert await state(two, room) == (RoomState.OPEN, 1), "only one node expires rooms"
    await ticks(keeper)
    assert [await state(two, each) for each in (room, other)] == [(RoomState.EXPIRED, 2)] * 2
    clock.forward(2 * MINUTE)
    await ticks(keeper, creator)
    assert [await state(two, each) for each in (room, other)] == [(RoomState.EXPIRED, 2)] * 2
    assert creator.open == 2, "it has them in memory still"
    for found in creator.live:
        found.touched = float("-inf")
    creator.put_away()
    assert creator.open == 0
    for each in (keeper, creator):
        each.close()


async def test_two_nodes_that_both_keep_house_for_a_moment_expire_and_delete_once(
    stores: tuple[PostgresStore, PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = stores
    monkeypatch.setattr(PostgresStore, "keeps_house", property(lambda _: True))
    clock = Clock()
    both = rooms_on(one, clock), rooms_on(two, clock)
    names = [(await opened_room(both[number % 2], f"room {number}")).id for number in range(12)]
    clock.forward(31 * MINUTE)
    await ticks(*both)
    assert [await state(one, name) for name in names] == [(RoomState.EXPIRED, 2)] * 12
    later = TimeNs(clock() + MINUTE)
    gone = await asyncio.gather(*(delete_old_matches(store, later, at_once=3) for store in stores))
    assert sorted(room for each in gone for room in each) == sorted(names)
    for each in both:
        each.close()


async def test_expiry_that_meets_a_room_which_its_platform_has_just_disbanded_leaves_it(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    one, two = stores
    clock = Clock()
    keeper, creator = rooms_on(one, clock), rooms_on(two, clock)
    room = await opened_room(creator)
    found = await keeper.find(room.id)
    assert isinstance(found, Room)
    clock.forward(31 * MINUTE)
    await administer(room, Disband(Outside.PLATFORM))
    await ticks(keeper)
    assert isinstance(room.match, Over)
    assert await state(one, room.id) == (RoomState.DISBANDED, 2)
    for each in (keeper, creator):
        each.close()
