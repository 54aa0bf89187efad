"""Servers for tests: in this process, where a test can inspect them, or in a separate one, which a test can kill."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Final, final

import grpc

from erqiwang_grpc import shuffling
from erqiwang_grpc.auth.files import (
    FIRST_KEY,
    FIRST_PLATFORM,
    PLATFORM_KEYS,
    KeyFiles,
    Opened,
    add_platform_key,
    open_key_files,
)
from erqiwang_grpc.auth.keys import PlatformId, Scope
from erqiwang_grpc.client import OneWaySeat, Platform, SeatClient, Spectator
from erqiwang_grpc.client.servers import Options
from erqiwang_grpc.clocks import Monotonic, SystemMonotonic
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.server import Server, Settings, Tls
from erqiwang_grpc.shuffling import Shuffler
from erqiwang_grpc.store import Store, StoreId, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.testing.folder import guarded_folder
from erqiwang_grpc.v1 import gateway_service_pb2_grpc, room_service_pb2_grpc, seat_service_pb2_grpc

if TYPE_CHECKING:
    from erqiwang_grpc.monitoring.port import Port

ROOMY: Final = Limits(commands_per_second=100_000, platform_calls_per_second=100_000)
"""Limits for tests, which play faster than people."""
_GRACE: Final = 0.2
"""Seconds for calls in progress when a server in this process stops."""
_START_SECONDS: Final = 30.0
_LEAVE_SECONDS: Final = 20.0


class NotStarted(Exception):
    """A server in a separate process did not start. The text says why."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a test needs to call a server: its address, a channel, and a platform's key."""

    channel: grpc.aio.Channel
    address: str
    key: str
    credentials: grpc.ChannelCredentials | None = field(default=None, kw_only=True)
    options: Options = field(default=(), kw_only=True)

    @property
    def platform(self) -> Platform:
        """A client for the platform. Close it, or use it with `async with`."""
        return Platform([self.address], self.key, credentials=self.credentials, options=self.options)

    def client(self, token: str, last_version: int | None = None) -> SeatClient:
        """A client for a seat, not attached yet. `last_version` is the one that came with the token."""
        return SeatClient(
            [self.address], token, credentials=self.credentials, options=self.options, last_version=last_version
        )

    def one_way(self, token: str, last_version: int | None = None) -> OneWaySeat:
        """A client for a seat that is told one way, not attached yet. Arguments are those of `client`."""
        return OneWaySeat(
            [self.address], token, credentials=self.credentials, options=self.options, last_version=last_version
        )

    def spectator(self, token: str, last_version: int | None = None) -> Spectator:
        """A client for a spectator with a watch token, not attached yet."""
        return Spectator(
            [self.address], token, credentials=self.credentials, options=self.options, last_version=last_version
        )

    @property
    def rooms(self) -> room_service_pb2_grpc.RoomServiceStub:
        """The generated stub of `RoomService`."""
        return room_service_pb2_grpc.RoomServiceStub(self.channel)

    @property
    def gateways(self) -> gateway_service_pb2_grpc.GatewayServiceStub:
        """The generated stub of `GatewayService`."""
        return gateway_service_pb2_grpc.GatewayServiceStub(self.channel)

    @property
    def seats(self) -> seat_service_pb2_grpc.SeatServiceStub:
        """The generated stub of `SeatService`."""
        return seat_service_pb2_grpc.SeatServiceStub(self.channel)


@final
@dataclass(frozen=True, slots=True)
class Service(Served):
    """A server in this process, whose inside a test can inspect."""

    server: Server
    store: Store
    keys: KeyFiles
    folder: Path
    """The folder of its key files."""
    metrics: Port | None = None
    """The port of its metrics and health."""

    @property
    def kept(self) -> Rooms:
        """The rooms of the server, as objects."""
        return self.server.rooms

    @property
    def store_id(self) -> StoreId:
        """The identity of its store."""
        return self.store.identity

    def room(self, room_id: str) -> Room:
        """A room in memory, as an object. Raises `StopIteration` if it is not in memory."""
        return next(room for room in self.kept.live if room.id == room_id)

    def tenant(self, name: str) -> str:
        """Add a platform called `name` to the server, and give its key."""
        return self._added(PlatformId(name), Scope.PLATFORM)

    def gateway_key(self, platform: str = FIRST_PLATFORM) -> str:
        """Add a gateway key of that platform to the server, and give it."""
        return self._added(PlatformId(platform), Scope.GATEWAY)

    def _added(self, platform: PlatformId, scope: Scope) -> str:
        key = add_platform_key(self.folder / PLATFORM_KEYS, platform, scope)
        assert isinstance(key, str), key
        assert self.keys.reload() is None
        return key


