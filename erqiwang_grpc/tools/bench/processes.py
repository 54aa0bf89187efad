"""The processes of a bench: servers, relays and load processes. Each is killed when its context is left."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, final

import psutil

from erqiwang_grpc.auth.files import (
    FIRST_KEY,
    FIRST_PLATFORM,
    PLATFORM_KEYS,
    SIGNING_KEYS,
    Opened,
    add_platform_key,
    open_key_files,
)
from erqiwang_grpc.auth.keys import Scope
from erqiwang_grpc.tools.bench.failure import BenchFailed
from erqiwang_grpc.tools.bench.orders import Orders, Played

_START_SECONDS: Final = 30.0
_LINE_BYTES: Final = 64 * 1024 * 1024
"""The longest line of a load process, in bytes. Its last line holds every latency."""
_LOADER_ENDED: Final = "a load process ended early"


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """The process that is measured: a server or a relay."""

    address: str
    process: psutil.Process

    def cpu_seconds(self) -> float:
        """The CPU time that it has used, user and system, in seconds. Raises `BenchFailed` if it has ended."""
        with _running():
            times = self.process.cpu_times()
        return times.user + times.system

    def memory(self) -> int:
        """Its resident memory, in bytes. Raises `BenchFailed` if it has ended."""
        with _running():
            return int(self.process.memory_info().rss)


@contextlib.contextmanager
def _running() -> Iterator[None]:
    try:
        yield
    except psutil.NoSuchProcess:
        raise BenchFailed("what is measured ended early") from None


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
    """A process whose first line ends with the address that it serves on.

    Raises `BenchFailed` if it ends before that line, or if the line takes longer than 30 seconds.
    """
    async with _child(module, *arguments) as process:
        assert process.stdout is not None, "standard output is a pipe"
        try:
            async with asyncio.timeout(_START_SECONDS):
                line = (await process.stdout.readline()).decode()
        except TimeoutError:
            raise BenchFailed(f"{module} does not serve after {_START_SECONDS:.0f} seconds") from None
        if not line:
            raise BenchFailed(f"{module} did not start")
        yield Subject(line.split()[-1], psutil.Process(process.pid))


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """The key files of a bench, and a key of each scope."""

    folder: Path
    platform: str
    gateway: str


def make_keys(folder: Path) -> Keys:
    """Make key files in this folder, which must not exist, so that a user's own data folder gets no keys of a bench."""
    folder.mkdir()
    opened = open_key_files(folder, None, None)
    assert isinstance(opened, Opened), "the folder is new"
    gateway = add_platform_key(folder / PLATFORM_KEYS, FIRST_PLATFORM, Scope.GATEWAY)
    assert isinstance(gateway, str), "the key file is new"
    return Keys(folder, (folder / FIRST_KEY).read_text().strip(), gateway)


@contextlib.asynccontextmanager
async def server(
    folder: Path, *, in_memory: bool, store: str | None = None, keys: Keys | None = None
) -> AsyncIterator[Subject]:
    """Start `erqiwang serve` with its rooms in the folder, only in memory, or in the `store` of this URL.

    Its limits are such that no bench reaches them. Without `keys`, its key files are in the folder in all cases. Raises `BenchFailed` if the server ends before it serves, or if it
    does not serve within 30 seconds.
    """
    where = ("--in-memory",) if in_memory else () if store is None else ("--store", store)
    secrets = (
        ()
        if keys is None
        else ("--platform-keys", str(keys.folder / PLATFORM_KEYS), "--signing-keys", str(keys.folder / SIGNING_KEYS))
    )
    limits = [
        f"--{name}=1000000" for name in ("commands-per-second", "platform-calls-per-second", "commands-per-gateway")
    ]
    arguments = ("serve", "--port", "0", "--data", str(folder), *where, *secrets, *limits)
    async with _subject("erqiwang_grpc", *arguments) as subject:
        yield subject


@contextlib.asynccontextmanager
async def relay(script: Path) -> AsyncIterator[Subject]:
    """Start the relay with the script in this file. Raises the same errors as `server`."""
    async with _subject("erqiwang_grpc.tools.bench.relay", str(script)) as subject:
        yield subject


@final
class Loader:
    """A load process, as the bench directs it. `load` describes the lines that they exchange.

    Its methods raise `BenchFailed` if the process ends early or prints something else than it should.
    """

    def __init__(self, process: Process) -> None:
        self._process = process

    async def order(self, orders: Orders) -> None:
        """Tell it what to do."""
        await self._write(json.dumps(asdict(orders)))

    async def go_on(self) -> None:
        """Let it begin the next step."""
        await self._write("")

    async def reach(self, step: str) -> None:
        """Wait until it has reached a step: `seated`, `attached` or `led in`."""
        line = await self._line()
        if line != step:
            raise BenchFailed(f"a load process printed {line!r} instead of {step!r}")

    async def played(self) -> Played:
        """Wait until it has played; gives what it has measured. It keeps its seats attached until `go_on` or its end."""
        step, _, value = (await self._line()).partition(" ")
        if step != "played":
            raise BenchFailed(f"a load process printed {step!r} instead of 'played'")
        return Played(**json.loads(value))

    async def _write(self, line: str) -> None:
        assert self._process.stdin is not None, "standard input is a pipe"
        try:
            self._process.stdin.write(line.encode() + b"\n")
            await self._process.stdin.drain()
        except ConnectionError:
            raise BenchFailed(_LOADER_ENDED) from None

    async def _line(self) -> str:
        assert self._process.stdout is not None, "standard output is a pipe"
        line = await self._process.stdout.readline()
        if not line:
            raise BenchFailed(_LOADER_ENDED)
        return line.decode().rstrip("\n")


@contextlib.asynccontextmanager
async def loaders(number: int) -> AsyncIterator[list[Loader]]:
    """Start so many load processes, which wait for their orders. Raises what `Loader` raises."""
    async with contextlib.AsyncExitStack() as stack:
        yield [Loader(await stack.enter_async_context(_child("erqiwang_grpc.tools.bench.load"))) for _ in range(number)]
