"""Rooms from their opening to their end: states, seats, prices, pages, expiry, and what is kept when nobody needs it."""

from dataclasses import replace
from pathlib import Path
from time import time_ns

import grpc
import pytest

from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb
from tests.service.tables import FOUR_PLAYERS, ROOMY, Service, Table, eventually, seated, seen, served


async def test_a_room_goes_from_open_to_disbanded(service: Service) -> None:
    platform = service.platform
    room = (await platform.create_room("alice")).room
    assert (room.state, room.version, room.deal, room.owner) == (room_pb2.ROOM_STATE_OPEN, 1, 0, "alice")
    assert room.HasField("expire_time")
    for number, player in enumerate(("alice", "bob", "carol"), start=1):
        assert (await platform.take_seat(room.room_id, player)).seat == number - 1
    playing = await platform.room(room.room_id)
    assert (playing.state, playing.version, playing.deal) == (room_pb2.ROOM_STATE_PLAYING, 5, 1)
    assert not playing.HasField("expire_time")
    assert playing.HasField("start_time")
    ended = (await platform.disband_room(room.room_id)).room
    assert (ended.state, ended.version) == (room_pb2.ROOM_STATE_DISBANDED, 6)
    assert ended.HasField("end_time")
    for late in (platform.take_seat(room.room_id, "alice"), platform.disband_room(room.room_id)):
        with pytest.raises(CallRefused) as refused:
            await late
        assert refused.value.reason == "WRONG_PHASE"


async def test_a_seat_that_was_left_is_free_and_its_token_dead(service: Service) -> None:
    platform = service.platform
    room = await platform.create_room("alice")
    first = await platform.take_seat(room.room_id, "alice", 1)
    await platform.take_seat(room.room_id, "bob")
    left = await platform.leave_seat(room.room_id, 1)
    assert [seat.player for seat in left.seats] == ["bob", "", ""]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await seen(service, Table(room.room_id, (first.token,)), 0)
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED
    again = await platform.take_seat(room.room_id, "alice", 1)
    assert (await seen(service, Table(room.room_id, (again.token,)), 0)).view.seat == 1
    with pytest.raises(grpc.aio.AioRpcError):
        await seen(service, Table(room.room_id, (first.token,)), 0)


@pytest.mark.parametrize(
    ("roomtype", "owner", "joiner", "deals"),
    [("", 2, 0, 6), ("1", 4, 0, 12), ("01", 1, 1, 6), ("11111", 2, 2, 12), ("0x1", 2, 0, 6)],
)
async def test_a_room_costs_what_was_quoted(
    service: Service, roomtype: str, owner: int, joiner: int, deals: int
) -> None:
    choice = pb.RoomChoice(roomtype=roomtype)
    quote = await service.platform.quote(choice)
    assert quote == pb.QuoteRoomResponse(cost=room_pb2.CardCost(owner=owner, joiner=joiner), deals=deals, seats=3)
    request = pb.CreateRoomRequest(command_id="one", owner="alice", choice=choice)
    response: pb.CreateRoomResponse = await service.rooms.CreateRoom(request, metadata=bearer(service.key))
    assert response.cost == quote.cost
    assert response.room.options.deals == deals


async def test_four_players_have_four_seats(service: Service) -> None:
    quote = await service.platform.quote(pb.RoomChoice(options=FOUR_PLAYERS))
    assert quote.seats == 4
    table = await seated(service.platform, FOUR_PLAYERS)
    assert len((await seen(service, table, 3)).view.parts.hand.cards) == 21


async def test_rooms_are_listed_newest_first_page_by_page(service: Service) -> None:
    platform = service.platform
    opened = [(await platform.create_room("alice")).room_id for _ in range(7)]
    await platform.disband_room(opened[2])
    table = await seated(platform)
    newest_first = [table.room_id, *reversed(opened)]
    for size in (1, 3, 8, 200):
        assert await listed(service, size) == newest_first
    assert [room.room_id for room in await platform.rooms()] == newest_first
    of_state = {state: [room.room_id for room in await platform.rooms(state)] for state in room_pb2.RoomState.values()}
    assert of_state[room_pb2.ROOM_STATE_PLAYING] == [table.room_id]
    assert of_state[room_pb2.ROOM_STATE_DISBANDED] == [opened[2]]
    assert of_state[room_pb2.ROOM_STATE_FINISHED] == []
    assert of_state[room_pb2.ROOM_STATE_OPEN] == [room for room in newest_first[1:] if room != opened[2]]


