"""`erqiwang edge` in a process of its own, as an operator starts it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import final

from erqiwang_grpc.auth.files import FIRST_PLATFORM, PLATFORM_KEYS, add_platform_key
from erqiwang_grpc.auth.keys import Scope
from tests.service.processes import ServerProcess

_SECONDS = 30.0


def gateway_key(folder: Path) -> str:
    """A new gateway key among the keys in this folder. A server that runs takes it after SIGHUP."""
    key = add_platform_key(folder / PLATFORM_KEYS, FIRST_PLATFORM, Scope.GATEWAY)
    assert isinstance(key, str), key
    return key


@final
class EdgeProcess:
    """A running edge. Its log is a file."""

    def __init__(self, process: Process, port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._log = log

    def lines(self) -> list[dict[str, object]]:
        """The lines of its log."""
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop it with a signal; gives its exit status."""
        self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), _SECONDS)


async def started(*flags: str, key: str, log: Path) -> Process:
    """The process of an edge with these flags."""
    command = (sys.executable, "-m", "erqiwang_grpc", "edge", "--port", "0", "--status-port", "0", *flags)
    with log.open("ab") as errors:
        return await asyncio.create_subprocess_exec(
            *command, stdout=PIPE, stderr=errors, env=os.environ | {"ERQIWANG_GATEWAY_KEY": key}
        )


@asynccontextmanager
async def edge_apart(servers: Sequence[str], *flags: str, key: str, log: Path) -> AsyncIterator[EdgeProcess]:
    """An edge beside these servers, killed when the context is left. It listens, and may not have reached a server."""
    process = await started("--server", *servers, *flags, key=key, log=log)
    try:
        assert process.stdout is not None, "standard output is a pipe"
        line = await asyncio.wait_for(process.stdout.readline(), _SECONDS)
        assert line, f"it did not start: see {log}"
        yield EdgeProcess(process, int(line.rpartition(b":")[2]), log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def taking(server: ServerProcess, key: str) -> None:
    """Let a running server read its keys again, and wait until it takes the gateway key."""
    server.process.send_signal(signal.SIGHUP)
    await asyncio.sleep(0.5)  # nothing tells that the keys were read
    assert key
