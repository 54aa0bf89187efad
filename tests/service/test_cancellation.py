"""Callers that give up: what they began is carried out to the end, told to everyone else, and kept from nobody who waits too."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from time import time_ns
from typing import Final, Protocol

import pytest

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import (
    bidding_pb2,
    room_pb2,
    room_service_pb2 as room_pb,
    seat_service_pb2 as pb,
)
from tests.durability.played import node_on, seated as seated_in_memory
from tests.service.tables import ROOMY, RawSeat, Service, eventually, seated, seen, served
from tests.store.holding import HoldingStore

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))


class Cancellable(Protocol):
    """A call of any rpc that is under way."""

    def __await__(self) -> Generator[object, None, object]: ...

    def cancel(self) -> bool: ...


async def given_up(store: HoldingStore, call: Cancellable) -> None:
    """Cancel a call that was made just now, while the log holds what it asked for, and wait until the server has noticed."""
    before = asyncio.all_tasks()
    await store.held.wait()
    # grpcio gives the task of each call this name. Calls made earlier may still be ending.
    (handling,) = (task for task in asyncio.all_tasks() - before if task.get_name() == "rpc_task")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    # The server's task of the call ends, the work goes on without it.
    await eventually(handling.done)


async def test_a_command_whose_caller_gives_up_is_told_to_the_others(tmp_path: Path) -> None:
    store = HoldingStore(MemoryStore())
    async with served(tmp_path, store=store) as service:
        table = await seated(service.platform)
        before = await seen(service, table, 0)
        listening = [RawSeat(service, token) for token in table.tokens]
        for stream in listening:
            await stream.attach()
        store.holds_appends = True
        await given_up(store, service.seats.Act(pb.ActRequest(command=BID), metadata=table.metadata(0)))
        store.go_on.set()
        for stream in listening:
            notice = (await stream.hear("notice")).notice
            assert (notice.version, notice.bid_made.points) == (before.version + 1, 70)
        assert (await seen(service, table, 0)).version == before.version + 1


async def leave(service: Service, room_id: str) -> Cancellable:
    request = room_pb.LeaveSeatRequest(room_id=room_id, seat=0)
    return service.rooms.LeaveSeat(request, metadata=bearer(service.key))


async def take(service: Service, room_id: str) -> Cancellable:
    request = room_pb.TakeSeatRequest(room_id=room_id, player="carol")
    return service.rooms.TakeSeat(request, metadata=bearer(service.key))


async def disband(service: Service, room_id: str) -> Cancellable:
    return service.rooms.DisbandRoom(room_pb.DisbandRoomRequest(room_id=room_id), metadata=bearer(service.key))


@pytest.mark.parametrize(
    ("ask", "causes"),
    [(leave, ["seat_left"]), (take, ["seat_taken", "deal_started"]), (disband, ["match_ended"])],
)
async def test_what_a_platform_gives_up_waiting_for_is_told_to_the_seats(
    tmp_path: Path, ask: Callable[[Service, str], Awaitable[Cancellable]], causes: list[str]
) -> None:
    store = HoldingStore(MemoryStore())
    async with served(tmp_path, store=store) as service:
        platform = service.platform
        room_id = (await platform.create_room("alice")).room_id
        seats = [await platform.take_seat(room_id, player) for player in ("alice", "bob")]
        stream = RawSeat(service, seats[1].token)
        await stream.attach()
        store.holds_appends = True
        await given_up(store, await ask(service, room_id))
        store.go_on.set()
        assert [(await stream.hear("notice")).notice.WhichOneof("cause") for _ in causes] == causes


async def test_a_room_whose_creator_gives_up_is_opened_and_expires(tmp_path: Path) -> None:
    store = HoldingStore(MemoryStore())
    clock = time_ns()
    async with served(tmp_path, store=store, now=lambda: clock) as service:
        store.holds_appends = True
        request = room_pb.CreateRoomRequest(command_id="mine", owner="alice")
        await given_up(store, service.rooms.CreateRoom(request, metadata=bearer(service.key)))
        assert service.kept.live == ()
        store.go_on.set()
        await eventually(lambda: len(service.kept.live) == 1)
        again = await service.rooms.CreateRoom(request, metadata=bearer(service.key))
        room = service.room(again.room.room_id)
        assert (await anext(service.platform.watch())).room_id == room.id
        clock += ROOMY.fill_minutes * MINUTE
        await service.server.housekeeping.expire()
        assert (await service.platform.room(room.id)).state == room_pb2.ROOM_STATE_EXPIRED


async def test_a_room_that_is_being_opened_is_opened_for_the_others_too() -> None:
    store = HoldingStore(MemoryStore())
    stored = await seated_in_memory(Rooms(node_on(store)))
    rooms = Rooms(node_on(store))
    store.holds_reads = True
    finding = [asyncio.create_task(rooms.find(stored.id)) for _ in range(4)]
    await store.held.wait()
    finding[0].cancel()
    store.go_on.set()
    outcomes = await asyncio.gather(*finding, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    (room,) = rooms.live
    assert outcomes[1:] == [room] * 3
    assert store.reads == 1, "one read serves all who wait"
    assert room.state == stored.state


async def test_a_room_whose_only_finder_gives_up_is_in_memory_and_keeps_its_deadline(tmp_path: Path) -> None:
    store = HoldingStore(MemoryStore())
    clock = time_ns()
    async with served(tmp_path, store=store, now=lambda: clock) as service:
        room_id = (await service.platform.create_room("alice")).room_id
        service.room(room_id).touched = float("-inf")
        assert service.kept.put_away() == 1
        store.holds_reads = True
        request = room_pb.GetRoomRequest(room_id=room_id)
        await given_up(store, service.rooms.GetRoom(request, metadata=bearer(service.key)))
        store.holds_reads = False
        store.go_on.set()
        await eventually(lambda: [room.id for room in service.kept.live] == [room_id])
        clock += ROOMY.fill_minutes * MINUTE
        await service.server.housekeeping.expire()
        assert (await service.platform.room(room_id)).state == room_pb2.ROOM_STATE_EXPIRED
