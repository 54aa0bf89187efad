"""Limits: whoever meets one is told which, and what to do; everybody else goes on."""

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.client.calls import bearer, refusal_of
from erqiwang_grpc.rpc.server import Server, Settings
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import bidding_pb2, room_service_pb2, seat_service_pb2 as pb
from tests.service.tables import PATIENCE, ROOMY, RawSeat, Service, act, eventually, seated, seen, served

PASS = pb.Command(pass_bid=bidding_pb2.PassBid())


async def test_a_message_that_is_too_large(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, message_bytes=10_000)) as service:
        table = await seated(service.platform)
        before = await seen(service, table, 0)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await act(service, table, 0, PASS, command_id="x" * 10_001)
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        await stream.say(pb.PlayRequest(command_id="x" * 10_001))
        await stream.rest()
        assert stream.refused is not None
        assert stream.refused.code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await seen(service, table, 0) == before


async def test_more_streams_than_a_seat_may_have(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, streams_per_seat=2)) as service:
        table = await seated(service.platform)
        waiting = [RawSeat(service, table.tokens[0]) for _ in range(2)]
        await eventually(lambda: service.server.seats.streams == 2)
        third = RawSeat(service, table.tokens[0])
        await third.rest()
        assert third.refused is not None
        assert (third.refused.code, third.refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
        await RawSeat(service, table.tokens[1]).attach()
        await waiting[0].attach()
        await waiting[1].attach()
        await waiting[0].rest()
        await RawSeat(service, table.tokens[0]).attach()


async def test_more_rooms_than_a_server_holds(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, rooms=2, platform_rooms=3)) as service:
        for number in range(2):
            await service.platform.create_room("alice", command_id=f"{number}")
        with pytest.raises(CallRefused) as refused:
            await service.platform.create_room("alice", command_id="third")
        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_ROOMS")
        assert refused.value.refusal is not None
        assert refused.value.refusal.too_many_rooms.limit == 2
        assert (await service.platform.create_room("alice", command_id="1")).room.version == 1, (
            "one that is there already"
        )


async def test_more_streams_than_a_server_takes(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, streams=2, platform_streams=3)) as service:
        table = await seated(service.platform)
        taken = [RawSeat(service, token) for token in table.tokens[:2]]
        for stream in taken:
            await stream.attach()
        third = RawSeat(service, table.tokens[2])
        await third.rest()
        assert third.refused is not None
        assert (third.refused.code, third.refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
        await taken[0].call.done_writing()
        await taken[0].rest()
        assert (await RawSeat(service, table.tokens[2]).attach()).version == 5, "a place is free again"


async def test_a_stream_turned_away_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, streams=0)) as service:
        table = await seated(service.platform)
        call = service.seats.Play(metadata=bearer(table.tokens[0]))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call.read()
        delay = refusal_of(refused.value).retry_delay
        assert delay is not None
        assert 1 <= delay <= 5


async def test_more_watchers_than_a_server_takes(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, watchers=1)) as service:
        await service.platform.create_room("alice")
        first = service.platform.watch()
        await anext(first)
        with pytest.raises(CallRefused) as refused:
            await anext(service.platform.watch())
        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS")
        await first.aclose()
        assert await let_in(service), "a place is free again"


async def let_in(service: Service) -> bool:
    """Watch, once the server has seen that the watcher before is gone: until then it takes no other."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(CallRefused):
                async with contextlib.aclosing(service.platform.watch()) as watching:
                    return (await anext(watching)).version == 1
            await asyncio.sleep(0.01)


async def test_a_second_server_is_not_let_onto_the_port_of_the_first(service: Service) -> None:
    """The stack lets several share a port by default: they would share its clients, and not the rooms."""
    second = Server(Settings(MemoryStore(), service.keys, host="127.0.0.1", port=service.server.port))
    try:
        with pytest.raises(RuntimeError):
            await second.start()
    finally:
        await second.stop(grace=0)


async def test_a_room_service_request_may_be_as_large_as_names_are_long(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        owner = "王" * 42
        request = room_service_pb2.CreateRoomRequest(command_id="x" * 64, owner=owner)
        response = await service.rooms.CreateRoom(request, metadata=bearer(service.key))
        assert response.room.owner == owner
