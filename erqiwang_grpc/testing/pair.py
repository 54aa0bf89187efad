"""A primary and its synchronous standby, for tests: every commit waits until the standby has it too."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, ParamSpec, final

from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing.cluster import SUPERUSER, Cluster
from erqiwang_grpc.testing.folder import guarded_folder
from erqiwang_grpc.testing.proxy import Proxy, proxied

P = ParamSpec("P")

_STANDBY: Final = "standby"
"""The name by which a primary knows its standby."""
_STREAMING_SECONDS: Final = 60.0
_REPLICATION: Final = {
    "synchronous_standby_names": _STANDBY,
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "100ms",
    "wal_receiver_timeout": "0",
    "wal_sender_timeout": "0",
}
"""A link that swallows everything stays so until the test cuts it."""


@final
class Pair:
    """Two servers. Which of them is the primary changes with every failover."""

    def __init__(self, folder: Path, primary: Cluster, standby: Cluster, links: dict[int, Proxy]) -> None:
        self.folder = folder
        """Both servers are in it. It goes with this process, and so do all that were given a folder within it."""
        self.primary = primary
        self.standby = standby
        self._links = links

    @property
    def servers(self) -> tuple[Cluster, Cluster]:
        """Both servers, always in the same order."""
        first, second = sorted((self.primary, self.standby), key=lambda server: server.folder)
        return first, second

    @property
    def link(self) -> Proxy:
        """The network between the primary and the standby."""
        return self._links[self.primary.port]

    def address(self, database: str, ports: Sequence[int] = ()) -> Address:
        """The address of a database, which names both servers, or what stands before them at these ports."""
        named = ports or [server.port for server in self.servers]
        return self.primary.address(database, hosts=",".join(f"127.0.0.1:{port}" for port in named))

    async def make(self) -> None:
        """Make both servers, and start them."""
        await _to_its_end(self.primary.make)
        await self.start_primary()
        await self.make_standby()

    async def start_primary(self) -> None:
        """Start the primary, which must be stopped."""
        await _to_its_end(self.primary.start, _REPLICATION)

    async def stop_primary(self, how: signal.Signals) -> None:
        """End the primary by its process: SIGINT waits until the standby has everything, SIGQUIT is a crash."""
        await _to_its_end(self.primary.stop, how)

    async def kill_primary(self) -> None:
        """Kill the primary in the middle of its work."""
        await self.stop_primary(signal.SIGKILL)

    async def make_standby(self) -> None:
        """Make the standby anew from the primary, and return when the commits of the primary wait for it."""
        await _to_its_end(self.standby.copy, self.primary.port)
        conninfo = f"host=127.0.0.1 port={self.link.port} user={SUPERUSER} application_name={_STANDBY}"
        await _to_its_end(self.standby.start, _REPLICATION | {"primary_conninfo": conninfo})
        await self.streaming()

    async def streaming(self) -> None:
        """Return when the commits of the primary wait for the standby and it has all of them."""
        async with asyncio.timeout(_STREAMING_SECONDS), self.primary.superuser() as db:
            while not await db.fetchval("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"):  # noqa: ASYNC110 - the server rings no bell
                await asyncio.sleep(0.02)

    async def fail_over(self) -> None:
        """Make the standby the primary. The old primary must be stopped; `make_standby` makes it the standby."""
        await _to_its_end(self.standby.promote)
        self.primary, self.standby = self.standby, self.primary

    def stop(self) -> None:
        """End both servers."""
        # The standby goes second. A primary that is told to stop gently would wait for it.
        for server in (self.primary, self.standby):
            server.stop(signal.SIGQUIT)


@asynccontextmanager
async def paired(bin_folder: Path) -> AsyncIterator[Pair]:
    """A new primary with its standby, while in the context."""
    with guarded_folder("erqiwang-pg-") as folder:
        folder.chmod(0o711)  # the servers run as another user
        one, two = (Cluster(bin_folder, folder / name) for name in ("one", "two"))
        async with AsyncExitStack() as stack:
            links = {server.port: await stack.enter_async_context(proxied(server.port)) for server in (one, two)}
            pair = Pair(folder, one, two, links)
            try:
                await pair.make()
                yield pair
            finally:
                pair.stop()


async def _to_its_end(work: Callable[P, object], *arguments: P.args, **named: P.kwargs) -> None:
    """Do work in a thread. Who is cancelled meanwhile waits for it all the same, so that it leaves nothing behind."""
    working = asyncio.create_task(asyncio.to_thread(work, *arguments, **named))
    try:
        await asyncio.shield(working)
    finally:
        await asyncio.wait((working,))
