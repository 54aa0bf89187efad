"""Servers in processes of their own: `erqiwang serve` as an operator starts it, on a free port."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, final

import grpc

from erqiwang_grpc.auth.files import FIRST_KEY
from erqiwang_grpc.client import SeatClient
from tests.service.tables import PATIENCE, Served

REPOSITORY: Final = Path(__file__).parents[2]
LOG: Final = "standard-error.txt"


@final
class ServerProcess:
    """One run of a server on a data folder."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path, port: int) -> None:
        self.process = process
        self.folder = folder
        self.port = port
        self.address = f"127.0.0.1:{port}"

    @property
    def key(self) -> str:
        return (self.folder / FIRST_KEY).read_text().strip()

    def speaking(self, channel: grpc.aio.Channel) -> Served:
        return Served(channel, self.address, self.key)

    def log(self) -> str:
        """Everything that was written to standard error so far."""
        return (self.folder / LOG).read_text()

    def lines(self) -> list[dict[str, object]]:
        """The log, each line of which must be JSON."""
        return [json.loads(line) for line in self.log().splitlines()]

    def said(self, message: str) -> int:
        """How often the log says so."""
        return sum(line["message"] == message for line in self.lines())

    async def stop(self) -> int:
        """Tell it to go; gives its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)


@asynccontextmanager
async def serving(
    folder: Path, *flags: str, port: int = 0, open_files: tuple[int, int] | None = None
) -> AsyncIterator[ServerProcess]:
    """A server that is ready, and is gone afterwards; it begins with these soft and hard limits of open files."""
    with (folder / LOG).open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *_limited(open_files),
            sys.executable, "-m", "erqiwang_grpc", "serve", "--port", str(port), "--data", str(folder), *flags,
            stdout=asyncio.subprocess.PIPE, stderr=log, cwd=REPOSITORY,
        )  # fmt: skip
    try:
        yield ServerProcess(process, folder, await _port(process))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _limited(open_files: tuple[int, int] | None) -> list[str]:
    """What goes before a command that is to begin with these limits."""
    if open_files is None:
        return []
    soft, hard = open_files
    return ["bash", "-c", f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"', "limited"]


async def _port(process: asyncio.subprocess.Process) -> int:
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    assert line.startswith(b"erqiwang serves on 127.0.0.1:"), line
    return int(line.rpartition(b":")[2])


@asynccontextmanager
async def attached_elsewhere(address: str, token: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A client on a seat, in a process of its own that can be frozen and killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.service.processes", address, token,
        stdout=asyncio.subprocess.PIPE, cwd=REPOSITORY,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE) == b"attached\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _stay_attached(address: str, token: str) -> None:
    """What that process does."""
    async with SeatClient([address], token):
        print("attached", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_stay_attached(*sys.argv[1:]))
