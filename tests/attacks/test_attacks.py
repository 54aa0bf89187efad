"""Strangers attack a server on one connection, or on 3,000 that never begin; an honest neighbour does not notice much."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Final

import grpc
import psutil
import pytest

from tests.service.processes import REPOSITORY, serving
from tests.service.tables import PATIENCE, seated, seen

SECONDS: Final = 4.0
MOST_MEMORY: Final = 200 * 1024 * 1024
LONGEST_MEDIAN: Final = 0.5


@asynccontextmanager
async def attacked(port: int, flood: str, connections: int, reads: str) -> AsyncIterator[asyncio.StreamReader]:
    """An attack that has begun; its last line says what came of it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.attacks.attacker", "127.0.0.1", str(port), flood, str(connections), str(SECONDS), reads,
        stdout=asyncio.subprocess.PIPE, cwd=REPOSITORY,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE) == b"ready\n"
        yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


NEVER_BEGUN: Final = ("silence", "half_a_beginning")
"""Connections that the server closes once the time for their handshake is over."""


@pytest.mark.parametrize(
    ("flood", "connections", "reads"),
    [
        ("resets", 1, "reads"),
        ("unended_streams", 1, "reads"),
        ("unended_headers", 1, "reads"),
        ("empty_continuations", 1, "reads"),
        ("continued_headers", 1, "reads"),
        ("pings", 1, "reads"),
        ("pings", 1, "deaf"),
        ("settings", 1, "reads"),
        ("settings", 1, "deaf"),
        ("silence", 3_000, "reads"),
        ("half_a_beginning", 3_000, "reads"),
    ],
)
async def test_a_stranger_stops_nobody(tmp_path: Path, flood: str, connections: int, reads: str) -> None:
    handshakes = ("--handshake-seconds", "1") if flood in NEVER_BEGUN else ()
    async with (
        serving(tmp_path, "--in-memory", "--commands-per-second", "100000", *handshakes) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        served = server.speaking(channel)
        table = await seated(served.platform)
        memory = psutil.Process(server.process.pid).memory_info
        latencies: list[float] = []
        most = 0
        async with attacked(server.port, flood, connections, reads) as said:
            ending = asyncio.create_task(said.readline())
            while not ending.done():
                asked = monotonic()
                await seen(served, table, 0)
                latencies.append(monotonic() - asked)
                most = max(most, memory().rss)
                await asyncio.wait({ending}, timeout=0.02)
            frames, closed = map(int, (await ending).split())
        assert most < MOST_MEMORY
        assert median(latencies) < LONGEST_MEDIAN
        assert connections > 1 or frames > 10_000, "an attack worth its name"
        assert flood not in NEVER_BEGUN or closed >= connections, "each is closed in time"
