"""What a turn costs the server through one gateway stream, and through a stream for each seat: turns a second, and CPU.

    python -m bench.gateway_bench                       # both ways, 100 rooms, as fast as they can
    python -m bench.gateway_bench --seats 30000 --idle  # how long so many seats take to open, and what memory they take

A turn is one accepted command. The server runs in a process of its own with its rooms in memory, and the scripted seats of
the load are in this process, so both share the machine: the CPU of the server is the figure to compare.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import grpc
import psutil
import uvloop

from erqiwang_grpc.auth.files import FIRST_PLATFORM, PLATFORM_KEYS, Opened, add_platform_key, open_key_files
from erqiwang_grpc.auth.keys import Scope
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rpc.server import calm_the_collector
from erqiwang_grpc.testing import ServerProcess, Table, seated, served_apart
from erqiwang_grpc.tools.bench.scripted_seat import attach, reply, request
from erqiwang_grpc.v1 import (
    gateway_service_pb2 as gateway_pb,
    gateway_service_pb2_grpc,
    seat_service_pb2 as seat_pb,
    seat_service_pb2_grpc,
)

SEATS = 3
BATCH = 100
"""Seats that are opened in one message."""
Connection: TypeAlias = "grpc.aio.StreamStreamCall[gateway_pb.ConnectRequest, gateway_pb.ConnectResponse]"


@dataclass
class Load:
    """What has been played, and how long each command waited for its answer, in seconds."""

    turns: int = 0
    waits: list[float] | None = None


@asynccontextmanager
async def server() -> AsyncIterator[tuple[ServerProcess, str]]:
    """A server in a process of its own, and a gateway key for it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert isinstance(open_key_files(folder, None, None), Opened)
        key = add_platform_key(folder / PLATFORM_KEYS, FIRST_PLATFORM, Scope.GATEWAY)
        assert isinstance(key, str)
        many = "1000000"
        limits = [
            f"--{name}={many}" for name in ("commands-per-second", "platform-calls-per-second", "commands-per-gateway")
        ]
        async with served_apart(folder, "--in-memory", *limits) as process:
            yield process, key


async def tables(process: ServerProcess, rooms: int) -> list[Table]:
    async with grpc.aio.insecure_channel(process.address) as channel:
        platform = process.speaking(channel).platform
        found: list[Table] = []
        for begin in range(0, rooms, 50):
            found += await asyncio.gather(*(seated(platform) for _ in range(begin, min(begin + 50, rooms))))
        await platform.close()
        return found


async def opened(call: Connection, tokens: Sequence[str]) -> None:
    """Open every seat under its place in the list."""
    for begin in range(0, len(tokens), BATCH):
        asked = [
            gateway_pb.SeatRequest(handle=begin + place, open=gateway_pb.OpenSeat(seat_token=token))
            for place, token in enumerate(tokens[begin : begin + BATCH])
        ]
        await call.write(gateway_pb.ConnectRequest(requests=asked))


async def by_gateway(process: ServerProcess, key: str, found: Sequence[Table], load: Load) -> None:
    """Play all seats through one stream, until cancelled."""
    tokens = [token for table in found for token in table.tokens]
    sent: dict[int, float] = {}
    async with grpc.aio.insecure_channel(process.address) as channel:
        call = gateway_service_pb2_grpc.GatewayServiceStub(channel).Connect(metadata=bearer(key))
        opening = asyncio.create_task(opened(call, tokens))
        async for response in call:
            asked: list[gateway_pb.SeatRequest] = []
            now = perf_counter()
            for told in response.seats:
                heard = reply(seat_pb.PlayResponse(messages=told.messages))
                if heard.answered:
                    load.turns += 1
                    if load.waits is not None and told.handle in sent:
                        load.waits.append(now - sent[told.handle])
                if heard.command is not None:
                    said = request(load.turns * 1000 + len(asked), heard.command)
                    asked.append(
                        gateway_pb.SeatRequest(handle=told.handle, command_id=said.command_id, command=said.command)
                    )
                    sent[told.handle] = now
            if asked:
                await opening
                await call.write(gateway_pb.ConnectRequest(requests=asked))


