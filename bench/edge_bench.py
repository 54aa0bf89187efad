"""The edge under load: turns a second through its WebSockets, and the CPU that a turn takes of the edge and of the server.

python -m bench.edge_bench [--tables N] [--seconds S] [--frames protobuf,json] [--rate N]

Server, edge and players are processes of their own on this machine; players do what their advice suggests. Without a rate they
play as fast as they can. The figures to read are the microseconds of CPU a turn; turns a second depend on how many cores there are.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeAlias, final

import psutil
from aiohttp import ClientSession, ClientWebSocketResponse, TCPConnector
from google.protobuf import json_format

from erqiwang_grpc.client import Platform
from erqiwang_grpc.testing import seated
from erqiwang_grpc.tools.bench import processes
from erqiwang_grpc.tools.bench.figures import percentile
from erqiwang_grpc.tools.bench.processes import Subject
from erqiwang_grpc.tools.bench.scripted_seat import attach, reply, request
from erqiwang_grpc.tools.bench.turns import Course
from erqiwang_grpc.v1 import seat_service_pb2 as pb

SUBPROTOCOLS: Final = {"protobuf": "erqiwang.v1.protobuf", "json": "erqiwang.v1.json"}
_AT_ONCE: Final = 50
"""Rooms that are opened at the same time."""


@final
@dataclass(frozen=True, slots=True)
class Load:
    """What the players' process is told."""

    server: str
    edge: str
    key: str
    subprotocol: str
    tables: int
    seconds: float
    rate: float | None


# The players' process


class Players:
    """Tables that play one match after another, each seat on a socket of its own."""

    def __init__(self, load: Load, platform: Platform, session: ClientSession) -> None:
        self.load = load
        self.course = Course(load.rate)
        self.sockets = 0
        self._platform = platform
        self._session = session
        self._opening = asyncio.Semaphore(_AT_ONCE)

    async def table(self) -> None:
        """Play for ever."""
        while True:
            async with self._opening:
                table = await seated(self._platform)
            async with AsyncExitStack() as stack:
                sockets = []
                for token in table.tokens:
                    async with self._opening:
                        sockets.append(await stack.enter_async_context(self._socket(token)))
                await asyncio.gather(*(self._seat(socket) for socket in sockets))

    @asynccontextmanager
    async def _socket(self, token: str) -> AsyncIterator[ClientWebSocketResponse]:
        headers = {"Authorization": f"Bearer {token}"}
        protocols = (self.load.subprotocol,)
        async with self._session.ws_connect(self.load.edge, protocols=protocols, headers=headers) as socket:
            await self._say(socket, attach())
            self.sockets += 1
            yield socket

    async def _say(self, socket: ClientWebSocketResponse, asked: pb.PlayRequest) -> None:
        if self.load.subprotocol == SUBPROTOCOLS["json"]:
            await socket.send_str(json_format.MessageToJson(asked, indent=None))
        else:
            await socket.send_bytes(asked.SerializeToString())

    async def _seat(self, socket: ClientWebSocketResponse) -> None:
        sent = 0.0
        async for frame in socket:
            heard = reply(_response(frame.data).messages)
            if heard.answered:
                self.course.answered(sent)
            if heard.over:
                return
            if heard.command is not None:
                await self.course.turn()
                sent = self.course.sent()
                await self._say(socket, request(self.course.commands, heard.command))
        raise ConnectionError(f"the edge closed with {socket.close_code}")


def _response(data: object) -> pb.PlayResponse:
    if isinstance(data, bytes):
        return pb.PlayResponse.FromString(data)
    assert isinstance(data, str), "a frame holds bytes or text"
    # Only what a scripted seat looks at is parsed by protobuf's library, which would take most of this process's time.
    messages: list[Fields] = json.loads(data)["messages"]
    return json_format.ParseDict({"messages": [_looked_at(each) for each in messages]}, pb.PlayResponse())


Fields: TypeAlias = dict[str, "Fields"]
"""A message as JSON. Only its fields that are messages are looked into."""


def _looked_at(message: Fields) -> Fields:
    if "notice" in message:
        changed = message["notice"]["changed"]
        return {"notice": {"changed": {name: changed[name] for name in ("advice", "progress") if name in changed}}}
    if "snapshot" in message:
        parts = message["snapshot"]["view"]["parts"]
        return {
            "snapshot": {"view": {"parts": {name: parts[name] for name in ("advice", "progress") if name in parts}}}
        }
    return {name: message[name] for name in ("accepted", "refused") if name in message}


