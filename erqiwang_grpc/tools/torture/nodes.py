"""Nodes: servers in child processes that share one database, each behind a network of its own."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, final

from erqiwang_grpc.auth.files import FIRST_KEY, PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.testing import NotStarted, ServerProcess
from erqiwang_grpc.testing.pair import Pair
from erqiwang_grpc.testing.proxy import Proxy, proxied
from erqiwang_grpc.tools.torture.victim import UNLIMITED, VictimFailed

DATABASE: Final = "erqiwang"


@final
class Node:
    """One server. It has the same port after every start."""

    def __init__(self, folder: Path, url: str, networks: tuple[Proxy, ...], log: Path | None) -> None:
        self.folder = folder
        self._url = url
        self._networks = networks
        self._log = log
        self._server: ServerProcess | None = None
        self.port = 0
        """The port that it serves on; 0 until it was started."""

    @property
    def address(self) -> str:
        """The address that it serves on."""
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start the server, and return when it serves. Raises `VictimFailed`."""
        flags = (*UNLIMITED, "--store", self._url)
        try:
            self._server = await ServerProcess.start(self.folder, *flags, port=self.port, log=self._log)
        except (NotStarted, TimeoutError):
            raise VictimFailed("a node did not start: see its log, which --keep keeps") from None
        self.port = self._server.port

    async def kill(self) -> None:
        """Kill the server now, in the middle of its work."""
        await self._running().kill()

    async def stop(self) -> int:
        """Stop the server with SIGTERM; gives its exit status. Raises `TimeoutError` if it runs on for 20 seconds."""
        return await self._running().stop()

    async def pause(self, seconds: float) -> None:
        """Let the server do nothing for a while. Its connections stay open."""
        process = self._running().process
        process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            process.send_signal(signal.SIGCONT)

    def cut(self) -> int:
        """Cut the connections to the database; gives how many there were."""
        return sum(network.cut() for network in self._networks)

    async def strand(self, seconds: float) -> None:
        """Let the network lose everything between the node and the database for a while, and then cut it."""
        self._pass(is_open=False)
        try:
            await asyncio.sleep(seconds)
        finally:
            self.cut()
            self._pass(is_open=True)

    def _pass(self, *, is_open: bool) -> None:
        for network in self._networks:
            network.to_server = network.to_client = is_open

    def _running(self) -> ServerProcess:
        assert self._server is not None, "the server was started"
        return self._server


@asynccontextmanager
async def nodes_on(pair: Pair, count: int, logs: Path | None) -> AsyncIterator[list[Node]]:
    """So many nodes on an empty database of the pair. They are killed when the context is left."""
    async with pair.primary.superuser() as db:
        await db.execute(f"CREATE DATABASE {DATABASE}")
    async with AsyncExitStack() as stack:
        nodes: list[Node] = []
        for number in range(count):
            networks = [await stack.enter_async_context(proxied(server.port)) for server in pair.servers]
            folder = pair.folder / f"node{number}"
            if nodes:
                _share_keys(nodes[0].folder, folder)
            url = pair.address(DATABASE, [network.port for network in networks]).url
            node = Node(folder, url, tuple(networks), logs and logs / f"node{number}.log")
            await node.start()
            stack.push_async_callback(node.kill)
            nodes.append(node)
        yield nodes


def key_of(nodes: list[Node]) -> str:
    """The key of the platform that all nodes know."""
    return (nodes[0].folder / FIRST_KEY).read_text().strip()


def _share_keys(source: Path, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    for name in (PLATFORM_KEYS, SIGNING_KEYS):
        shutil.copy(source / name, folder / name)
