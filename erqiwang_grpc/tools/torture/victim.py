"""The victim: a server in a child process, started again on the same store after every kill."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from pathlib import Path
from time import monotonic
from typing import Final, final

from erqiwang_grpc.store.sqlite import STORE_FILE
from erqiwang_grpc.testing import NotStarted, ServerProcess

UNLIMITED: Final = (
    # The tables play faster than people, and the torture does not test the limits.
    *("--commands-per-second", "100000"),
    *("--platform-calls-per-second", "100000"),
    *("--idle-minutes", "1"),
)


class VictimFailed(Exception):
    """The server did not start. The text says why."""


@final
class Victim:
    """A server on a data folder. It has the same port after every start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: ServerProcess | None = None
        self.port = 0
        """The port that it serves on; 0 until it was started."""

    async def start(self) -> float:
        """Start the server, and give the seconds until it served. Raises `VictimFailed`."""
        began = monotonic()
        try:
            self._server = await ServerProcess.start(self._folder, *UNLIMITED, port=self.port)
        except NotStarted:
            raise VictimFailed(f"the server did not start on {self._folder}: start it by hand to see why") from None
        self.port = self._server.port
        return monotonic() - began

    async def kill(self) -> None:
        """Kill the server now, whatever it is doing. It must have been started."""
        await self._running().kill()

    async def kill_in_a_commit(self, patience: float) -> bool:
        """Kill the server while it writes its store, or after `patience` seconds in which it wrote nothing.

        Gives whether it was writing. The kill follows the first byte that reaches the file, so that it comes before the
        flush has ended.
        """
        process = self._running().process
        was_writing = await asyncio.to_thread(self._kill_as_it_writes, process, patience)
        await process.wait()
        return was_writing

    def _kill_as_it_writes(self, process: Process, patience: float) -> bool:
        path = self._folder / f"{STORE_FILE}-wal"
        before, deadline = _written(path), monotonic() + patience
        while _written(path) == before and monotonic() < deadline:
            pass  # A loop without a sleep, because a commit is over before a sleep ends.
        was_writing = _written(path) != before
        process.kill()
        return was_writing

    async def stop(self) -> int:
        """Stop the server with SIGTERM; gives its exit status. Raises `TimeoutError` if it runs on for 20 seconds."""
        return await self._running().stop()

    def _running(self) -> ServerProcess:
        assert self._server is not None, "the server was started"
        return self._server


def _written(path: Path) -> tuple[int, int]:
    """The size of a file and the time of its last change. A write changes at least one of them."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
