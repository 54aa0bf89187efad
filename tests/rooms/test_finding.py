"""Who asks a node for a room gets one that is in memory, and that knows what the store held at that moment."""

import asyncio
from random import Random

from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.store.memory import MemoryStore
from tests.durability.played import Ear, act, next_command, node_on, seated
from tests.store.holding import HoldingStore


async def test_who_joins_an_opening_that_has_read_the_store_already_gets_what_was_appended_since() -> None:
    """Otherwise a client that reconnects there would be shown an older version than it had."""
    store = MemoryStore(shared=True)
    here = await seated(Rooms(node_on(store)))
    slow = HoldingStore(store)
    there = Rooms(node_on(slow))
    slow.holds_reads = True
    first = asyncio.create_task(there.find(here.id))
    await slow.held.wait()
    assert isinstance(await act(here, *next_command(here.match, Random(2))), Accepted)
    second = asyncio.create_task(there.find(here.id))
    await asyncio.sleep(0)
    slow.go_on.set()
    found = await second
    assert isinstance(found, Room)
    assert found.version == here.version
    assert await first is found


async def test_a_room_that_leaves_memory_while_it_is_looked_for_is_opened_again() -> None:
    """The room that was dropped would hear of nothing any more, nor would who attaches to it."""
    store = HoldingStore(MemoryStore(shared=True))
    rooms = Rooms(node_on(store, Limits(idle_minutes=0)))
    room = await seated(rooms)
    store.holds_reads = True
    looking = asyncio.create_task(rooms.find(room.id))
    await store.held.wait()
    room.touched = float("-inf")
    assert rooms.put_away() == 1
    store.go_on.set()
    found = await looking
    assert isinstance(found, Room)
    assert rooms.in_memory(room.id) is found
    ear = Ear()
    found.attach(Seat(0), ear, None)
    assert ear.begun[0].version == room.version
