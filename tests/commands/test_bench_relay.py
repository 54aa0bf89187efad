"""The relay of `erqiwang bench`: it tells each seat the recorded messages, byte for byte, over both transports."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import grpc
import pytest

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.testing import seated, served
from erqiwang_grpc.tools.bench.opening import RelayRooms
from erqiwang_grpc.tools.bench.relay import Relay
from erqiwang_grpc.tools.bench.script import Script, record
from erqiwang_grpc.tools.bench.scripted_seat import attach
from erqiwang_grpc.v1 import (
    gateway_service_pb2 as gateway_pb,
    gateway_service_pb2_grpc,
    seat_service_pb2 as pb,
    seat_service_pb2_grpc,
)


@pytest.fixture
async def script() -> Script:
    """A match that was recorded on a real server."""
    async with served() as service, grpc.aio.insecure_channel(service.address) as channel:
        return await record(channel, (await seated(service.platform)).tokens)


@asynccontextmanager
async def relaying(script: Script) -> AsyncIterator[grpc.aio.Channel]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(Relay(script).handlers())
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(None)


def told(script: Script, seat: int) -> bytes:
    """All that a seat is told in the script, as the bytes of one response."""
    return script.attached[seat] + b"".join(turn[seat] for turn in script.turns)


async def test_over_streams(script: Script) -> None:
    tokens = await RelayRooms("here", len(script.attached)).open(0)
    async with relaying(script) as channel:
        stub = seat_service_pb2_grpc.SeatServiceStub(channel)
        calls = [stub.Play(metadata=bearer(token)) for token in tokens]
        heard = [b""] * len(calls)
        for call in calls:
            await call.write(attach())
        await _hear(calls, heard)
        for number, _ in enumerate(script.turns):
            await calls[number % len(calls)].write(pb.PlayRequest(command=pb.Command()))
            await _hear(calls, heard)
        assert heard == [told(script, seat) for seat in range(len(calls))]
        for call in calls:
            call.cancel()


async def _hear(
    calls: Sequence["grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"], heard: list[bytes]
) -> None:
    for seat, call in enumerate(calls):
        response = await call.read()
        assert isinstance(response, pb.PlayResponse)
        heard[seat] += response.SerializeToString()


async def test_through_a_gateway(script: Script) -> None:
    """The rooms are apart: a turn of one is told to nobody in the other."""
    seats = len(script.attached)
    rooms = RelayRooms("here", seats)
    tokens = [*await rooms.open(0), *await rooms.open(1)]
    expected = {handle: told(script, handle) for handle in range(seats)} | {
        seats + seat: script.attached[seat] for seat in range(seats)
    }
    async with relaying(script) as channel:
        call = gateway_service_pb2_grpc.GatewayServiceStub(channel).Connect()
        opening = [
            gateway_pb.SeatRequest(handle=handle, open=gateway_pb.OpenSeat(seat_token=token))
            for handle, token in enumerate(tokens)
        ]
        acting = [gateway_pb.SeatRequest(handle=0, command=pb.Command())] * len(script.turns)
        await call.write(gateway_pb.ConnectRequest(requests=opening + acting))
        heard: dict[int, bytes] = {}
        while not _is_all(heard, expected):
            response = await call.read()
            assert isinstance(response, gateway_pb.ConnectResponse)
            for seat in response.seats:
                messages = pb.PlayResponse(messages=seat.messages).SerializeToString()
                heard[seat.handle] = heard.get(seat.handle, b"") + messages
        assert heard == expected
        call.cancel()


def _is_all(heard: Mapping[int, bytes], expected: Mapping[int, bytes]) -> bool:
    return sum(map(len, heard.values())) >= sum(map(len, expected.values()))
