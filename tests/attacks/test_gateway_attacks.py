"""A hostile gateway floods its stream, with a key and seats that are its own; an honest neighbour does not notice much."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Final

import grpc
import psutil
import pytest

from erqiwang_grpc.auth.files import PLATFORM_KEYS, Opened, add_platform_key, open_key_files
from erqiwang_grpc.auth.keys import PlatformId, Scope
from tests.attacks.gateway import EMPTY, FLOODS
from tests.attacks.test_attacks import LONGEST_MEDIAN, MOST_MEMORY
from tests.service.processes import LOG, REPOSITORY, serving
from tests.service.tables import PATIENCE, Table, seated, seen

SECONDS: Final = 2.0
TABLES: Final = 5


def gateway_key(folder: Path) -> str:
    """A gateway key of the first platform, in a folder that no server has opened yet."""
    assert isinstance(open_key_files(folder, None, None), Opened)
    key = add_platform_key(folder / PLATFORM_KEYS, PlatformId("local"), Scope.GATEWAY)
    assert isinstance(key, str)
    return key


@asynccontextmanager
async def attacked(
    address: str, flood: str, reads: str, key: str, tables: list[Table]
) -> AsyncIterator[asyncio.StreamReader]:
    """An attack by a gateway that has begun; its last line says what came of it."""
    tokens = [token for table in tables for token in table.tokens]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.attacks.gateway", address, flood, str(SECONDS), reads, key, *tokens,
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


@pytest.mark.parametrize(
    ("flood", "reads"),
    [
        *((flood, "reads") for flood in (*FLOODS, EMPTY)),
        *((flood, "deaf") for flood in ("bad_tokens", "opened_again", "resyncs", "records", "commands")),
    ],
)
async def test_a_gateway_stops_nobody(tmp_path: Path, flood: str, reads: str) -> None:
    key = gateway_key(tmp_path)
    async with (
        serving(tmp_path, "--new-rooms") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        served = server.speaking(channel)
        honest = await asyncio.gather(*(seated(served.platform) for _ in range(TABLES)))
        hostile = await asyncio.gather(*(seated(served.platform) for _ in range(TABLES)))
        memory = psutil.Process(server.process.pid).memory_info
        latencies: list[float] = []
        most = 0
        asking = cycle([(table, seat) for table in honest for seat in range(3)])
        async with attacked(server.address, flood, reads, key, hostile) as said:
            ending = asyncio.create_task(said.readline())
            while not ending.done():
                asked = monotonic()
                await seen(served, *next(asking))
                latencies.append(monotonic() - asked)
                most = max(most, memory().rss)
                await asyncio.wait({ending}, timeout=0.02)
            requests, ended = map(int, (await ending).split())
        assert most < MOST_MEMORY
        assert median(latencies) < LONGEST_MEDIAN
        assert ended or requests > 500 or flood == "long_ids", "an attack worth its name"
    assert '"level": "error"' not in (tmp_path / LOG).read_text(), "a stream that breaks off in a write is no error"
