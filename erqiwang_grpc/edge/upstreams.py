"""Upstreams: the connections to servers for streams of spectators. A server bounds the streams of one connection."""

from __future__ import annotations

from typing import Final, final

from erqiwang_grpc.client.servers import Servers
from erqiwang_grpc.edge.settings import Settings

STREAMS: Final = 500
"""Most streams of one connection. Beyond a bound of its own, by default 1,000, a server lets further ones wait silently."""


@final
class Upstream:
    """One connection at a time, to one of the servers, for so many streams."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.streams = 0


@final
class Upstreams:
    """As many connections as the streams need. One that carries none is closed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: list[Upstream] = []

    def __len__(self) -> int:
        return len(self._open)

    @property
    def streams(self) -> int:
        """The number of streams now."""
        return sum(upstream.streams for upstream in self._open)

    def take(self) -> Upstream:
        """A connection for one more stream. Give it back with `leave`."""
        free = next((upstream for upstream in self._open if upstream.streams < STREAMS), None)
        if free is None:
            # Channels with the same arguments would share one connection otherwise.
            options = (("grpc.use_local_subchannel_pool", 1),)
            free = Upstream(Servers(self._settings.servers, self._settings.credentials, options))
            self._open.append(free)
        free.streams += 1
        return free

    async def leave(self, upstream: Upstream) -> None:
        """Give the place of one stream back."""
        upstream.streams -= 1
        if not upstream.streams and len(self._open) > 1:
            self._open.remove(upstream)
            await upstream.servers.close()

    async def close(self) -> None:
        """Close every connection, with the streams on it."""
        for upstream in self._open:
            await upstream.servers.close()
