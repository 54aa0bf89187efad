"""Limits: whoever meets one is told which, and what to do; everybody else goes on."""

import asyncio
from dataclasses import replace
from pathlib import Path
from time import time_ns

import grpc
import pytest
from erqiwang_core.units import Seat

from erqiwang_grpc.client import CallRefused, refusal_of
from erqiwang_grpc.client.calls import bearer, retry_delay
from erqiwang_grpc.rooms.limits import SECOND, Limits
from erqiwang_grpc.v1 import bidding_pb2, room_service_pb2, seat_service_pb2 as pb
from tests.service.tables import PATIENCE, ROOMY, RawSeat, act, eventually, seated, seen, served

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


async def test_more_commands_than_a_seat_may_send(tmp_path: Path) -> None:
    clock = time_ns()
    async with served(tmp_path, limits=Limits(commands_per_second=5), now=lambda: clock) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        reasons: list[str] = []
        for number in range(12):
            await stream.say(pb.PlayRequest(command_id=f"{number}", command=PASS))
            reasons.append(str((await stream.hear("refused")).refused.refusal.WhichOneof("reason")))
        assert reasons == ["first_bidder_must_bid"] * 10 + ["too_many_commands"] * 2, "a burst of twice as many"
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await act(service, table, 0, PASS)
        refused = refusal_of(error.value)
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_COMMANDS")
        assert refused.refusal is not None
        assert refused.refusal.too_many_commands == 5
        assert retry_delay(error.value) == 1.0
        with pytest.raises(grpc.aio.AioRpcError) as of_another:
            await act(service, table, 1, PASS)
        assert refusal_of(of_another.value).reason == "NOT_YOUR_TURN", "each seat has its own allowance"
        clock += SECOND // 5
        for reason in ("first_bidder_must_bid", "too_many_commands"):
            await stream.say(pb.PlayRequest(command=PASS))
            assert (await stream.hear("refused")).refused.refusal.WhichOneof("reason") == reason


async def test_attaching_again_on_a_stream_counts_as_a_command(tmp_path: Path) -> None:
    clock = time_ns()
    async with served(tmp_path, limits=Limits(commands_per_second=1), now=lambda: clock) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        for _ in range(2):
            await stream.say(pb.PlayRequest(attach=pb.Attach()))
            assert (await stream.hear("snapshot")).snapshot.view.seat == 0
        await stream.say(pb.PlayRequest(attach=pb.Attach()))
        assert (await stream.hear("refused")).refused.refusal.too_many_commands == 1
        clock += SECOND
        await stream.say(pb.PlayRequest(attach=pb.Attach()))
        assert (await stream.hear("snapshot")).snapshot.view.seat == 0


async def test_looking_counts_as_a_command(tmp_path: Path) -> None:
    clock = time_ns()
    async with served(tmp_path, limits=Limits(commands_per_second=1), now=lambda: clock) as service:
        table = await seated(service.platform)
        await seen(service, table, 0)
        await service.seats.GetRecord(pb.GetRecordRequest(), metadata=table.metadata(0))
        for look in (
            service.seats.GetView(pb.GetViewRequest(), metadata=table.metadata(0)),
            service.seats.GetRecord(pb.GetRecordRequest(), metadata=table.metadata(0)),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await look
            assert refusal_of(refused.value).reason == "TOO_MANY_COMMANDS"
        await seen(service, table, 1)


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


async def test_a_command_sent_again_costs_nothing(tmp_path: Path) -> None:
    clock = time_ns()
    async with served(tmp_path, limits=Limits(commands_per_second=1), now=lambda: clock) as service:
        table = await seated(service.platform)
        bid = pb.Command(bid=bidding_pb2.Bid(points=70))
        for _ in range(10):
            assert (await act(service, table, 0, bid, command_id="one")).accepted.first_version == 6


async def test_more_rooms_than_a_server_holds(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, rooms=2)) as service:
        for number in range(2):
            await service.platform.create_room("alice", command_id=f"{number}")
        with pytest.raises(CallRefused) as refused:
            await service.platform.create_room("alice", command_id="third")
        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_ROOMS")
        assert refused.value.refusal is not None
        assert refused.value.refusal.too_many_rooms == 2
        assert (await service.platform.create_room("alice", command_id="1")).room.version == 1, (
            "one that is there already"
        )


async def test_more_streams_than_a_server_takes(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, streams=2)) as service:
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
        delay = retry_delay(refused.value)
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


async def test_a_stream_that_does_not_say_attach(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, attach_seconds=0.2)) as service:
        table = await seated(service.platform)
        for request in (None, pb.PlayRequest(heartbeat=pb.Heartbeat()), pb.PlayRequest(command=PASS)):
            stream = RawSeat(service, table.tokens[0])
            if request is not None:
                await stream.say(request)
            assert await stream.rest() == []
            assert stream.refused is not None
            assert (stream.refused.code, stream.refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NOT_ATTACHED")
        assert service.server.seats.streams == 0


async def test_silent_streams_are_told_that_the_server_is_there_and_silent_seats_shown_absent(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, heartbeat_seconds=0.1, absent_seconds=0.5)) as service:
        table = await seated(service.platform)
        silent, other = RawSeat(service, table.tokens[0]), RawSeat(service, table.tokens[1])
        await silent.attach()
        await other.attach()
        assert (await silent.hear("heartbeat")).heartbeat.version == 5
        async with asyncio.timeout(PATIENCE):
            while (await other.hear("presence")).presence.present[0]:
                await other.say(pb.PlayRequest(heartbeat=pb.Heartbeat()))
        assert not service.room(table.room_id).present(Seat(0))
        await silent.say(pb.PlayRequest(heartbeat=pb.Heartbeat()))
        while not (await other.hear("presence")).presence.present[0]:
            pass
        bid = pb.Command(bid=bidding_pb2.Bid(points=70))
        await act(service, table, 0, bid)
        assert (await silent.hear("notice")).notice.version == 6, "it was never played for, and never cut off"


async def test_a_room_service_request_may_be_as_large_as_names_are_long(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        owner = "王" * 42
        request = room_service_pb2.CreateRoomRequest(command_id="x" * 64, owner=owner)
        response = await service.rooms.CreateRoom(request, metadata=bearer(service.key))
        assert response.room.owner == owner