@asynccontextmanager
async def served(
    folder: Path | None = None,
    *,
    limits: Limits = ROOMY,
    shuffle: Shuffler = shuffling.shuffle,
    store: Store | None = None,
    now: Callable[[], int] = time_ns,
    monotonic: Monotonic | None = None,
    tls: Tls | None = None,
    metrics_port: int | None = None,
    channelz: bool = False,
) -> AsyncIterator[Service]:
    """A server in this process, on a free port of 127.0.0.1, until the context is left.

    Its key files are in `folder`, or in a temporary folder. Its rooms are in `store`, or in memory. `now` is the wall
    clock in nanoseconds since 1970, and `monotonic` is the clock of allowances, timeouts and idleness.
    """
    with ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(guarded_folder("erqiwang-"))
        opened = open_key_files(folder, None, None)
        assert isinstance(opened, Opened), opened
        kept = MemoryStore() if store is None else store
        metrics = None if metrics_port is None else await _metrics(metrics_port)
        server = Server(
            Settings(
                kept,
                opened.files,
                limits=limits,
                shuffle=shuffle,
                now=lambda: TimeNs(now()),
                monotonic=SystemMonotonic() if monotonic is None else monotonic,
                tls=tls,
                host="127.0.0.1",
                metrics=metrics,
                channelz=channelz,
            )
        )
        await server.start()
        try:
            address = f"127.0.0.1:{server.port}"
            async with grpc.aio.insecure_channel(address) as channel:
                key = (folder / FIRST_KEY).read_text().strip()
                yield Service(channel, address, key, server, kept, opened.files, folder, metrics)
        finally:
            await server.stop(_GRACE)


async def _metrics(port: int) -> Port:
    # Imported here, so that a server without metrics does not load what writes them.
    from erqiwang_grpc.monitoring.port import Port  # noqa: PLC0415  # see above
    from erqiwang_grpc.rpc.metrics import starting  # noqa: PLC0415  # see above

    opened = Port(starting())
    await opened.open("127.0.0.1", port)
    return opened


@final
class ServerProcess:
    """One run of `erqiwang serve` on a data folder, as an operator would start it."""

    def __init__(self, process: Process, folder: Path, port: int, log_file: Path | None = None) -> None:
        self.process = process
        self.folder = folder
        self.port = port
        self._log_file = log_file

    @classmethod
    async def start(
        cls, folder: Path, *flags: str, port: int = 0, log: Path | None = None, before: Sequence[str] = ()
    ) -> ServerProcess:
        """Start the server, and wait until it serves. Raises `NotStarted`, or `TimeoutError` after 30 seconds.

        `flags` are arguments of `erqiwang serve`. Port 0 is a free one. The server's standard error is appended to the
        file `log`, if given. `before` is a command to run the server with, such as `nice`.
        """
        command = (*before, sys.executable, "-m", "erqiwang_grpc", "serve", "--port", str(port), "--data", str(folder))
        with ExitStack() as stack:
            errors = DEVNULL if log is None else stack.enter_context(log.open("ab"))
            process = await asyncio.create_subprocess_exec(*command, *flags, stdout=PIPE, stderr=errors)
        try:
            return cls(process, folder, await _port(process), log)
        except BaseException:
            await _killed(process)
            raise

    @property
    def address(self) -> str:
        """The address that it serves on."""
        return f"127.0.0.1:{self.port}"

    @property
    def key(self) -> str:
        """The key of its first platform, `local`."""
        return (self.folder / FIRST_KEY).read_text().strip()

    def speaking(self, channel: grpc.aio.Channel) -> Served:
        """The server as a `Served`, called on this channel."""
        return Served(channel, self.address, self.key)

    def log(self) -> str:
        """All that the server has written to standard error so far. It must have been started with a `log`."""
        assert self._log_file is not None, "it was started without a log"
        return self._log_file.read_text()

    def lines(self) -> list[dict[str, object]]:
        """The lines of the log. Each is a JSON object with a `message`."""
        return [json.loads(line) for line in self.log().splitlines()]

    def said(self, message: str) -> int:
        """The number of log lines with this message."""
        return sum(line["message"] == message for line in self.lines())

    async def stop(self) -> int:
        """Stop the server with SIGTERM; gives its exit status. Raises `TimeoutError` if it runs on for 20 seconds."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), _LEAVE_SECONDS)

    async def kill(self) -> None:
        """Kill the server, whatever it is doing. Does nothing if it has ended."""
        await _killed(self.process)


@asynccontextmanager
async def served_apart(
    folder: Path, *flags: str, port: int = 0, log: Path | None = None, before: Sequence[str] = ()
) -> AsyncIterator[ServerProcess]:
    """A server in a separate process, killed when the context is left. Arguments as for `ServerProcess.start`."""
    server = await ServerProcess.start(folder, *flags, port=port, log=log, before=before)
    try:
        yield server
    finally:
        await server.kill()


async def _port(process: Process) -> int:
    """The port, from the line that the server prints when it serves."""
    assert process.stdout is not None, "standard output is a pipe"
    async with asyncio.timeout(_START_SECONDS):
        line = await process.stdout.readline()
    if not line:
        raise NotStarted("the server did not start: start it by hand with the same flags to see why, or name a log")
    return int(line.rpartition(b":")[2])


async def _killed(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()
