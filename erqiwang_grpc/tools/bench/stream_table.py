"""A table whose seats have a stream and a connection each, as players' devices have."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias, final

import grpc

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.tools.bench.opening import opener
from erqiwang_grpc.tools.bench.orders import Orders
from erqiwang_grpc.tools.bench.scripted_seat import Reply, attach, reply, request
from erqiwang_grpc.tools.bench.turns import Turns
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc

PlayCall: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"


@final
class StreamTable:
    """Plays one room after another with scripted seats. Each seat has its own connection.

    Its methods raise `CallRefused` if a room is not opened, `grpc.RpcError` or `asyncio.InvalidStateError` if a call
    fails, `ConnectionError` if a stream ends early, and `ValueError` if a command is refused.
    """

    def __init__(self, orders: Orders, number: int, turns: Turns) -> None:
        # By default, gRPC uses one connection for all channels with the same arguments.
        own = [("grpc.use_local_subchannel_pool", 1)]
        self._channels = [
            grpc.aio.insecure_channel(orders.address(number, seat), options=own) for seat in range(orders.seats)
        ]
        self._stubs = [rpc.SeatServiceStub(channel) for channel in self._channels]
        self._opener = opener(orders, number)
        self._deals_left = orders.deals
        self.turns = turns
        self._rooms = 0
        self._tokens: Sequence[str] = ()
        self._calls: list[PlayCall] = []
        self._first: list[Reply] = []

    async def seat(self) -> None:
        """Open a new room and take its seats."""
        self._tokens = await self._opener.open(self._rooms)
        self._rooms += 1

    async def attach(self) -> None:
        """Open the stream of each seat, and wait for its snapshot."""
        seats = zip(self._stubs, self._tokens, strict=True)
        self._calls = [stub.Play(metadata=bearer(token)) for stub, token in seats]
        for call in self._calls:
            await call.write(attach())
        self._first = [reply((await _read(call)).messages) for call in self._calls]

    async def play(self) -> None:
        """Play the ordered deals, in a new room after each match. Plays until cancelled if no number is ordered."""
        while True:
            seats = zip(self._calls, self._first, strict=True)
            settled = await asyncio.gather(*(self._play(call, first) for call, first in seats))
            self._close_streams()
            if self._deals_left is not None:
                self._deals_left -= settled[0]
                if self._deals_left <= 0:
                    return
            await self.seat()
            await self.attach()

    async def stay(self) -> None:
        """Send nothing, and read what comes until cancelled."""
        await asyncio.gather(*(self._stay(call) for call in self._calls))

    async def close(self) -> None:
        """Close the streams and the connections."""
        self._close_streams()
        await asyncio.gather(*(channel.close() for channel in self._channels))

    def _close_streams(self) -> None:
        for call in self._calls:
            call.cancel()

    async def _play(self, call: PlayCall, heard: Reply) -> int:
        """Play one seat until its match is over or the ordered deals are settled; gives the number of settled deals."""
        course, sent, settled = self.turns.course, 0.0, 0
        while True:
            settled += heard.settled or heard.over
            if heard.over or settled == self._deals_left:
                return settled
            if heard.command is not None:
                if not self.turns.at_once():
                    await course.turn()
                sent = course.sent()
                await call.write(request(course.commands, heard.command))
            heard = reply((await _read(call)).messages)
            if heard.answered:
                course.answered(sent)

    async def _stay(self, call: PlayCall) -> None:
        while True:
            await _read(call)


async def _read(call: PlayCall) -> pb.PlayResponse:
    response = await call.read()
    if not isinstance(response, pb.PlayResponse):
        raise ConnectionError("the server ended the stream")
    return response
