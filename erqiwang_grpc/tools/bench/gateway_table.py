"""Tables whose seats are all on one gateway stream, as a platform's edge process has them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Final, TypeAlias, final

import grpc

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.tools.bench.opening import opener
from erqiwang_grpc.tools.bench.orders import Orders
from erqiwang_grpc.tools.bench.scripted_seat import Reply, reply, request
from erqiwang_grpc.tools.bench.turns import Turns
from erqiwang_grpc.v1 import gateway_service_pb2 as pb, gateway_service_pb2_grpc as rpc, seat_service_pb2

_BATCH: Final = 100
"""The most requests in one message, so that it stays below 64 KiB also where each brings a token."""
_Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.ConnectRequest, pb.ConnectResponse]"


@final
class GatewayStream:
    """The one gateway stream of a load process. What is asked while a message is written goes into the next one."""

    def __init__(self, address: str, key: str) -> None:
        self._channel = grpc.aio.insecure_channel(address)
        self._key = key
        self._seats: dict[int, GatewaySeat] = {}
        self._waiting: list[pb.SeatRequest] = []
        self._asked = asyncio.Event()
        self._handles = count(1)
        self._tasks: list[asyncio.Task[None]] = []

    def open(self, seat: GatewaySeat, token: str) -> int:
        """Ask for the seat of this token; gives its handle. Opens the stream with the first seat."""
        if not self._tasks:
            call = rpc.GatewayServiceStub(self._channel).Connect(metadata=bearer(self._key))
            self._tasks = [asyncio.create_task(self._read(call)), asyncio.create_task(self._write(call))]
        handle = next(self._handles)
        self._seats[handle] = seat
        self.ask(pb.SeatRequest(handle=handle, open=pb.OpenSeat(seat_token=token)))
        return handle

    def shut(self, handle: int) -> None:
        """Leave a seat. Nothing more of it is heard."""
        del self._seats[handle]
        self.ask(pb.SeatRequest(handle=handle, close=pb.CloseSeat()))

    def ask(self, asked: pb.SeatRequest) -> None:
        """Send a request as soon as the stream takes it."""
        self._waiting.append(asked)
        self._asked.set()

    async def close(self) -> None:
        """Close the stream and the connection."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._channel.close()

    async def _read(self, call: _Call) -> None:
        error: Exception = ConnectionError("the server ended the stream")
        try:
            async for response in call:
                for told in response.seats:
                    seat = self._seats.get(told.handle)
                    if seat is not None:
                        seat.hear(told)
        except grpc.RpcError as failed:
            error = failed
        for seat in self._seats.values():
            seat.fail(error)

    async def _write(self, call: _Call) -> None:
        # A write that fails means that the stream has ended, which its reader finds too.
        with suppress(grpc.RpcError, asyncio.InvalidStateError):
            while True:
                await self._asked.wait()
                self._asked.clear()
                while self._waiting:
                    batch, self._waiting = self._waiting[:_BATCH], self._waiting[_BATCH:]
                    await call.write(pb.ConnectRequest(requests=batch))


@final
class GatewaySeat:
    """One scripted seat. It acts in the task that reads the stream, so that a turn costs no task of its own."""

    def __init__(self, stream: GatewayStream, turns: Turns, deals: int | None, token: str) -> None:
        self._stream = stream
        self._turns = turns
        self._deals = deals
        loop = asyncio.get_running_loop()
        self.attached: asyncio.Future[None] = loop.create_future()
        """Done with the snapshot."""
        self.finished: asyncio.Future[int] = loop.create_future()
        """Done with the match, or with the ordered deals; holds the number of settled deals."""
        self._early: list[Reply] | None = []
        """What was heard before the seat plays; None once it does."""
        self._settled = 0
        self._sent = 0.0
        self._later: asyncio.Task[None] | None = None
        self._handle = stream.open(self, token)

    def play(self) -> None:
        """Act from now on, also on what was heard before."""
        early, self._early = self._early, None
        for heard in early or ():
            self._take(heard)

    def hear(self, told: pb.SeatMessages) -> None:
        """Take what the server tells the seat."""
        if told.HasField("ended"):
            self.fail(ConnectionError(told.ended.message))
            return
        try:
            heard = reply(told.messages)
        except ValueError as refused:
            self.fail(refused)
            return
        if self._early is None:
            self._take(heard)
            return
        self._early.append(heard)
        if not self.attached.done():
            self.attached.set_result(None)

    def fail(self, error: Exception) -> None:
        """The seat cannot go on."""
        for waiting in (self.attached, self.finished):
            if not waiting.done():
                waiting.set_exception(error)

    def leave(self) -> None:
        """Close the seat on the stream."""
        self._stream.shut(self._handle)

    def _take(self, heard: Reply) -> None:
        if heard.answered:
            self._turns.course.answered(self._sent)
        if self.finished.done():
            return
        self._settled += heard.settled or heard.over
        if heard.over or self._settled == self._deals:
            self.finished.set_result(self._settled)
        elif heard.command is not None:
            if self._turns.at_once():
                self._send(heard.command)
            else:
                self._later = asyncio.create_task(self._send_later(heard.command))

    async def _send_later(self, command: seat_service_pb2.Command) -> None:
        await self._turns.course.turn()
        self._send(command)

    def _send(self, command: seat_service_pb2.Command) -> None:
        course = self._turns.course
        self._sent = course.sent()
        said = request(course.commands, command)
        self._stream.ask(pb.SeatRequest(handle=self._handle, command_id=said.command_id, command=said.command))


@final
class GatewayTable:
    """Plays one room after another with scripted seats, all on one gateway stream. Its methods are `StreamTable`'s."""

    def __init__(self, orders: Orders, number: int, turns: Turns, stream: GatewayStream) -> None:
        self._stream = stream
        self._opener = opener(orders, number)
        self._deals_left = orders.deals
        self.turns = turns
        self._rooms = 0
        self._tokens: Sequence[str] = ()
        self._seats: list[GatewaySeat] = []

    async def seat(self) -> None:
        """Open a new room and take its seats."""
        self._tokens = await self._opener.open(self._rooms)
        self._rooms += 1

    async def attach(self) -> None:
        """Open each seat on the stream, and wait for its snapshot."""
        self._seats = [GatewaySeat(self._stream, self.turns, self._deals_left, token) for token in self._tokens]
        await asyncio.gather(*(seat.attached for seat in self._seats))

    async def play(self) -> None:
        """Play the ordered deals, in a new room after each match. Plays until cancelled if no number is ordered."""
        while True:
            for seat in self._seats:
                seat.play()
            settled = await asyncio.gather(*(seat.finished for seat in self._seats))
            for seat in self._seats:
                seat.leave()
            if self._deals_left is not None:
                self._deals_left -= settled[0]
                if self._deals_left <= 0:
                    return
            await self.seat()
            await self.attach()

    async def stay(self) -> None:
        """Send nothing until cancelled. What comes is heard all the same."""
        await asyncio.gather(*(seat.finished for seat in self._seats))

    async def close(self) -> None:
        """Nothing is left to close: the stream is not the table's own."""
