"""Gateways for these tests: a raw stream, and its seats, which a test may use wherever it uses a seat's own stream."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, TypeAlias, final

import grpc

from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb
from tests.service.tables import PATIENCE, RawSeat, SeatEar, Served, Service, Table, refused

SeatOf: TypeAlias = Callable[[str], SeatEar]
"""Gives an ear for the seat of a token, on some transport."""
STATUSES: Final = {code.value[0]: code for code in grpc.StatusCode}


@final
class RawGateway:
    """A gateway's stream. What comes for a seat is kept for its ear."""

    def __init__(self, service: Served, key: str, *metadata: tuple[str, str]) -> None:
        self.call: grpc.aio.StreamStreamCall[gateway_pb.ConnectRequest, gateway_pb.ConnectResponse]
        self.call = service.gateways.Connect(metadata=(*bearer(key), *metadata))
        self.refused: CallRefused | None = None
        """The error that the stream ended with; None if it has not ended, or ended without one."""
        self.goodbye = pb.Goodbye()
        self.heartbeats = 0
        self.responses: list[gateway_pb.ConnectResponse] = []
        self._seats: dict[int, asyncio.Queue[gateway_pb.SeatMessages | None]] = {}
        self._writing = asyncio.Lock()
        self.reading = asyncio.create_task(self._read())

    def seat(self, token: str, handle: int | None = None) -> "GatewayEar":
        """An ear for a seat, not attached yet, under the next handle."""
        number = len(self._seats) if handle is None else handle
        self._seats[number] = asyncio.Queue()
        return GatewayEar(self, number, token)

    async def say(self, *requests: gateway_pb.SeatRequest) -> None:
        """Send one message with these requests."""
        async with self._writing:  # two writes at once would fail
            await self.call.write(gateway_pb.ConnectRequest(requests=requests))

    async def told(self, handle: int) -> gateway_pb.SeatMessages | None:
        """The next messages for a handle; None once the stream has ended."""
        return await asyncio.wait_for(self._seats[handle].get(), PATIENCE)

    async def end(self) -> None:
        """Wait for the end of the stream."""
        await asyncio.wait_for(asyncio.shield(self.reading), PATIENCE)

    async def _read(self) -> None:
        try:
            async for response in self.call:
                self.responses.append(response)
                for told in response.seats:
                    self._seats[told.handle].put_nowait(told)
                self.heartbeats += response.HasField("heartbeat")
                if response.HasField("goodbye"):
                    self.goodbye = response.goodbye
        except grpc.aio.AioRpcError as error:
            self.refused = refused(error)
        finally:
            for queue in self._seats.values():
                queue.put_nowait(None)


@final
class GatewayEar(SeatEar):
    """One seat of a gateway. It takes the requests of a seat's own stream, and says them as a gateway does."""

    def __init__(self, gateway: RawGateway, handle: int, token: str) -> None:
        super().__init__()
        self.gateway = gateway
        self.handle = handle
        self.ended: gateway_pb.SeatEnded | None = None
        """How the seat ended; None if it has not."""
        self.token = token
        self._is_open = False

    async def say(self, request: pb.PlayRequest) -> None:
        await self.gateway.say(self._said(request))

    def _said(self, request: pb.PlayRequest) -> gateway_pb.SeatRequest:
        said = gateway_pb.SeatRequest(handle=self.handle, command_id=request.command_id)
        if request.HasField("expected_version"):
            said.expected_version = request.expected_version
        last_version = request.attach.last_version if request.attach.HasField("last_version") else None
        match request.WhichOneof("request"):
            case "attach" if not self._is_open:
                self._is_open = True
                said.open.CopyFrom(gateway_pb.OpenSeat(seat_token=self.token, last_version=last_version))
            case "attach":
                said.resync.CopyFrom(gateway_pb.Resync(last_version=last_version))
            case "detach":
                said.close.SetInParent()
            case "command":
                said.command.CopyFrom(request.command)
            case "record":
                said.record.SetInParent()
            case "hint":
                said.hint.SetInParent()
            case other:
                raise AssertionError(f"a gateway says no {other}")
        return said

    async def _receive(self) -> Sequence[pb.SeatMessage] | None:
        if self.ended is not None:
            return None
        told = await self.gateway.told(self.handle)
        if told is None:
            self.refused = self.gateway.refused
            return None
        if told.HasField("ended"):
            self.ended = told.ended
            if told.ended.code:
                self.refused = CallRefused(STATUSES[told.ended.code], told.ended.reason, told.ended.message, None)
        return told.messages


@asynccontextmanager
async def gateway_of(service: Service, key: str | None = None) -> AsyncIterator[RawGateway]:
    """A gateway's stream, which is closed when the context is left."""
    gateway = RawGateway(service, service.gateway_key() if key is None else key)
    try:
        yield gateway
    finally:
        gateway.call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await gateway.reading


@asynccontextmanager
async def by_stream(service: Service) -> AsyncIterator[SeatOf]:
    """Seats on streams of their own."""
    yield lambda token: RawSeat(service, token)


@asynccontextmanager
async def by_gateway(service: Service) -> AsyncIterator[SeatOf]:
    """Seats on one gateway's stream."""
    async with gateway_of(service) as gateway:
        yield gateway.seat


Transport: TypeAlias = Callable[[Service], AbstractAsyncContextManager[SeatOf]]
TRANSPORTS: Final[dict[str, Transport]] = {"Play": by_stream, "Connect": by_gateway}
"""The ways to a seat, by the rpc that carries it."""


async def opened(gateway: RawGateway, table: Table) -> list[GatewayEar]:
    """Every seat of the table, open."""
    ears = [gateway.seat(token) for token in table.tokens]
    for ear in ears:
        await ear.attach()
    return ears
