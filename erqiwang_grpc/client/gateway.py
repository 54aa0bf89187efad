"""The client of a gateway: many seats over one stream, each with its view, reconnecting as one."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Final, Self, TypeAlias, final

import grpc

from erqiwang_grpc.client.calls import Cancellation, Status, bearer
from erqiwang_grpc.client.commands import Ended
from erqiwang_grpc.client.gateway_seat import GatewaySeat
from erqiwang_grpc.client.inbox import Inbox
from erqiwang_grpc.client.seat import FOR_GOOD
from erqiwang_grpc.client.servers import Options, Servers
from erqiwang_grpc.client.timing import BackOff, Heart, Timing
from erqiwang_grpc.v1 import (
    gateway_service_pb2 as gateway_pb,
    gateway_service_pb2_grpc as rpc,
    seat_service_pb2 as pb,
)

_PARTING_SECONDS: Final = 5.0
_MESSAGE_BYTES: Final = 32 * 1024
"""Bytes after which no request is added to a message. A server takes 64 KiB by default."""
_Call: TypeAlias = "grpc.aio.StreamStreamCall[gateway_pb.ConnectRequest, gateway_pb.ConnectResponse]"


@final
class Gateway:
    """A gateway's stream. `async with Gateway(addresses, gateway_key) as gateway:` connects, and closes at the end.

    `gateway.open(token, last_version)` gives a seat, whose `view` is kept up to date. `gateway.messages()` gives each
    message with the number of its seat. If the connection is lost, the client reconnects, to the next of `addresses` if
    the server is gone, opens its seats again with the last version that each has seen, and sends their unanswered
    commands again with their ids. All addresses must lead to the same store.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        key: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        options: Options = (),
        timing: Timing | None = None,
        keep_messages: int = 16_384,
    ) -> None:
        """`keep_messages` is how many messages are kept until `messages` gives them. With 0 there are only the seats' views."""
        self._servers = Servers(addresses, credentials, options)
        self._metadata = bearer(key)
        self._timing = Timing() if timing is None else timing
        self._seats: dict[int, GatewaySeat] = {}
        self._next = 0
        self._outgoing: deque[gateway_pb.SeatRequest] = deque()
        self._ready = asyncio.Event()
        self._is_over = False
        self._inbox = Inbox(keep_messages, self._resync)
        self._call: _Call | None = None
        self._dropping = False
        self._running: asyncio.Task[None] | None = None
        self.connections = 0
        """The number of streams on which the server has said something."""
        self.ended: Ended | None = None
        """How the stream ended for good; None while it has not."""

    @property
    def seats(self) -> Mapping[int, GatewaySeat]:
        """The seats that have not ended, by their numbers."""
        return MappingProxyType(self._seats)

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

    def open(self, token: str, last_version: int | None = None) -> GatewaySeat:
        """Open the seat of a token. `last_version` came with the token, or is the last that a restarted gateway saw."""
        number = self._next
        self._next += 1
        seat = GatewaySeat(number, token, last_version, self._timing, self._put)
        self._seats[number] = seat
        if self._call is not None:
            seat.open()
        return seat

    async def messages(self) -> AsyncIterator[tuple[int, pb.SeatMessage]]:
        """Each message with the number of its seat, until the stream ends. The seat's view includes it already.

        Messages of one seat come in order. After a `goodbye` a seat has ended; `GatewaySeat.ended` says how.

        Read without long waits. When `keep_messages` are kept, a seat whose next message has no room falls behind: its
        messages are dropped, answers and signals too, until you have read what was kept. Then the client asks for a
        snapshot, which you get in their place. The seats' views and the answers of `act` do not depend on it.
        """
        while (heard := await self._inbox.take()) is not None:
            yield heard

    def drop(self) -> None:
        """Close the connection as a bad network would, for tests. The client reconnects by itself."""
        if self._call is not None:
            self._dropping = True
            self._call.cancel()

    def _put(self, request: gateway_pb.SeatRequest) -> None:
        self._outgoing.append(request)
        self._ready.set()

    async def _run(self) -> None:
        """Keep a stream open, and reconnect after each loss, until it ends for good."""
        back_off = BackOff(self._timing)
        cancellation = Cancellation()
        last = Ended(grpc.StatusCode.CANCELLED, "left")
        try:
            while True:
                before, address = self.connections, self._servers.address
                outcome = await self._connection()
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
            await self._end(last)

    async def _connection(self) -> Ended | tuple[bool, float | None]:
        """Run one stream; gives how it ended, or if it was lost, whether to go elsewhere and the delay that was asked for."""
        call = rpc.GatewayServiceStub(self._servers.channel()).Connect(metadata=self._metadata)
        status = Status(call)
        self._call, self._dropping = call, False
        self._outgoing.clear()
        for seat in self._seats.values():
            seat.open()
        heart = Heart(self._timing)
        talking = [asyncio.create_task(self._write(call, heart)), asyncio.create_task(self._beat(heart))]
        try:
            return await self._read(call, status)
        except asyncio.CancelledError:
            if not self._dropping:
                raise
            return False, None
        finally:
            self._call = None
            call.cancel()
            for each in talking:
                each.cancel()
            await asyncio.wait(talking)
            for seat in self._seats.values():
                seat.lose()

    async def _read(self, call: _Call, status: Status) -> Ended | tuple[bool, float | None]:
        heard = False
        with contextlib.suppress(
            grpc.aio.AioRpcError
        ):  # if a write met the end of the call, it is not the server's status
            async for response in call:
                self.connections += not heard
                heard = True
                for told in response.seats:
                    await self._hear(told)
                if response.HasField("goodbye"):
                    delay = response.goodbye.retry_delay.ToMilliseconds() / 1000
                    return True, delay if response.goodbye.HasField("retry_delay") else None
        how = await status.ending()
        if self._is_over or how.code in FOR_GOOD:
            return Ended(how.code, how.why)
        return False, how.retry_delay

    async def _hear(self, told: gateway_pb.SeatMessages) -> None:
        seat = self._seats.get(told.handle)
        if seat is None:
            return
        for message in told.messages:
            before = seat.version or None
            if await seat.hear(message):
                self._inbox.put(told.handle, message, before)
        if told.HasField("ended") and await seat.end(told.ended):
            del self._seats[told.handle]
            self._inbox.forget(told.handle)

    def _resync(self, number: int, last_version: int | None) -> None:
        if number in self._seats:
            self._seats[number].resync(last_version)

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
                    await call.write(gateway_pb.ConnectRequest())

    def _message(self) -> gateway_pb.ConnectRequest:
        message, size = gateway_pb.ConnectRequest(), 0
        while self._outgoing and size < _MESSAGE_BYTES:
            request = self._outgoing.popleft()
            size += request.ByteSize()
            message.requests.append(request)
        return message

    async def _beat(self, heart: Heart) -> None:
        """Have the writer send an empty message whenever nothing was sent for a while."""
        while True:
            await heart.due()
            heart.spoken()
            self._ready.set()

    async def _end(self, ended: Ended) -> None:
        self.ended = ended
        for seat in self._seats.values():
            await seat.end_for_good(ended)
        self._seats.clear()
        self._inbox.end()
