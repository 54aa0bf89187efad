"""The bare relay: answers each command with the next turn of a recorded match, to all seats of the room. No game.

`python -m erqiwang_grpc.tools.bench.relay SCRIPT` serves the script in this file, and prints its address. Seats reach it
over streams of their own and over gateway streams, as they reach a server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias, final

import grpc
import uvloop

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.collector import calm_the_collector
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.server import channel_options
from erqiwang_grpc.rpc.wire.encode.packing import tag, varint
from erqiwang_grpc.tools.bench.script import Script, load
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb

_SEATS: Final = pb.DESCRIPTOR.services_by_name["SeatService"].full_name
_GATEWAYS: Final = gateway_pb.DESCRIPTOR.services_by_name["GatewayService"].full_name
_RESPONSE_BYTES: Final = 64 * 1024
"""Bytes after which nothing more is put into a gateway's response, as in the server."""
_SEAT_TAG: Final = tag(gateway_pb.ConnectResponse.SEATS_FIELD_NUMBER)
_SCHEME: Final = bearer("")[0][1]

Taker: TypeAlias = Callable[[bytes], None]
"""Takes the serialized responses to one seat."""


def place(token: str) -> tuple[str, int]:
    """The room and the seat that a token of `opening.RelayRooms` names."""
    room, _, seat = token.rpartition("#")
    return room, int(seat)


def _nobody(_: bytes) -> None:
    """Takes what is told to a seat that is not attached."""


@final
class _Room:
    """Who takes the responses to each seat, and how many turns of the script the room has played."""

    def __init__(self, seats: int) -> None:
        self.takers: list[Taker] = [_nobody] * seats
        self.turn = 0


@final
class _Outbox:
    """What waits for one gateway, seat by seat. A response has what waits when it is written, as the server's has."""

    def __init__(self) -> None:
        self._waiting: dict[int, list[bytes]] = {}
        self._more = asyncio.Event()

    def put(self, handle: int, response: bytes) -> None:
        """Let a response wait. Its messages have the same form in a `PlayResponse` and in `SeatMessages`."""
        self._waiting.setdefault(handle, []).append(response)
        self._more.set()

    async def take(self) -> bytes:
        """The next response, serialized. Waits until there is one."""
        await self._more.wait()
        parts: list[bytes] = []
        left = _RESPONSE_BYTES
        while self._waiting and left > 0:
            handle = next(iter(self._waiting))
            body = b"".join(
                [*self._waiting.pop(handle), gateway_pb.SeatMessages(handle=handle).SerializeToString()],
            )
            parts += (_SEAT_TAG, varint(len(body)), body)
            left -= len(body)
        if not self._waiting:
            self._more.clear()
        return b"".join(parts)


@final
class Relay:
    """`Play` and `Connect` without a game: each command brings the next turn of the script, whatever it says.

    A token names its room and seat. A room begins with its first seat.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._rooms: dict[str, _Room] = {}

    async def play(
        self,
        request_iterator: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, bytes],
    ) -> None:
        """Serve the stream of one seat: send it its responses until the client leaves."""
        metadata = dict(context.invocation_metadata() or ())
        name, seat = place(str(metadata["authorization"]).removeprefix(_SCHEME))
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        listener = asyncio.create_task(self._listen(self._room(name), seat, queue.put_nowait, request_iterator))
        try:
            while True:
                await context.write(await queue.get())
        finally:
            listener.cancel()

    async def connect(
        self,
        request_iterator: AsyncIterator[gateway_pb.ConnectRequest],
        context: grpc.aio.ServicerContext[gateway_pb.ConnectRequest, bytes],
    ) -> None:
        """Serve the stream of one gateway: send its seats their responses until it leaves."""
        outbox = _Outbox()
        listener = asyncio.create_task(self._listen_to_gateway(outbox, request_iterator))
        try:
            while True:
                await context.write(await outbox.take())
        finally:
            listener.cancel()

    async def _listen(self, room: _Room, seat: int, taker: Taker, requests: AsyncIterator[pb.PlayRequest]) -> None:
        async for request in requests:
            if request.HasField("attach"):
                self._attach(room, seat, taker)
            else:
                self._next_turn(room)

    async def _listen_to_gateway(self, outbox: _Outbox, messages: AsyncIterator[gateway_pb.ConnectRequest]) -> None:
        rooms: dict[int, _Room] = {}
        async for message in messages:
            for request in message.requests:
                match request.WhichOneof("request"):
                    case "open":
                        name, seat = place(request.open.seat_token)
                        rooms[request.handle] = self._room(name)
                        self._attach(rooms[request.handle], seat, partial(outbox.put, request.handle))
                    case "command":
                        self._next_turn(rooms[request.handle])
                    case _:
                        rooms.pop(request.handle)

    def _room(self, name: str) -> _Room:
        return self._rooms.setdefault(name, _Room(len(self._script.attached)))

    def _attach(self, room: _Room, seat: int, taker: Taker) -> None:
        room.takers[seat] = taker
        taker(self._script.attached[seat])

    def _next_turn(self, room: _Room) -> None:
        for take, response in zip(room.takers, self._script.turns[room.turn], strict=True):
            take(response)
        room.turn += 1

    def handlers(self) -> tuple[grpc.GenericRpcHandler, ...]:
        """What a server hands the calls to. They write bytes, as the real server's do."""
        play: grpc.RpcMethodHandler[pb.PlayRequest, bytes] = grpc.stream_stream_rpc_method_handler(
            self.play, pb.PlayRequest.FromString
        )
        connect: grpc.RpcMethodHandler[gateway_pb.ConnectRequest, bytes] = grpc.stream_stream_rpc_method_handler(
            self.connect, gateway_pb.ConnectRequest.FromString
        )
        return (
            grpc.method_handlers_generic_handler(_SEATS, {"Play": play}),
            grpc.method_handlers_generic_handler(_GATEWAYS, {"Connect": connect}),
        )


async def _serve(path: Path) -> None:
    # Options, event loop and garbage collection are the server's, which writes bytes too: only the game makes a difference.
    server = grpc.aio.server(options=channel_options(Limits()))
    server.add_generic_rpc_handlers(Relay(load(path)).handlers())
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    calm_the_collector()
    print(f"relay serves on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(_serve(Path(sys.argv[1])))
