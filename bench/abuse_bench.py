"""How much of a server a few abusive callers take, by kind of abuse: `python -m bench.abuse_bench [KIND ...]`.

The callers send as fast as they can, for 6 seconds with each kind. The bench prints how many cores the server used, and
the median milliseconds that `GetView` took for an honest player in another room of the same platform. A KIND is a name
that the bench prints, such as 'empty requests'; without one it runs all kinds.
"""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

import grpc
import psutil
from grpc_reflection.v1alpha import reflection_pb2

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.bounds import LONGEST_ID
from erqiwang_grpc.testing import attached, play, seated
from erqiwang_grpc.v1 import bidding_pb2, room_pb2, seat_service_pb2 as pb, seat_service_pb2_grpc as rpc
from tests.service.processes import ServerProcess, serving

SECONDS: Final = 6.0
Q = TypeVar("Q")
R = TypeVar("R")

TOO_LONG: Final = "x" * (LONGEST_ID + 1)
VIEWS: Final = "GetView"
RECORDS: Final = "GetRecord of 12 deals"
REFLECTION: Final = "reflection"
METHODS: Final = {
    "Health.Check": "/grpc.health.v1.Health/Check",
    "channelz": "/grpc.channelz.v1.Channelz/GetServers",
}
"""What strangers may call without a credential."""
LOOPS: Final = 10

# By default, gRPC uses one connection for all channels with the same arguments.
OWN_CONNECTION: Final = (("grpc.use_local_subchannel_pool", 1),)

REQUESTS: Final = {
    "heartbeats": pb.PlayRequest(heartbeat=pb.Heartbeat()),
    "empty requests": pb.PlayRequest(),
    "over-long ids": pb.PlayRequest(command_id=TOO_LONG, command=pb.Command(pass_bid=bidding_pb2.PassBid())),
    "refused commands": pb.PlayRequest(command=pb.Command(pass_bid=bidding_pb2.PassBid())),
    "repeats": pb.PlayRequest(command_id="one", command=pb.Command(bid=bidding_pb2.Bid(points=70))),
}


async def flood(address: str, token: str, request: pb.PlayRequest) -> None:
    """Send the request as fast as the stream takes it. When the stream ends, open it again."""
    async with grpc.aio.insecure_channel(address, options=OWN_CONNECTION) as channel:
        while True:
            call = rpc.SeatServiceStub(channel).Play(metadata=bearer(token))
            reading = asyncio.create_task(drain(call))
            try:
                await call.write(pb.PlayRequest(attach=pb.Attach()))
                while True:
                    await call.write(request)
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await asyncio.sleep(0.05)
            finally:
                reading.cancel()


async def drain(call: grpc.aio.StreamStreamCall[Q, R]) -> None:
    try:
        async for _ in call:
            pass
    except grpc.aio.AioRpcError:
        pass


async def ask(address: str, token: str, record: bool) -> None:
    """Ask for the record or the view again and again. Each call waits for the answer to the one before."""
    async with grpc.aio.insecure_channel(address, options=OWN_CONNECTION) as channel:
        stub = rpc.SeatServiceStub(channel)
        while True:
            try:
                if record:
                    await stub.GetRecord(pb.GetRecordRequest(), metadata=bearer(token))
                else:
                    await stub.GetView(pb.GetViewRequest(), metadata=bearer(token))
            except grpc.aio.AioRpcError:
                await asyncio.sleep(0.02)


async def reflect(address: str) -> None:
    """Ask for the list of services on one stream of reflection, as fast as the stream takes it."""
    request = reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString()
    async with grpc.aio.insecure_channel(address, options=OWN_CONNECTION) as channel:
        open_stream: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
        )
        while True:
            call = open_stream()
            reading = asyncio.create_task(drain(call))
            try:
                while True:
                    await call.write(request)
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await asyncio.sleep(0.05)
            finally:
                reading.cancel()


async def call_without_end(address: str, method: str) -> None:
    """Call a method that needs no credential, with an empty request, again and again in several loops at once."""
    async with grpc.aio.insecure_channel(address, options=OWN_CONNECTION) as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)

        async def loop() -> None:
            while True:
                with contextlib.suppress(grpc.aio.AioRpcError):
                    await call(b"")

        await asyncio.gather(*(loop() for _ in range(LOOPS)))


def end_with_the_parent() -> None:
    """End as soon as the process that started this one is gone, however it ended: an attacker would go on for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "this is a child"
    parent.join()
    os._exit(1)


def attacker(address: str, token: str, kind: str, ready: Barrier) -> None:
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    # A process imports its modules before this, so that its start does not disturb the measurement.
    ready.wait()
    if kind in REQUESTS:
        asyncio.run(flood(address, token, REQUESTS[kind]))
    elif kind in METHODS:
        asyncio.run(call_without_end(address, METHODS[kind]))
    elif kind == REFLECTION:
        asyncio.run(reflect(address))
    else:
        asyncio.run(ask(address, token, kind == RECORDS))


async def measure(server: ServerProcess, kind: str, tokens: tuple[str, ...], honest: str) -> str:
    """Run one attacker for each of the tokens; gives the line to print."""
    spawning = multiprocessing.get_context("spawn")
    ready = spawning.Barrier(len(tokens) + 1)
    children = [
        spawning.Process(target=attacker, args=(server.address, token, kind, ready), daemon=True) for token in tokens
    ]
    # A process that is started while Ctrl-C is ignored ignores it too. This one ends it.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    for child in children:
        child.start()
    signal.signal(signal.SIGINT, handler)
    await asyncio.to_thread(ready.wait)
    process = psutil.Process(server.process.pid)
    before, began, waits = process.cpu_times(), time.perf_counter(), list[float]()
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub = rpc.SeatServiceStub(channel)
        while time.perf_counter() - began < SECONDS:
            asked = time.perf_counter()
            await stub.GetView(pb.GetViewRequest(), metadata=bearer(honest))
            waits.append(time.perf_counter() - asked)
            await asyncio.sleep(0.1)
    after = process.cpu_times()
    used = (after.user + after.system - before.user - before.system) / (time.perf_counter() - began)
    for child in children:
        child.terminate()
        child.join()
    return f"{len(tokens)} x {kind:24} {used:5.2f} cores   neighbour's GetView {1000 * median(waits):6.1f} ms"


async def played(folder: Path) -> tuple[str, ...]:
    """Play a match of twelve deals on a server in this folder; gives the tokens of its seats."""
    async with (
        # The usual limit would slow the match down.
        serving(folder, "--commands-per-second", "100000") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        served = server.speaking(channel)
        table = await seated(served.platform, room_pb2.RoomOptions(deals=12))
        async with attached(served, table) as seats:
            await asyncio.gather(*(play(seat) for seat in seats))
        return table.tokens


async def main(kinds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        long_match = await played(Path(folder))
        async with serving(Path(folder), "--channelz") as server, grpc.aio.insecure_channel(server.address) as channel:
            platform = server.speaking(channel).platform
            *tables, neighbour = [await seated(platform, command_id=f"{number}") for number in range(5)]
            first_seats = tuple(table.tokens[0] for table in tables)
            for kind in kinds or (*REQUESTS, VIEWS, RECORDS, REFLECTION, *METHODS):
                tokens = long_match if kind == RECORDS else first_seats
                print(await measure(server, kind, tokens, neighbour.tokens[1]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
