"""The bare relay: answers each command with the next turn of a recorded match, on all streams of the room. No game.

`python -m erqiwang_grpc.tools.bench.relay SCRIPT` serves the script in this file, and prints its address.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, final

import grpc
import uvloop

from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.server import calm_the_collector, channel_options
from erqiwang_grpc.tools.bench.script import Script, load
from erqiwang_grpc.v1 import seat_service_pb2 as pb

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["SeatService"].full_name


@final
class _Room:
    """A queue of responses for each seat, and how many turns of the script the room has played."""

    def __init__(self, seats: int) -> None:
        self.queues: list[asyncio.Queue[bytes]] = [asyncio.Queue() for _ in range(seats)]
        self.turn = 0


@final
class Relay:
    """`SeatService.Play` without a game: each command brings the next turn of the script, whatever it says.

    The metadata of a stream name its `room` and `seat`. A room begins with its first stream.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._rooms: dict[str, _Room] = {}

    async def play(
        self,
        request_iterator: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, bytes],
    ) -> None:
        """Serve one stream: send the seat its responses until the client leaves."""
        metadata = dict(context.invocation_metadata() or ())
        room = self._rooms.setdefault(str(metadata["room"]), _Room(len(self._script.attached)))
        seat = int(metadata["seat"])
        listener = asyncio.create_task(self._listen(room, seat, request_iterator))
        try:
            while True:
                await context.write(await room.queues[seat].get())
        finally:
            listener.cancel()

    async def _listen(self, room: _Room, seat: int, requests: AsyncIterator[pb.PlayRequest]) -> None:
        async for request in requests:
            if request.HasField("attach"):
                room.queues[seat].put_nowait(self._script.attached[seat])
                continue
            for queue, response in zip(room.queues, self._script.turns[room.turn], strict=True):
                queue.put_nowait(response)
            room.turn += 1


async def _serve(path: Path) -> None:
    # Options, event loop and garbage collection are the server's, which writes bytes too: only the game makes a difference.
    server = grpc.aio.server(options=channel_options(Limits()))
    play: grpc.RpcMethodHandler[pb.PlayRequest, bytes] = grpc.stream_stream_rpc_method_handler(
        Relay(load(path)).play, pb.PlayRequest.FromString
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Play": play}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    calm_the_collector()
    print(f"relay serves on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(_serve(Path(sys.argv[1])))
