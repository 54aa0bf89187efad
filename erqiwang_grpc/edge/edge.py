"""The edge process: one gateway stream, the port for players, and the port for health and metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from random import uniform
from time import monotonic
from typing import Final, final

from aiohttp import web

from erqiwang_grpc import calls
from erqiwang_grpc.client import Ended
from erqiwang_grpc.client.gateway_stream import GatewayStream
from erqiwang_grpc.edge.admission import client_address, counted_as, is_allowed_origin
from erqiwang_grpc.edge.counters import Counters
from erqiwang_grpc.edge.seats import Seats
from erqiwang_grpc.edge.settings import Settings
from erqiwang_grpc.edge.upstreams import Upstreams
from erqiwang_grpc.edge.web_socket import Socket
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb

log = logging.getLogger(__name__)

_TICK_SECONDS: Final = 1.0


@final
class Edge:
    """What doors work with: the seats on the gateway stream, the settings, and the sockets that are open."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.seats = Seats(settings.servers, self._put)
        self.counters = Counters()
        self.stream = GatewayStream(
            settings.servers, settings.gateway_key, self.seats, credentials=settings.credentials
        )
        self.upstreams = Upstreams(settings)
        self.is_draining = False
        self.sockets: set[Socket] = set()
        self._of_address: Counter[str] = Counter()

    def _put(self, request: gateway_pb.SeatRequest) -> None:
        self.stream.put(request)

    @property
    def is_ready(self) -> bool:
        """Whether players can be served: a server is reached, and the edge is not leaving."""
        return self.seats.is_heard and not self.is_draining

    @contextlib.asynccontextmanager
    async def socket(
        self, request: web.Request, protocols: Sequence[str]
    ) -> AsyncIterator[tuple[web.WebSocketResponse, Socket]]:
        """Admit a client and open its socket, with one of these subprotocols or none. Raises the refusal as HTTP."""
        limits = self.settings.limits
        called = calls.begin(
            request.path,
            request.headers.get(calls.REQUEST_ID, ""),
            request.headers.get(calls.TRACE_PARENT, ""),
            is_stream=True,
        )
        counted = counted_as(client_address(request, self.settings.trusted_proxies))
        self._admit(request, protocols, counted)
        response = web.WebSocketResponse(
            protocols=protocols,
            max_msg_size=limits.message_bytes,
            timeout=limits.closing_seconds,
            autoping=False,
            # A compressor of its own for each socket would take more memory than all else together.
            compress=False,
            writer_limit=16 * 1024,
        )
        response.headers[calls.REQUEST_ID] = called.id
        self._of_address[counted] += 1
        try:
            await response.prepare(request)
            socket = Socket(response, limits, self.counters)
            self.counters.opened[socket.protocol or "none"] += 1
            self.sockets.add(socket)
            try:
                yield response, socket
            finally:
                self.sockets.discard(socket)
                self.counters.closed[socket.close_code or 1006] += 1
        finally:
            self._of_address[counted] -= 1
            if not self._of_address[counted]:
                del self._of_address[counted]

    def _admit(self, request: web.Request, protocols: Sequence[str], counted: str) -> None:
        if self.is_draining:
            raise self._turned_away("draining", web.HTTPServiceUnavailable(text="This edge is leaving: try another."))
        if not is_allowed_origin(request, self.settings.origins):
            raise self._turned_away("origin", web.HTTPForbidden(text="This page may not open a socket here."))
        if self._of_address[counted] >= self.settings.limits.connections_per_address:
            raise self._turned_away("address", web.HTTPTooManyRequests(text="Too many sockets of this address."))
        asked = request.headers.get("Sec-WebSocket-Protocol")
        if asked is not None and not {each.strip() for each in asked.split(",")} & set(protocols):
            spoken = f"The subprotocols spoken here are {' and '.join(protocols)}."
            text = spoken if protocols else "No subprotocol is spoken here."
            raise self._turned_away("subprotocol", web.HTTPBadRequest(text=text))

    def _turned_away(self, why: str, refusal: web.HTTPException) -> web.HTTPException:
        self.counters.turned_away[why] += 1
        return refusal

    async def look_after(self) -> None:
        """Look after the sockets about once a second, for ever."""
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            now = monotonic()
            for socket in tuple(self.sockets):
                with calls.within(socket.call):
                    try:
                        socket.look_after(now)
                    except Exception:
                        log.exception("socket failed")

    async def ended(self) -> Ended:
        """Wait until the servers refuse the gateway stream for good, and give why."""
        return await asyncio.shield(self.seats.ended)

    async def drain(self, spread: float) -> None:
        """Take no new sockets, and close all, each at a random moment within `spread` seconds."""
        if not self.is_draining:
            log.info("draining", extra={"sockets": len(self.sockets)})
        self.is_draining = True

        async def close(socket: Socket) -> None:
            await asyncio.sleep(uniform(0, spread))
            socket.drain()

        await asyncio.gather(*(close(socket) for socket in tuple(self.sockets)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(3 * self.settings.limits.closing_seconds):
                while self.sockets:  # noqa: ASYNC110  # each ends in a task of its own
                    await asyncio.sleep(0.01)
        if self.sockets:
            log.warning("sockets left open", extra={"sockets": len(self.sockets)})
        await self.upstreams.close()
