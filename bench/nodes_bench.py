"""The same load on one, two and four nodes with the database beside them: turns a second, and the CPU that a turn takes.

python -m bench.nodes_bench [--nodes 1,2,4] [--rooms N] [--seconds S] [--rate N] [--store URL]

Nodes, database and players share this machine, so more nodes than it has cores show what they cost, not what they gain:
compare the CPU a turn. The seats of a room are attached to one node, and then, with the same load, to different ones.
By default the database is a server of this bench's own, which flushes; of another one the CPU is not known.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import final

import psutil
from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import game_rules
from google.protobuf import json_format

from bench.database import OWN, cpu_seconds, measured
from erqiwang_grpc.auth.files import FIRST_KEY
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.tools.bench import processes
from erqiwang_grpc.tools.bench.figures import percentile
from erqiwang_grpc.tools.bench.orders import Orders, Played
from erqiwang_grpc.tools.bench.processes import Subject

MOST_SECONDS = 120


@final
@dataclass(frozen=True, slots=True)
class Load:
    """What is played."""

    rooms: int
    seconds: float
    rate: float | None


async def run(nodes: int, load: Load, folder: Path, url: str, server: psutil.Process | None, *, spread: bool) -> None:
    """One measurement, as a line."""
    async with AsyncExitStack() as running:
        # They share their key files, as nodes have to.
        subjects = [
            await running.enter_async_context(processes.server(folder, in_memory=False, store=url))
            for _ in range(nodes)
        ]
        orders = _orders(subjects, load, (folder / FIRST_KEY).read_text().strip(), spread=spread)
        (loader,) = await running.enter_async_context(processes.loaders(1))
        await loader.order(orders)
        await loader.reach("seated")
        await loader.go_on()
        await loader.reach("attached")
        before, before_there = _cpu(subjects), cpu_seconds(server) if server is not None else None
        await loader.go_on()
        played = await loader.played()
        spent = _cpu(subjects) - before
        there = None if server is None or before_there is None else cpu_seconds(server) - before_there
    _show(nodes, played, spent, there, spread=spread)


def _orders(subjects: Sequence[Subject], load: Load, key: str, *, spread: bool) -> Orders:
    options = RoomOptions()
    return Orders(
        kind="server",
        addresses=[each.address for each in subjects],
        name="playing",
        key=key,
        options=json_format.MessageToJson(encode.room_options(options)),
        seats=game_rules(options.game, options.review).seats,
        rooms=load.rooms,
        seconds=load.seconds,
        deals=None,
        rate=load.rate,
        spread=spread,
    )


def _cpu(subjects: Sequence[Subject]) -> float:
    return sum(each.cpu_seconds() for each in subjects)


def _show(nodes: int, played: Played, spent: float, there: float | None, *, spread: bool) -> None:
    latencies, turns = sorted(played.latencies), max(1, played.turns)
    database = "" if there is None else f"{1_000_000 * there / turns:,.0f}"
    print(
        f"{nodes:>5} {'spread' if spread else 'together':>9} {turns / played.seconds:>9,.0f} "
        f"{1_000_000 * spent / turns:>17,.0f} {database:>20} {percentile(latencies, 50) / 1000:>8.1f} "
        f"{percentile(latencies, 99) / 1000:>8.1f} {played.failed:>7} {os.getloadavg()[0]:>6.1f}",
        flush=True,
    )


async def measure(counts: Sequence[int], load: Load, named: str) -> None:
    pace = "as fast as they can" if load.rate is None else f"at {load.rate:,.0f} turns a second at most"
    print(f"{load.rooms} rooms play {pace}, {load.seconds:.0f} s each; {psutil.cpu_count()} cores for everything")
    print(
        f"{'nodes':>5} {'seats':>9} {'turns/s':>9} {'nodes, µs a turn':>17} {'database, µs a turn':>20} "
        f"{'p50, ms':>8} {'p99, ms':>8} {'failed':>7} {'load':>6}"
    )
    async with measured(named) as (address, server):
        with tempfile.TemporaryDirectory(prefix="erqiwang-nodes-") as folder:
            for nodes in counts:
                await run(nodes, load, Path(folder), address.url, server, spread=False)
                if nodes > 1:
                    await run(nodes, load, Path(folder), address.url, server, spread=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="1,2,4", help="numbers of nodes, with commas between (default: 1,2,4)")
    parser.add_argument("--rooms", type=int, default=60, help="rooms that play at the same time (default: 60)")
    parser.add_argument("--seconds", type=float, default=10, help=f"of each run, {MOST_SECONDS} at most (default: 10)")
    parser.add_argument("--rate", type=float, default=0, help="turns a second; 0 for no limit (default: 0)")
    parser.add_argument("--store", default=OWN, help="the URL of a database (default: a server of its own)")
    options = parser.parse_args()
    counts = [int(each) for each in options.nodes.split(",")]
    load = Load(options.rooms, min(options.seconds, MOST_SECONDS), options.rate or None)
    asyncio.run(measure(counts, load, options.store))


if __name__ == "__main__":
    main()
