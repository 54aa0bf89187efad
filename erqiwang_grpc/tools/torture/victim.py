"""The victim: a server in a child process, started again on the same file after every kill."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from pathlib import Path
from time import monotonic
from typing import Final, final

from erqiwang_grpc.store.sqlite import STORE_FILE
from erqiwang_grpc.testing import NotStarted, ServerProcess

_FLAGS: Final = (
    # This load is faster than people, and the limits are not under test here.
    *("--commands-per-second", "100000"),
    *("--platform-calls-per-second", "100000"),
    *("--idle-minutes", "1"),
)


class VictimFailed(Exception):
    """The server did not start. The text says why."""


@final
class Victim:
    """A server on the rooms of a folder, and on the same port after every start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: ServerProcess | None = None
        self.port = 0
        """Where it serves, once it has been started."""

    async def start(self) -> float:
        """Start it; how many seconds it took until it served."""
        began = monotonic()
        try:
            self._server = await ServerProcess.start(self._folder, *_FLAGS, port=self.port)
        except NotStarted:
            raise VictimFailed(f"the server did not start on {self._folder}: start it by hand to see why") from None
        self.port = self._server.port
        return monotonic() - began

    async def kill(self) -> None:
        """Kill it now, whatever it is doing."""
        await self._running().kill()

    async def kill_in_a_commit(self, patience: float) -> bool:
        """Kill it while it writes its store; where it wrote nothing for so many seconds, kill it all the same.

        Whether it was writing: the kill follows the first byte that reaches the file, before the flush can have ended.
        """
        process = self._running().process
        was_writing = await asyncio.to_thread(self._kill_as_it_writes, process, patience)
        await process.wait()
        return was_writing

    def _kill_as_it_writes(self, process: Process, patience: float) -> bool:
        path = self._folder / f"{STORE_FILE}-wal"
        before, deadline = _written(path), monotonic() + patience
        while _written(path) == before and monotonic() < deadline:
            pass  # Nothing that waits is fast enough to meet a commit.
        was_writing = _written(path) != before
        process.kill()
        return was_writing

    async def stop(self) -> int:
        """Stop the server and wait for its end; gives its exit status."""
        return await self._running().stop()

    def _running(self) -> ServerProcess:
        assert self._server is not None, "it has been started"
        return self._server


def _written(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