async def play(load: Load) -> None:
    """Attach all seats, play when told so, and print what was measured."""
    async with (
        Platform([load.server], load.key) as platform,
        ClientSession(connector=TCPConnector(limit=0)) as session,
    ):
        players = Players(load, platform, session)
        tables = [asyncio.create_task(players.table()) for _ in range(load.tables)]
        while players.sockets < 3 * load.tables:
            await asyncio.wait(tables, timeout=0.1, return_when=asyncio.FIRST_EXCEPTION)
            _raise_of(tables)
        print("attached", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        players.course.open()
        await asyncio.wait(tables, timeout=load.seconds, return_when=asyncio.FIRST_EXCEPTION)
        _raise_of(tables)
        await players.course.close()
        print(json.dumps(asdict(players.course.played)), flush=True)
        for table in tables:
            table.cancel()


def _raise_of(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()


# The bench


@asynccontextmanager
async def edge(server: str, key: str) -> AsyncIterator[Subject]:
    """`erqiwang edge` beside the server, with limits that no bench reaches."""
    flags = (
        "--port",
        "0",
        "--status-port",
        "0",
        "--messages-per-second",
        "1000000",
        "--connections-per-address",
        "20000",
    )
    command = (sys.executable, "-m", "erqiwang_grpc", "edge", "--server", server, *flags)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=PIPE, env=os.environ | {"ERQIWANG_GATEWAY_KEY": key}
    )
    try:
        assert process.stdout is not None, "standard output is a pipe"
        address = (await process.stdout.readline()).decode().split()[-1]
        yield Subject(address, psutil.Process(process.pid))
    finally:
        process.kill()
        await process.wait()


async def measure(frames: str, tables: int, seconds: float, rate: float | None) -> None:
    """One measurement, as a line."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="erqiwang-bench-"))) / "data"
        keys = processes.make_keys(folder)
        server = await stack.enter_async_context(processes.server(folder, in_memory=True, keys=keys))
        subject = await stack.enter_async_context(edge(server.address, keys.gateway))
        load = Load(
            server.address,
            f"ws://{subject.address}/v1/play",
            keys.platform,
            SUBPROTOCOLS[frames],
            tables,
            seconds,
            rate,
        )
        player = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.edge_bench", "--play", json.dumps(asdict(load)),
            stdin=PIPE, stdout=PIPE, limit=64 * 1024 * 1024,
        )  # fmt: skip
        try:
            assert player.stdin is not None, "standard input is a pipe"
            assert player.stdout is not None, "standard output is a pipe"
            assert (await player.stdout.readline()) == b"attached\n", "the players ended early"
            memory = subject.memory()
            before, began = (subject.cpu_seconds(), server.cpu_seconds()), time.monotonic()
            player.stdin.write(b"\n")
            played = json.loads(await player.stdout.readline())
            took = time.monotonic() - began
            of_edge, of_server = (
                now - then for now, then in zip((subject.cpu_seconds(), server.cpu_seconds()), before, strict=True)
            )
        finally:
            if player.returncode is None:
                player.kill()
            await player.wait()
    turns, waits = played["turns"], sorted(played["latencies"])
    print(
        f"| {frames} | {tables:,} | {turns / played['seconds']:,.0f} | {1e6 * of_edge / turns:,.0f} | {1e6 * of_server / turns:,.0f} "
        f"| {100 * of_edge / took:.0f} | {percentile(waits, 50) / 1000:.1f} | {percentile(waits, 99) / 1000:.1f} | {memory / 3 / tables / 1024:.0f} |",
        flush=True,
    )


async def bench(arguments: argparse.Namespace) -> None:
    print(
        "| frames | tables | turns a second | edge, µs CPU a turn | server, µs CPU a turn | edge, % of a core | p50 ms | p99 ms | edge, KiB a socket |"
    )
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: |")
    for frames in arguments.frames.split(","):
        await measure(frames, arguments.tables, arguments.seconds, arguments.rate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--frames", default="protobuf,json")
    parser.add_argument(
        "--rate", type=float, help="turns a second of all tables together (default: as fast as they can)"
    )
    parser.add_argument("--play", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        asyncio.run(play(Load(**json.loads(arguments.play))))
    else:
        asyncio.run(bench(arguments))


if __name__ == "__main__":
    main()