async def by_streams(process: ServerProcess, _: str, found: Sequence[Table], load: Load) -> None:
    """Play each seat on a stream of its own, over a connection of its own, until cancelled."""
    await asyncio.gather(*(_by_stream(process, token, load) for table in found for token in table.tokens))


async def _by_stream(process: ServerProcess, token: str, load: Load) -> None:
    own = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(process.address, options=own) as channel:
        call = seat_service_pb2_grpc.SeatServiceStub(channel).Play(metadata=bearer(token))
        await call.write(attach())
        sent = 0.0
        number = 0
        async for response in call:
            heard = reply(response)
            if heard.answered:
                load.turns += 1
                if load.waits is not None:
                    load.waits.append(perf_counter() - sent)
            if heard.command is not None:
                number += 1
                sent = perf_counter()
                await call.write(request(number, heard.command))


async def measured(way: str, rooms: int, seconds: float) -> None:
    """Play one way for some seconds, and print what it came to."""
    async with server() as (process, key):
        found = await tables(process, rooms)
        system = psutil.Process(process.process.pid)
        load = Load()
        play = by_gateway if way == "gateway" else by_streams
        playing = asyncio.create_task(play(process, key, found, load))
        while load.turns < rooms:
            await asyncio.sleep(0.1)
            if playing.done():
                await playing
        load.waits = []
        turns, cpu, began = load.turns, _cpu(system), perf_counter()
        await asyncio.sleep(seconds)
        took = perf_counter() - began
        played, used = load.turns - turns, _cpu(system) - cpu
        memory = system.memory_info().rss / 2**20
        playing.cancel()
        await asyncio.wait([playing])
        waits = sorted(load.waits)
        p50, p99 = (1000 * waits[int(part * (len(waits) - 1))] for part in (0.5, 0.99))
        print(
            f"{way:8} {rooms} rooms: {played / took:6.0f} turns/s, server {1e6 * used / played:4.0f} µs a turn "
            f"({100 * used / took:.0f} % of a core), command to answer p50 {p50:.1f} ms, p99 {p99:.1f} ms, {memory:.0f} MiB"
        )


async def idle(seats: int) -> None:
    """Open so many seats through one stream, and print how long that takes, and the memory of each."""
    async with server() as (process, key):
        found = await tables(process, seats // SEATS)
        system = psutil.Process(process.process.pid)
        before, cpu, began = system.memory_info().rss, _cpu(system), perf_counter()
        tokens = [token for table in found for token in table.tokens]
        async with grpc.aio.insecure_channel(process.address) as channel:
            call = gateway_service_pb2_grpc.GatewayServiceStub(channel).Connect(metadata=bearer(key))
            opening = asyncio.create_task(opened(call, tokens))
            begun: set[int] = set()
            async for response in call:
                begun |= {
                    told.handle for told in response.seats if any(each.HasField("snapshot") for each in told.messages)
                }
                if len(begun) == len(tokens):
                    break
            await opening
            took, used = perf_counter() - began, _cpu(system) - cpu
            grown = (system.memory_info().rss - before) / 1024 / len(tokens)
            print(
                f"{len(tokens)} seats opened in {took:.1f} s, server {1e6 * used / len(tokens):.0f} µs and {grown:.1f} KiB a seat"
            )
            call.cancel()


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ways", nargs="+", default=["gateway", "streams"], choices=["gateway", "streams"])
    parser.add_argument("--idle", action="store_true", help="only open seats")
    parser.add_argument("--seats", type=int, default=30_000)
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    calm_the_collector()
    if arguments.idle:
        await idle(arguments.seats)
        return
    for _ in range(arguments.rounds):
        for way in arguments.ways:
            await measured(way, arguments.rooms, arguments.seconds)


if __name__ == "__main__":
    uvloop.run(main())
