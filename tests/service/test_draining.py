"""Leaving: a server that is told to go tells its seats, loses nothing, and the next one goes on where it stopped."""

import asyncio
import signal
from functools import partial
from pathlib import Path
from typing import TypeAlias

import grpc
import pytest
from grpc_health.v1 import health_pb2

from erqiwang_grpc.client import SeatClient, refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.testing import NotStarted
from erqiwang_grpc.v1 import bidding_pb2, room_pb2, room_service_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.processes import LOG, serving
from tests.service.tables import (
    PATIENCE,
    RawSeat,
    Service,
    act,
    attached,
    eventually,
    in_phase,
    play_all,
    seated,
    seen,
    step,
)
from tests.service.test_places import watch

Watch: TypeAlias = "grpc.aio.UnaryStreamCall[room_service_pb2.WatchRoomsRequest, room_service_pb2.WatchRoomsResponse]"


def has_come_back(seat: SeatClient) -> bool:
    return seat.connections == 2


async def test_a_match_goes_on_over_a_restart(tmp_path: Path) -> None:
    """The clients are told to go, wait, come back by themselves, and finish the deal on the next server."""
    async with serving(tmp_path) as first:
        port = first.port
        async with grpc.aio.insecure_channel(first.address) as channel:
            served = first.speaking(channel)
            table = await seated(served.platform)
            async with attached(served, table) as seats:
                await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))
                versions = [seat.version for seat in seats]
                views = [seat.view for seat in seats]
                assert await first.stop() == 0
                async with serving(tmp_path, port=port):
                    await asyncio.gather(*(seat.until(partial(has_come_back, seat)) for seat in seats))
                    assert [seat.version for seat in seats] == versions
                    assert [seat.view for seat in seats] == views
                    await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
                    assert (await served.platform.room(table.room_id)).state == room_pb2.ROOM_STATE_PLAYING


async def test_streams_are_told_to_go_and_when_to_come_back(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        table = await seated(served.platform)
        streams = [RawSeat(served, token) for token in table.tokens]
        for stream in streams:
            await stream.attach()
        watching = served.rooms.WatchRooms(room_service_pb2.WatchRoomsRequest(), metadata=bearer(server.key))
        await watching.read()
        stopping = asyncio.create_task(server.stop())
        delays = []
        for stream in streams:
            goodbye = (await stream.rest())[-1].goodbye
            assert goodbye.reason == pb.Goodbye.REASON_DRAINING
            delays.append(goodbye.retry_delay.ToMilliseconds())
            assert stream.refused is not None
            assert (stream.refused.code, stream.refused.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
        assert all(100 <= delay <= 2000 for delay in delays)
        assert await ending(watching) == "DRAINING"
        assert await stopping == 0


async def test_a_lame_duck_serves_on_and_says_that_it_leaves(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "--lame-duck", "2") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        served = server.speaking(channel)
        table = await seated(served.platform)
        seat = RawSeat(served, table.tokens[0])
        await seat.attach()
        statuses = aiter(watch(channel))
        assert (await anext(statuses)).status == health_pb2.HealthCheckResponse.SERVING
        stopping = asyncio.create_task(server.stop())
        assert (await anext(statuses)).status == health_pb2.HealthCheckResponse.NOT_SERVING
        accepted = await step(served, table)
        late = RawSeat(served, table.tokens[1])
        await late.attach()
        told = await seat.rest()
        assert accepted.first_version in {message.notice.version for message in told}, "it was told before the goodbye"
        assert told[-1].goodbye.reason == pb.Goodbye.REASON_DRAINING
        assert (await late.rest())[-1].goodbye.reason == pb.Goodbye.REASON_DRAINING
        assert await stopping == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_a_second_signal_ends_the_pause(tmp_path: Path, number: signal.Signals, status: int) -> None:
    async with (
        serving(tmp_path, "--lame-duck", "600") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        served = server.speaking(channel)
        table = await seated(served.platform)
        seat = RawSeat(served, table.tokens[0])
        await seat.attach()
        server.process.send_signal(number)
        await eventually(lambda: server.said("leaving") == 1)
        server.process.send_signal(number)
        assert (await seat.rest())[-1].goodbye.reason == pb.Goodbye.REASON_DRAINING
        assert await asyncio.wait_for(server.process.wait(), PATIENCE) == status
        assert [server.said(each) for each in ("leaving", "draining", "drained", "stopped")] == [1, 1, 1, 1]


@pytest.mark.parametrize("flag", ["--lame-duck", "--grace"])
async def test_a_pause_of_years_is_refused(tmp_path: Path, flag: str) -> None:
    with pytest.raises(NotStarted):
        async with serving(tmp_path, flag, "1e9"):
            pass
    assert "is longer than an hour" in (tmp_path / LOG).read_text()


async def test_a_stream_that_attaches_too_late_is_told_to_go(service: Service) -> None:
    """It was let in before the server began to leave, and has not said a word."""
    table = await seated(service.platform)
    late = RawSeat(service, table.tokens[0])
    await eventually(lambda: service.server.seats.streams == 1)
    early = RawSeat(service, table.tokens[1])
    await early.attach()
    stopping = asyncio.create_task(service.server.stop(grace=PATIENCE))
    await early.rest()
    assert await late.rest() == []
    assert late.refused is not None
    assert (late.refused.code, late.refused.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
    await stopping


async def to_the_end(watching: Watch) -> None:
    while await watching.read() is not grpc.aio.EOF:
        pass


async def ending(watching: Watch) -> str:
    """Why a watch ended."""
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await to_the_end(watching)
    return refusal_of(refused.value).reason


async def test_what_was_answered_is_there_after_a_kill(tmp_path: Path) -> None:
    """Without any leaving: a command is on disk before anyone is told of it."""
    async with (
        serving(tmp_path, "--commands-per-second", "100000") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        served = server.speaking(channel)
        table = await seated(served.platform)
        accepted = [await step(served, table) for _ in range(20)]
        before = [await seen(served, table, seat) for seat in range(3)]
        server.process.kill()
        await server.process.wait()
    assert before[0].version == accepted[-1].last_version
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        assert [await seen(served, table, seat) for seat in range(3)] == before


async def test_a_command_that_is_under_way_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        tables = [await seated(served.platform) for _ in range(20)]
        bid = pb.Command(bid=bidding_pb2.Bid(points=70))
        calls = [asyncio.create_task(act(served, table, 0, bid)) for table in tables]
        await eventually(lambda: any(call.done() for call in calls))
        stopping = asyncio.create_task(server.stop())
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert await stopping == 0
    answered = [isinstance(answer, pb.ActResponse) for answer in answers]
    assert any(answered)
    async with serving(tmp_path) as server, grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        for table, was_answered in zip(tables, answered, strict=True):
            version = (await seen(served, table, 0)).version
            assert version == 6 or not was_answered
