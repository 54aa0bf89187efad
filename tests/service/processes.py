"""Servers in processes of their own: `erqiwang serve` as an operator starts it, on a free port."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.testing import ServerProcess, served_apart
from tests.service.tables import PATIENCE

__all__ = ["LOG", "REPOSITORY", "ServerProcess", "attached_elsewhere", "serving"]

REPOSITORY: Final = Path(__file__).parents[2]
LOG: Final = "standard-error.txt"


@asynccontextmanager
async def serving(
    folder: Path, *flags: str, port: int = 0, open_files: tuple[int, int] | None = None
) -> AsyncIterator[ServerProcess]:
    """A server that is ready, and is gone afterwards; it begins with these soft and hard limits of open files.

    What it writes to standard error is in its folder.
    """
    before = _limited(open_files)
    async with served_apart(folder, *flags, port=port, log=folder / LOG, before=before) as server:
        yield server


def _limited(open_files: tuple[int, int] | None) -> list[str]:
    """What goes before a command that is to begin with these limits."""
    if open_files is None:
        return []
    soft, hard = open_files
    return ["bash", "-c", f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"', "limited"]


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
