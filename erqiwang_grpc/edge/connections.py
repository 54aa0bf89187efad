"""TCP connections: as many at once as the limit says, those included whose TLS handshake is not over."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from typing import final

from aiohttp import web

from erqiwang_grpc.edge.settings import Limits


@final
class Connections:
    """Gives each connection that was accepted to the server of an application, or cuts it if there are too many.

    With `tls` the handshake is made here: a server of asyncio tells nobody of one that has failed.
    """

    def __init__(self, server: web.Server, limits: Limits, tls: ssl.SSLContext | None) -> None:
        self._server = server
        self._limits = limits
        self._tls = tls
        self._handshakes: set[asyncio.Task[None]] = set()

    def accepted(self) -> asyncio.Protocol:
        """What hears a new connection."""
        is_full = len(self._server.connections) + len(self._handshakes) >= self._limits.connections
        return self._server() if self._tls is None and not is_full else _Accepted(self)

    def begin(self, transport: asyncio.BaseTransport) -> None:
        """Make the TLS handshake of a connection, if there is room for it."""
        if self._tls is not None and len(self._server.connections) + len(self._handshakes) < self._limits.connections:
            accepted = transport.get_extra_info("socket")
            # The system's connection goes on under another number. Nothing is read from this transport, which is closed.
            with contextlib.suppress(OSError):
                taken = socket.fromfd(accepted.fileno(), accepted.family, accepted.type)
                taken.setblocking(False)
                handshake = asyncio.create_task(self._shake_hands(taken, self._tls))
                self._handshakes.add(handshake)
                handshake.add_done_callback(self._handshakes.discard)
        transport.close()

    async def close(self) -> None:
        """Cut the connections whose handshake is not over."""
        handshakes = tuple(self._handshakes)
        for handshake in handshakes:
            handshake.cancel()
        if handshakes:
            await asyncio.wait(handshakes)

    async def _shake_hands(self, taken: socket.socket, tls: ssl.SSLContext) -> None:
        # The client may be gone, be silent for too long, or not speak TLS.
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().connect_accepted_socket(
                self._server, taken, ssl=tls, ssl_handshake_timeout=self._limits.request_seconds
            )


@final
class _Accepted(asyncio.Protocol):
    """A connection that is to begin with TLS, or to be cut."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connections.begin(transport)
