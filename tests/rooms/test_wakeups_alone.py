"""Wakeups and no poll: on several nodes that share a store everyone hears at once; and one poll in five ticks makes up for what is lost."""

import asyncio
from collections.abc import AsyncGenerator
from random import Random

from erqiwang_core.match import Over
from erqiwang_core.units import Seat

from erqiwang_grpc.archive.feed import Happened, Place, feed
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.refusals import InvalidCursor, StoreUnavailable, WrittenByNewer
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import START
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.wakeup import Bell, ProcessWakeup
from tests.durability.played import Clock, Ear, act, free, next_command, seated
from tests.rooms.test_one_path import LossyWakeup, all_at
from tests.service.clocks import HandMonotonic
from tests.service.tables import PATIENCE, eventually


async def test_watchers_of_every_node_hear_at_once_what_any_node_does_and_of_a_drain() -> None:
    """By a clock that never moves, no poll comes; the seats are spread over the nodes."""
    store, wakeup, clock = MemoryStore(shared=True), ProcessWakeup(), HandMonotonic()
    here = Rooms(Node(store, wakeup, Clock(), seeded(7), Limits(), monotonic=clock))
    there = Rooms(Node(store, wakeup, Clock(), seeded(7), Limits(), monotonic=clock))
    bell, leaving = Bell(), False
    heard: list[Happened] = []
    hearing = asyncio.create_task(
        hear(feed(store, wakeup, PlatformId("local"), Place(START, 0), bell, lambda: leaving, clock, free), heard)
    )
    await eventually(lambda: clock.is_waited_for(5.0))
    room = await seated(here)
    other = await there.find(room.id)
    assert isinstance(other, Room)
    luck = Random(8)
    while not isinstance(room.match, Over):
        seat, command = next_command(room.match, luck)
        assert isinstance(await act((room, other)[seat % 2], seat, command), Accepted)
        await all_at([room, other], max(room.version, other.version))
    names = ["RoomOpened"] + 3 * ["SeatTaken"] + 6 * ["DealStarted", "DealSettled"] + ["MatchEnded"]
    await eventually(lambda: [type(happened.event).__name__ for happened in heard] == names)
    assert not hearing.done()
    leaving = True
    bell.ring()
    await asyncio.wait_for(hearing, PATIENCE)
    for rooms in (here, there):
        rooms.close()


async def hear(
    watching: AsyncGenerator[tuple[Happened, ...] | InvalidCursor | StoreUnavailable | WrittenByNewer, None],
    heard: list[Happened],
) -> None:
    """Everything that a watcher is told until the server leaves; never an empty message, for which time would have to pass."""
    async for happened in watching:
        assert isinstance(happened, tuple)
        assert happened
        heard += happened


async def test_a_node_whose_wakeups_are_all_lost_hears_by_the_fifth_tick_of_its_housekeeping() -> None:
    store = MemoryStore(shared=True)
    deaf = LossyWakeup(ProcessWakeup(), Random(1), lost=1)
    here, there = (Rooms(Node(store, deaf, Clock(), seeded(7), Limits())) for _ in range(2))
    room = await seated(here)
    other = await there.find(room.id)
    assert isinstance(other, Room)
    ear, keeping = Ear(), Housekeeping(there)
    other.attach(Seat(0), ear, None)
    seat, command = next_command(room.match, Random(2))
    assert isinstance(await act(room, seat, command), Accepted)
    for _ in range(4):
        await keeping.tick()
    await asyncio.sleep(0)
    assert ear.told == []
    await keeping.tick()
    await all_at([other], room.version)
    assert [each.version for each in ear.told] == [room.version]
    for rooms in (here, there):
        rooms.close()
