"""Rooms are opened on first use and put away when nobody needs them: memory holds what is played, not what is stored."""

import gc
import weakref
from pathlib import Path

import pytest
from erqiwang_core import match as matches
from erqiwang_core.refusals import Phase
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import DAY, MINUTE, Limits
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.store import RoomId, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1.room_pb2 import ROOM_STATE_DISBANDED, ROOM_STATE_PLAYING
from tests.durability.played import Clock, Ear, node_on, opened, play, seated
from tests.service.tables import (
    RawSeat,
    Service,
    Table,
    act,
    acting,
    attached,
    eventually,
    seated as seated_over_the_wire,
    seen,
    served,
    step,
)

AT_ONCE = Limits(commands_per_second=10_000, idle_minutes=0)
"""A room that is not in use is put away the next time that somebody looks."""


def in_memory(rooms: Rooms) -> set[RoomId]:
    return {room.id for room in rooms.live}


async def test_a_room_that_is_put_away_leaves_no_trace_and_comes_back_as_it_was() -> None:
    rooms = Rooms(node_on(MemoryStore(), AT_ONCE))
    room = await seated(rooms)
    await play(room, 100)
    name, state, gone = room.id, room.state, weakref.ref(room)
    assert rooms.put_away() == 1
    del room
    gc.collect()
    assert gone() is None
    assert in_memory(rooms) == set()
    again = await rooms.find(name)
    assert isinstance(again, Room)
    assert again.state == state
    assert in_memory(rooms) == {name}


async def test_a_room_with_a_stream_stays_and_one_whose_stream_has_ended_goes() -> None:
    rooms = Rooms(node_on(MemoryStore(), AT_ONCE))
    room = await seated(rooms)
    attachment = room.attach(Seat(1), Ear(), None)
    assert rooms.put_away() == 0
    room.detach(attachment)
    assert rooms.put_away() == 1


async def test_a_room_that_was_used_lately_stays() -> None:
    rooms = Rooms(node_on(MemoryStore(), Limits(idle_minutes=1)))
    await seated(rooms)
    assert rooms.put_away() == 0


async def test_a_starting_server_opens_no_room_but_those_that_nobody_filled_in_time() -> None:
    store, clock = MemoryStore(), Clock()
    before = Rooms(node_on(store, clock=clock))
    for number in range(20):
        await play(await seated(before, f"over {number}"), 10_000 if number < 2 else 3)
    unfilled = await opened(before, "unfilled")
    clock.forward(before.deadline(TimeNs(0)))
    later = await opened(before, "may still be filled")
    node = node_on(store, clock=clock)
    rooms = Rooms(node)
    housekeeping = Housekeeping(rooms)
    await housekeeping.watch_stored()
    assert in_memory(rooms) == set()
    await housekeeping.expire()
    assert in_memory(rooms) == {unfilled.id}
    ended = await rooms.find(unfilled.id)
    assert isinstance(ended, Room)
    assert matches.phase(ended.match) is Phase.OVER
    clock.forward(30 * MINUTE)
    await housekeeping.expire()
    assert in_memory(rooms) == {unfilled.id, later.id}


@pytest.mark.parametrize(("early", "is_watched"), [(1, True), (-1, False)], ids=["just before", "just after"])
async def test_a_starting_server_looks_back_for_a_week(early: int, is_watched: bool) -> None:
    store, clock = MemoryStore(), Clock()
    room = await opened(Rooms(node_on(store, clock=clock)))
    clock.forward(7 * DAY - early * MINUTE)
    rooms = Rooms(node_on(store, clock=clock))
    await Housekeeping(rooms).watch_stored()
    assert list(rooms.deadlines.due(clock())) == ([room.id] if is_watched else [])


async def test_rooms_deleted_by_retention_are_forgotten() -> None:
    store = MemoryStore()
    rooms = Rooms(node_on(store))
    room = await seated(rooms)
    await play(room, 10_000)
    rooms.forget([room.id])
    assert in_memory(rooms) == set()


async def test_who_still_listens_to_a_room_that_retention_deletes_is_told_that_it_is_gone(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        table = await seated_over_the_wire(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        await service.platform.disband_room(table.room_id)
        service.kept.forget([RoomId(table.room_id)])
        await stream.rest()
        assert stream.refused is not None
        assert stream.refused.reason == "NO_SUCH_ROOM"
        await eventually(lambda: service.server.seats.streams == 0)


async def test_a_seat_comes_back_to_a_room_that_was_put_away(tmp_path: Path) -> None:
    async with served(tmp_path, limits=AT_ONCE) as service:
        table = await seated_over_the_wire(service.platform)
        async with attached(service, table) as seats:
            version = seats[0].version
        await eventually(lambda: not service.kept.live)
        assert (await seen(service, table, 0)).version == version
        turn = await acting(service, table)
        assert turn is not None
        await act(service, table, *turn)
        await eventually(lambda: not service.kept.live)
        async with attached(service, table) as seats:
            assert {seat.version for seat in seats} == {version + 1}


async def test_a_list_of_rooms_brings_none_back_whose_match_has_ended(tmp_path: Path) -> None:
    async with served(tmp_path, limits=AT_ONCE) as service:
        names = [await ended(service, deals) for deals in (0, 1, 2)]
        told = [await service.platform.room(name) for name in names]
        await eventually(lambda: not service.kept.live)
        assert await service.platform.rooms() == told[::-1]
        assert [room.room_id for room in await service.platform.rooms(ROOM_STATE_DISBANDED)] == names[::-1]
        assert await service.platform.rooms(ROOM_STATE_PLAYING) == []
        assert in_memory(service.kept) == set()


async def ended(service: Service, deals: int) -> str:
    """A match that was disbanded after so many deals and two turns."""
    table = await seated_over_the_wire(service.platform)
    while await settled(service, table) < deals:
        await step(service, table)
    await step(service, table)
    await service.platform.disband_room(table.room_id)
    return table.room_id


async def settled(service: Service, table: Table) -> int:
    return (await service.platform.record(table.room_id)).summary.settled_deals
