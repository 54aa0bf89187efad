"""The victim: a server in a child process, started again on the same file after every kill."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from time import monotonic
from typing import Final, final

from erqiwang_grpc.store.sqlite import LOG_FILE

_START_SECONDS: Final = 30.0


class VictimFailed(Exception):
    """The server did not start, in words for whoever tortures it."""


@final
class Victim:
    """A server on the rooms of a folder, and on the same port after every start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Process | None = None
        self.port = 0
        """Where it serves, once it has been started."""

    async def start(self) -> float:
        """Start it; how many seconds it took until it served."""
        began = monotonic()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "erqiwang_grpc", "serve", *self._arguments(), stdout=PIPE, stderr=DEVNULL
        )
        self._process = process
        assert process.stdout is not None, "standard output is a pipe"
        async with asyncio.timeout(_START_SECONDS):
            line = (await process.stdout.readline()).decode()
        if not line:
            raise VictimFailed(f"the server did not start on {self._folder}: start it by hand to see why")
        self.port = int(line.split(":")[-1])
        return monotonic() - began

    def _arguments(self) -> tuple[str, ...]:
        where = ("--data", str(self._folder), "--port", str(self.port))
        # People are slower than this load, and the limits are not what is tried here.
        return (
            *where,
            "--commands-per-second",
            "100000",
            "--platform-calls-per-second",
            "100000",
            "--idle-minutes",
            "1",
        )

    async def kill(self) -> None:
        """Kill it now, whatever it is doing."""
        process = self._running()
        process.kill()
        await process.wait()

    async def kill_in_a_commit(self, patience: float) -> bool:
        """Kill it while it writes its store; where it wrote nothing for so many seconds, kill it all the same.

        Whether it was writing: the kill follows the first byte that reaches the file, before the flush can have ended.
        """
        process = self._running()
        was_writing = await asyncio.to_thread(self._kill_as_it_writes, process, patience)
        await process.wait()
        return was_writing

    def _kill_as_it_writes(self, process: Process, patience: float) -> bool:
        path = self._folder / f"{LOG_FILE}-wal"
        before, deadline = _written(path), monotonic() + patience
        while _written(path) == before and monotonic() < deadline:
            pass  # Nothing that waits is fast enough to meet a commit.
        was_writing = _written(path) != before
        process.kill()
        return was_writing

    async def stop(self) -> int:
        """Ask it to leave, and wait until it has; its exit status."""
        process = self._running()
        process.terminate()
        return await process.wait()

    def _running(self) -> Process:
        assert self._process is not None, "it has been started"
        return self._process


def _written(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
