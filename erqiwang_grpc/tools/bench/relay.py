"""The bare relay: reads a request and writes what a recorded match has next to the streams of the table. No game."""

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
class _Table:
    """The streams that belong together, and how far the recorded match has come."""

    def __init__(self, seats: int) -> None:
        self.queues: list[asyncio.Queue[bytes]] = [asyncio.Queue() for _ in range(seats)]
        self.turn = 0


@final
class Relay:
    """`SeatService.Play` without any game: streams name their room and seat, and every command brings the next turn."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._tables: dict[str, _Table] = {}

    async def play(
        self,
        request_iterator: AsyncIterator[pb.PlayRequest],
        context: grpc.aio.ServicerContext[pb.PlayRequest, bytes],
    ) -> None:
        """Write what there is for the seat, for as long as it stays."""
        metadata = dict(context.invocation_metadata() or ())
        table = self._tables.setdefault(str(metadata["room"]), _Table(len(self._script.attached)))
        seat = int(metadata["seat"])
        listener = asyncio.create_task(self._listen(table, seat, request_iterator))
        try:
            while True:
                await context.write(await table.queues[seat].get())
        finally:
            listener.cancel()

    async def _listen(self, table: _Table, seat: int, requests: AsyncIterator[pb.PlayRequest]) -> None:
        async for request in requests:
            if request.HasField("attach"):
                table.queues[seat].put_nowait(self._script.attached[seat])
                continue
            for queue, response in zip(table.queues, self._script.turns[table.turn], strict=True):
                queue.put_nowait(response)
            table.turn += 1


async def _serve(path: Path) -> None:
    # The same transport as the server's, which writes bytes too, so that what differs is the game.
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
