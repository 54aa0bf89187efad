"""The processes of a bench: what is measured, and who loads it. All are children, and none outlives its context."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, final

import psutil

from erqiwang_grpc.tools.bench.load import Orders, Played

_START_SECONDS: Final = 30.0
_LINE_BYTES: Final = 64 * 1024 * 1024
"""The last line of a load process holds every latency."""


class BenchFailed(Exception):
    """A process ended or said what nobody expected, in words for whoever started the bench."""


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """A server under measurement."""

    address: str
    process: psutil.Process

    def cpu_seconds(self) -> float:
        """What it has used so far, in user and system mode."""
        times = self.process.cpu_times()
        return times.user + times.system

    def memory(self) -> int:
        """Its resident memory in bytes."""
        return self.process.memory_info().rss


@contextlib.asynccontextmanager
async def _child(module: str, *arguments: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_LINE_BYTES
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@contextlib.asynccontextmanager
async def _subject(module: str, *arguments: str) -> AsyncIterator[Subject]:
    """A process whose first line ends with the address that it serves on."""
    async with _child(module, *arguments) as process:
        assert process.stdout is not None, "standard output is a pipe"
        async with asyncio.timeout(_START_SECONDS):
            line = (await process.stdout.readline()).decode()
        if not line:
            raise BenchFailed(f"{module} did not start")
        yield Subject(line.split()[-1], psutil.Process(process.pid))


@contextlib.asynccontextmanager
async def server(folder: Path, *, in_memory: bool) -> AsyncIterator[Subject]:
    """`erqiwang serve` with its rooms in that folder, or in memory alone, and no limit in the way."""
    where = ("--in-memory",) if in_memory else ()
    limits = ("--commands-per-second", "1000000", "--platform-calls-per-second", "1000000")
    async with _subject("erqiwang_grpc", "serve", "--port", "0", "--data", str(folder), *where, *limits) as subject:
        yield subject


@contextlib.asynccontextmanager
async def relay(script: Path) -> AsyncIterator[Subject]:
    """The bare relay, with that script."""
    async with _subject("erqiwang_grpc.tools.bench.relay", str(script)) as subject:
        yield subject


@final
class Loader:
    """One load process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def order(self, orders: Orders) -> None:
        """Say what it is to do."""
        await self._write(json.dumps(asdict(orders)))

    async def go_on(self) -> None:
        """Let it begin its next step."""
        await self._write("")

    async def reach(self, step: str) -> None:
        """Wait until a step is done."""
        said = await self._line()
        if said != step:
            raise BenchFailed(f"a load process said {said!r} where {step!r} was expected")

    async def played(self) -> Played:
        """Wait until it has played."""
        what, _, value = (await self._line()).partition(" ")
        if what != "played":
            raise BenchFailed(f"a load process said {what!r} where it was to have played")
        return Played(**json.loads(value))

    async def _write(self, line: str) -> None:
        assert self._process.stdin is not None, "standard input is a pipe"
        self._process.stdin.write(line.encode() + b"\n")
        await self._process.stdin.drain()

    async def _line(self) -> str:
        assert self._process.stdout is not None, "standard output is a pipe"
        line = await self._process.stdout.readline()
        if not line:
            raise BenchFailed("a load process has ended by itself")
        return line.decode().rstrip("\n")


@contextlib.asynccontextmanager
async def loaders(orders: Sequence[Orders]) -> AsyncIterator[list[Loader]]:
    """A load process for each of the orders, which it has been given."""
    async with contextlib.AsyncExitStack() as stack:
        started = [Loader(await stack.enter_async_context(_child("erqiwang_grpc.tools.bench.load"))) for _ in orders]
        for loader, order in zip(started, orders, strict=True):
            await loader.order(order)
        yield started