async def listed(service: Service, size: int) -> list[str]:
    """Every room, so many a page; a room that is opened meanwhile disturbs no later page."""
    found: list[str] = []
    token = ""
    while True:
        request = pb.ListRoomsRequest(page_size=size, page_token=token)
        page: pb.ListRoomsResponse = await service.rooms.ListRooms(request, metadata=bearer(service.key))
        assert len(page.rooms) <= size
        found += [room.room_id for room in page.rooms]
        token = page.next_page_token
        if not token:
            return found


@pytest.mark.parametrize(
    "request_",
    [
        pb.ListRoomsRequest(page_token="no page"),
        pb.ListRoomsRequest(page_token="ä"),
    ],
)
async def test_a_page_that_there_is_not(service: Service, request_: pb.ListRoomsRequest) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await service.rooms.ListRooms(request_, metadata=bearer(service.key))
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


async def test_a_room_that_nobody_fills_expires(tmp_path: Path) -> None:
    clock = time_ns()
    async with served(tmp_path, limits=replace(ROOMY, fill_minutes=3), now=lambda: clock) as service:
        platform = service.platform
        waiting = await platform.create_room("alice")
        await platform.take_seat(waiting.room_id, "alice")
        full = await seated(platform)
        clock += 3 * MINUTE - 1
        await service.server.housekeeping.expire()
        assert (await platform.room(waiting.room_id)).state == room_pb2.ROOM_STATE_OPEN
        clock += 1
        await service.server.housekeeping.expire()
        assert (await platform.room(waiting.room_id)).state == room_pb2.ROOM_STATE_EXPIRED
        assert (await platform.room(full.room_id)).state == room_pb2.ROOM_STATE_PLAYING
        async for event in platform.watch():
            if event.HasField("match_settled"):
                assert (event.room_id, event.match_settled.expired) == (waiting.room_id, True)
                break
        disbanded = await platform.create_room("alice")
        await platform.disband_room(disbanded.room_id)
        for is_in_memory in (True, False):
            told = {state: await platform.rooms(state) for state in room_pb2.RoomState.values()}
            assert [room.room_id for room in told[room_pb2.ROOM_STATE_EXPIRED]] == [waiting.room_id]
            assert [room.room_id for room in told[room_pb2.ROOM_STATE_DISBANDED]] == [disbanded.room_id]
            if is_in_memory:
                for room in service.kept.live:
                    room.touched = float("-inf")
                assert service.kept.put_away() == 3
        assert [record async for record in platform.records()] == [], "no match was played in either"


async def test_a_room_expires_though_the_server_was_restarted(tmp_path: Path) -> None:
    clock = time_ns()
    store = MemoryStore()
    async with served(tmp_path, store=store, now=lambda: clock) as first:
        waiting = await first.platform.create_room("alice")
        full = await seated(first.platform)
    clock += ROOMY.fill_minutes * MINUTE
    async with served(tmp_path, store=store, now=lambda: clock) as second:
        # Nobody asks for it: the server's own housekeeping finds it.
        await eventually(lambda: [(room.id, room.version) for room in second.kept.live] == [(waiting.room_id, 2)])
        assert (await second.platform.room(waiting.room_id)).state == room_pb2.ROOM_STATE_EXPIRED
        assert (await second.platform.room(full.room_id)).state == room_pb2.ROOM_STATE_PLAYING


async def test_a_room_that_was_put_away_is_the_same_when_it_is_wanted(service: Service) -> None:
    table = await seated(service.platform)
    before = [await seen(service, table, seat) for seat in range(3)]
    service.room(table.room_id).touched = float("-inf")
    assert service.kept.put_away() == 1
    assert service.kept.live == ()
    assert [await seen(service, table, seat) for seat in range(3)] == before
