"""The stream of a gateway: keeps it open over lost connections, and sends what waits in few messages."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Protocol, Self, TypeAlias, final

import grpc

from erqiwang_grpc.client.calls import Cancellation, Status, bearer
from erqiwang_grpc.client.commands import Ended
from erqiwang_grpc.client.servers import Options, Servers
from erqiwang_grpc.client.timing import BackOff, Heart, Timing
from erqiwang_grpc.v1 import gateway_service_pb2 as pb, gateway_service_pb2_grpc as rpc

_PARTING_SECONDS: Final = 5.0
_MESSAGE_BYTES: Final = 32 * 1024
"""Bytes after which no request is added to a message. A server takes 64 KiB by default."""
_MOST_WAITING: Final = 1024 * 1024
"""Bytes of requests that may wait for the server before `room` waits."""
_Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.ConnectRequest, pb.ConnectResponse]"


class Seats(Protocol):
    """The seats of a gateway: what they do as its stream begins, speaks and ends."""

    def begin(self) -> None:
        """A stream has begun. Ask for all seats on it."""

    async def hear(self, response: pb.ConnectResponse) -> None:
        """Take in a response of the server."""

    def lose(self) -> None:
        """The stream was lost, and with it all seats. Another one will begin, or `end` follows."""

    def is_for_good(self, address: str, ended: Ended) -> bool:
        """Whether no stream is to follow the one that the server at this address has ended so."""

    async def end(self, ended: Ended) -> None:
        """No stream will begin any more."""


@final
class GatewayStream:
    """One stream to one of several servers. `async with` connects, and closes at the end.

    If the connection is lost, it reconnects, to the next of `addresses` if the server is gone. All addresses must lead to
    the same store. What the seats on the stream are is the business of `seats`.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        key: str,
        seats: Seats,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        options: Options = (),
        timing: Timing | None = None,
    ) -> None:
        self._servers = Servers(addresses, credentials, options)
        self._metadata = bearer(key)
        self._seats = seats
        self._timing = Timing() if timing is None else timing
        self._outgoing: deque[pb.SeatRequest] = deque()
        self.waiting_bytes = 0
        """The bytes of the requests that wait."""
        self._room = asyncio.Event()
        self._room.set()
        self._ready = asyncio.Event()
        self._is_over = False
        self._call: _Call | None = None
        self._dropping = False
        self._running: asyncio.Task[None] | None = None
        self.connections = 0
        """The number of streams on which the server has said something."""
        self.ended: Ended | None = None
        """How the stream ended for good; None while it has not."""

    @property
    def is_open(self) -> bool:
        """Whether requests can be put: a stream has begun and was not lost."""
        return self._call is not None

    @property
    def address(self) -> str:
        """The address of the server in use, or of the one that is tried."""
        return self._servers.address

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over = True
        self._ready.set()
        if self._running is None:
            return
        try:
            if self._call is not None:
                await asyncio.wait([self._running], timeout=_PARTING_SECONDS)
        finally:
            self._running.cancel()
            try:
                await asyncio.wait([self._running])
            finally:
                await self._servers.close()
            if not self._running.cancelled():
                self._running.result()

    def put(self, request: pb.SeatRequest) -> None:
        """Send a request with what else waits. What is put while the stream is not open is lost."""
        self._outgoing.append(request)
        self._count(request.ByteSize())
        self._ready.set()

    async def room(self) -> None:
        """Wait while a megabyte waits for a server that does not read, or is frozen. `put` itself takes what it is given."""
        await self._room.wait()

    def drop(self) -> None:
        """Close the connection as a bad network would, for tests. The client reconnects by itself."""
        if self._call is not None:
            self._dropping = True
            self._call.cancel()

    async def _run(self) -> None:
        """Keep a stream open, and reconnect after each loss, until it ends for good."""
        back_off = BackOff(self._timing)
        cancellation = Cancellation()
        last = Ended(grpc.StatusCode.CANCELLED, "left")
        try:
            while True:
                before, address = self.connections, self._servers.address
                outcome = await self._connection(address)
                cancellation.heed()
                if isinstance(outcome, Ended):
                    last = outcome
                    return
                elsewhere, delay = outcome
                if self.connections > before:
                    back_off.begin_again()
                if elsewhere or self.connections == before:
                    self._servers.leave(address)
                await self._timing.sleep(back_off.wait(delay))
        finally:
            self.ended = last
            await self._seats.end(last)

    async def _connection(self, address: str) -> Ended | tuple[bool, float | None]:
        """Run one stream; gives how it ended, or if it was lost, whether to go elsewhere and the delay that was asked for."""
        call = rpc.GatewayServiceStub(self._servers.channel()).Connect(metadata=self._metadata)
        status = Status(call)
        self._call, self._dropping = call, False
        self._forget()
        heart = Heart(self._timing)
        talking = [asyncio.create_task(self._write(call, heart)), asyncio.create_task(self._beat(heart))]
        try:
            self._seats.begin()
            return await self._read(call, status, address)
        except asyncio.CancelledError:
            if not self._dropping:
                raise
            return False, None
        finally:
            self._call = None
            self._forget()
            call.cancel()
            for each in talking:
                each.cancel()
            await asyncio.wait(talking)
            self._seats.lose()

    async def _read(self, call: _Call, status: Status, address: str) -> Ended | tuple[bool, float | None]:
        heard = False
        # If a write met the end of the call, what is raised is not the server's status.
        with contextlib.suppress(grpc.aio.AioRpcError):
            async for response in call:
                self.connections += not heard
                heard = True
                await self._seats.hear(response)
                if response.HasField("goodbye"):
                    delay = response.goodbye.retry_delay.ToMilliseconds() / 1000
                    return True, delay if response.goodbye.HasField("retry_delay") else None
        how = await status.ending()
        ended = Ended(how.code, how.why, reason=how.reason)
        if self._is_over or self._seats.is_for_good(address, ended):
            return ended
        return False, how.retry_delay

    async def _write(self, call: _Call, heart: Heart) -> None:
        """Send what waits, as much as goes into one message at a time; half-close once the gateway is left."""
        # If the stream ends during a write, the reader learns why.
        with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
            while True:
                while self._outgoing:
                    heart.spoken()
                    await call.write(self._message())
                if self._is_over:
                    await call.done_writing()
                    return
                self._ready.clear()
                await self._ready.wait()
                if not self._outgoing and not self._is_over:
                    heart.spoken()
                    await call.write(pb.ConnectRequest())

    def _message(self) -> pb.ConnectRequest:
        message, size = pb.ConnectRequest(), 0
        while self._outgoing and size < _MESSAGE_BYTES:
            request = self._outgoing.popleft()
            size += request.ByteSize()
            message.requests.append(request)
        self._count(-size)
        return message

    def _count(self, size: int) -> None:
        self.waiting_bytes += size
        if self.waiting_bytes < _MOST_WAITING:
            self._room.set()
        else:
            self._room.clear()

    def _forget(self) -> None:
        """Drop what waits: it was for a stream that is gone."""
        self._outgoing.clear()
        self._count(-self.waiting_bytes)

    async def _beat(self, heart: Heart) -> None:
        """Have the writer send an empty message whenever nothing was sent for a while."""
        while True:
            await heart.due()
            heart.spoken()
            self._ready.set()
