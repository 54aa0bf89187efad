"""What traces cost a server: `python -m bench.traces_bench [MATCHES]`.

Three servers run at once: without traces, with one command in ten traced, and with every command traced and sent to a
collector. They take turns to serve a whole match, so that other work of the machine slows all of them alike. The
bench prints the server's own CPU time for each command, with all that gRPC does for it, and what the hooks cost that are
there also without traces.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from time import process_time
from timeit import timeit
from typing import Final

import grpc
import psutil
from erqiwang_core.match import begin
from erqiwang_core.options import RoomOptions
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.command import Answered
from erqiwang_grpc.rooms.spans import UNTRACED
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.testing import ServerProcess, attached, play_all, seated, served_apart
from tests.observing.collector import Collector, collecting

MATCHES: Final = 8
ROOMY: Final = ("--in-memory", "--commands-per-second", "100000", "--platform-calls-per-second", "100000")


def flags(collector: Collector) -> dict[str, tuple[str, ...]]:
    traced = ("--traces", "otlp", "--traces-endpoint", collector.endpoint, "--traces-ratio")
    return {"no traces": (), "one command in ten": (*traced, "0.1"), "every command": (*traced, "1")}


async def match(server: ServerProcess) -> float:
    """Play a match; gives the server's microseconds for each command."""
    process = psutil.Process(server.process.pid)
    async with grpc.aio.insecure_channel(server.address) as channel:
        served = server.speaking(channel)
        async with served.platform as platform:
            table = await seated(platform)
        async with attached(served, table) as seats:
            before = process.cpu_times()
            await play_all(seats)
            # What is exported later is this match's too.
            await asyncio.sleep(0.5)
            after = process.cpu_times()
            commands = seats[0].version
    return 1e6 * (after.user + after.system - before.user - before.system) / commands


def hooks() -> float:
    """The nanoseconds that a command spends on hooks for traces that are off."""
    options = RoomOptions()
    of, room, answer = begin(options), RoomId("room"), Answered()

    def command() -> None:
        span = UNTRACED.command("play", Seat(0), room, options, of)
        for step in ("decide", "append", "tell"):
            with span.step(step):
                pass
        span.end(answer)

    return 1e9 * timeit(command, timer=process_time, number=100_000) / 100_000


async def main(matches: int) -> None:
    async with collecting() as collector, AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="erqiwang-")))
        servers = {
            name: await stack.enter_async_context(served_apart(folder / str(number), *ROOMY, *more))
            for number, (name, more) in enumerate(flags(collector).items())
        }
        taken: dict[str, list[float]] = {name: [] for name in servers}
        for number in range(matches + 1):
            for name, server in servers.items():
                microseconds = await match(server)
                if number:  # the first match warms up
                    taken[name].append(microseconds)
        print(f"hooks alone, without traces  {hooks():8.0f} ns a command")
        usual = median(taken["no traces"])
        for name, each in taken.items():
            print(f"{name:28} {median(each):8.0f} µs a command ({median(each) / usual - 1:+.0%})")
        print(f"{len(collector.spans):,} spans collected, {sum(map(len, collector.sent)) // 1024:,} KiB")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else MATCHES))
