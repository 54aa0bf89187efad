"""Rooms opened from the store: within their platform's quota, once a minute if they are damaged, and never after a deletion."""

import asyncio
from dataclasses import replace
from random import Random

import pytest
from erqiwang_core.match import Over
from erqiwang_core.options import RoomOptions

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.listener import Told
from erqiwang_grpc.rooms.refusals import NoSuchRoom, RoomQuarantined
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.store import NOTHING, Damaged, Entry, RoomId, Unavailable, Version
from erqiwang_grpc.store.memory import MemoryStore
from tests.durability.played import Ear, node_on, play, seated
from tests.service.clocks import HandMonotonic
from tests.store.holding import HoldingStore
from tests.store.passing_on import PassingOn


class Damaging(PassingOn):
    """A store in which every room's third event is damaged while `is_damaged`. It counts how often a room is read."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.is_damaged = True
        self.reads = 0

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        self.reads += 1
        return Damaged(room, Version(3), "a bit flipped") if self.is_damaged else await super().read(room, after)


async def test_a_room_that_cannot_be_opened_is_read_once_a_minute() -> None:
    store, clock = Damaging(), HandMonotonic()
    stored = await seated(Rooms(node_on(store)))
    rooms = Rooms(node_on(store, monotonic=clock))
    for _ in range(3):
        assert await rooms.find(stored.id) == RoomQuarantined(Version(2))
    assert store.reads == 1
    store.is_damaged = False
    clock.forward(59.9)
    assert isinstance(await rooms.find(stored.id), RoomQuarantined)
    clock.forward(0.2)
    found = await rooms.find(stored.id)
    assert isinstance(found, Room)
    assert (found.version, store.reads) == (stored.version, 2)


async def test_a_room_under_the_id_of_a_damaged_one_that_was_deleted_is_opened_at_once() -> None:
    store = Damaging()
    stored = await seated(Rooms(node_on(store)))
    rooms = Rooms(node_on(store))
    assert isinstance(await rooms.find(stored.id), RoomQuarantined)
    rooms.forget([stored.id])
    store.is_damaged = False
    assert isinstance(await rooms.find(stored.id), Room)


async def test_a_platform_that_asks_for_all_its_stored_rooms_leaves_the_places_of_others_free() -> None:
    store = MemoryStore()
    stored = [(await seated(Rooms(node_on(store)), f"{number}")).id for number in range(6)]
    rooms = Rooms(node_on(store, Limits(rooms=4)))
    for room in stored:
        assert isinstance(await rooms.find(room), Room)
        assert rooms.open <= 2, "half of the rooms"
    assert {room.id for room in rooms.live} == set(stored[-2:]), "those that were used last"
    other = RoomOpened(PlatformId("rival"), "mallory", RoomOptions())
    key = command_key("mine", other)
    assert key is not None
    assert isinstance(await rooms.create(other, key), Room)


async def test_a_room_in_use_is_not_dropped_for_another_of_its_platform() -> None:
    store = MemoryStore()
    stored = [(await seated(Rooms(node_on(store)), f"{number}")).id for number in range(4)]
    rooms = Rooms(node_on(store, Limits(rooms=4)))
    used = await rooms.find(stored[0])
    assert isinstance(used, Room)
    used.attach(used.match.chairs.seats()[0], Ear(), None)
    for room in stored[1:]:
        await rooms.find(room)
    assert {room.id for room in rooms.live} == {stored[0], stored[-1]}


async def test_a_room_whose_match_is_over_leaves_memory_soon() -> None:
    clock = HandMonotonic()
    rooms = Rooms(node_on(MemoryStore(), Limits(idle_minutes=10, commands_per_second=10_000), monotonic=clock))
    over, going_on = await seated(rooms, "over"), await seated(rooms, "going on")
    await play(over, 10_000, Random(3))
    assert isinstance(over.match, Over)
    clock.forward(30.1)
    assert rooms.put_away() == 1
    assert rooms.live == (going_on,)
    assert rooms.open == 1


@pytest.mark.parametrize("steps", [0, 200])
async def test_a_room_that_is_deleted_while_it_is_opened_is_not_kept(steps: int) -> None:
    """A long room is followed beside the event loop, which goes on meanwhile."""
    below = MemoryStore()
    store = HoldingStore(below)
    stored = await seated(Rooms(node_on(below)))
    await play(stored, steps)
    rooms = Rooms(node_on(store))
    store.holds_reads = True
    finding = asyncio.create_task(rooms.find(stored.id))
    await store.held.wait()
    rooms.forget([stored.id])
    store.go_on.set()
    assert await finding == NoSuchRoom()
    assert rooms.live == ()
    store.holds_reads = False
    assert isinstance(await rooms.find(stored.id), Room), "asked for again, it is what the store says"


class Failing(Ear):
    """A listener with a bug."""

    def tell(self, told: Told) -> None:  # noqa: ARG002 (the name is the protocol's)
        raise RuntimeError("a bug")


async def test_a_failure_while_a_room_follows_another_node_sets_that_room_apart(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryStore(shared=True)
    node = node_on(store)
    writer, follower = Rooms(node), Rooms(replace(node))
    room = await seated(writer)
    behind = await follower.find(room.id)
    assert isinstance(behind, Room)
    behind.attach(room.match.chairs.seats()[0], Failing(), None)
    await play(room, 1)
    for _ in range(100):
        await asyncio.sleep(0)
    assert behind.fault == "an unexpected exception"
    assert [record.message for record in caplog.records] == ["room quarantined"]
    assert room.fault is None
