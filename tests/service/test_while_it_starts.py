"""A server that starts, also one that waits for its database: its port tells so, SIGHUP harms nothing, SIGTERM ends it."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.service.processes import REPOSITORY
from tests.service.test_metrics_port import asked

SECONDS = 20.0
NOBODY = "postgresql://somebody@127.0.0.1:1/rooms"
"""A database that does not answer: a server waits for one for half a minute."""


@asynccontextmanager
async def starting(folder: Path, *flags: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "erqiwang_grpc", "serve", "--port", "0", "--data", str(folder / "data"), *flags,
        stdout=PIPE, stderr=PIPE, cwd=REPOSITORY,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def logged(process: Process, message: str) -> dict[str, str]:
    """The next line of the log with that message."""
    assert process.stderr is not None
    async with asyncio.timeout(SECONDS):
        while True:
            line = json.loads(await process.stderr.readline())
            if line["message"] == message:
                assert isinstance(line, dict)
                return line


async def test_a_server_that_waits_for_its_database_says_so_and_can_be_stopped(tmp_path: Path) -> None:
    async with starting(tmp_path, "--store", NOBODY, "--metrics-port", "0") as process:
        port = int((await logged(process, "metrics"))["address"].rpartition(":")[2])
        assert (await asked(port, "/healthz"))[0] == 200
        status, _, why = await asked(port, "/readyz")
        assert status == 503
        assert b"start" in why
        assert b"erqiwang_ready 0" in (await asked(port, "/metrics"))[2]
        process.send_signal(signal.SIGHUP)
        assert (await asked(port, "/healthz"))[0] == 200
        process.send_signal(signal.SIGTERM)
        assert (await logged(process, "stopped while starting"))["why"] == "SIGTERM"
        assert await asyncio.wait_for(process.wait(), SECONDS) == 0


@pytest.mark.parametrize("after", [0.1, 0.2, 0.4, 0.6])
async def test_a_reload_while_it_starts_ends_no_server(tmp_path: Path, after: float) -> None:
    async with starting(tmp_path) as process:
        await asyncio.sleep(after)
        process.send_signal(signal.SIGHUP)
        assert process.stdout is not None
        assert b"erqiwang serves on" in await asyncio.wait_for(process.stdout.readline(), SECONDS)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), SECONDS) == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_a_signal_to_stop_while_it_waits_ends_it_quietly(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    async with starting(tmp_path, "--store", NOBODY, "--metrics-port", "0") as process:
        await logged(process, "metrics")
        process.send_signal(number)
        _, errors = await asyncio.wait_for(process.communicate(), SECONDS)
        assert process.returncode == status
        assert b"Traceback" not in errors
