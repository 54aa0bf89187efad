"""Runs an edge: connects it to a server, and opens its ports."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import final

from aiohttp import web

from erqiwang_grpc.addresses import joined
from erqiwang_grpc.edge import status
from erqiwang_grpc.edge.connections import Connections
from erqiwang_grpc.edge.doors import application
from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.edge.settings import Limits, Settings
from erqiwang_grpc.monitoring.loop_lag import LoopLag
from erqiwang_grpc.monitoring.port import Port

log = logging.getLogger(__name__)


@final
@dataclass(frozen=True, slots=True)
class Running:
    """An edge that serves."""

    edge: Edge
    port: int
    """The port for players."""
    status_port: int | None
    """The port for health and metrics; None if there is none."""


class CannotListen(Exception):
    """A port cannot be opened."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(f"{address}: {why}")


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """An edge that serves until the context is left. Raises `CannotListen` if a port cannot be opened.

    It takes players at once, and reaches a server when there is one.
    """
    edge = Edge(settings)
    async with AsyncExitStack() as stack:
        status_port = None
        if settings.status_port is not None:
            status_port = await stack.enter_async_context(_watched(edge, settings.status_host, settings.status_port))
            log.info("metrics", extra={"address": joined(settings.status_host, status_port)})
        port = await stack.enter_async_context(
            _listening(application(edge), settings.host, settings.port, settings.tls, settings.limits)
        )
        await stack.enter_async_context(edge.stream)
        looking = asyncio.create_task(edge.look_after())
        log.info("serving", extra={"address": joined(settings.host, port)})
        try:
            yield Running(edge, port, status_port)
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking
            await edge.drain(0)
            log.info("stopped", extra={"address": joined(settings.host, port)})


@asynccontextmanager
async def _watched(edge: Edge, host: str, port: int) -> AsyncIterator[int]:
    """Serve health and metrics; gives the port."""
    lag = LoopLag()
    opened = Port(status.watched(edge, lag))
    try:
        await opened.open(host, port)
    except OSError as error:
        raise CannotListen(joined(host, port), error.strerror or str(error)) from error
    watching = asyncio.create_task(lag.watch())
    try:
        yield opened.port
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        await opened.close()


@asynccontextmanager
async def _listening(
    app: web.Application, host: str, port: int, tls: ssl.SSLContext | None, limits: Limits
) -> AsyncIterator[int]:
    """Serve the application; gives the port. Connections beyond the limits are cut."""
    runner = web.AppRunner(
        app,
        access_log=None,
        handle_signals=False,
        keepalive_timeout=limits.request_seconds,
        shutdown_timeout=limits.closing_seconds,
    )
    await runner.setup()
    server = runner.server
    assert server is not None, "`setup` has made it"
    connections = Connections(server, limits, tls)
    try:
        listening = await _listen(connections.accepted, host, port)
        try:
            yield listening.sockets[0].getsockname()[1]
        finally:
            listening.close()
            await connections.close()
    finally:
        await runner.cleanup()


async def _listen(accepted: Callable[[], asyncio.Protocol], host: str, port: int) -> asyncio.Server:
    try:
        return await asyncio.get_running_loop().create_server(accepted, host, port)
    except OSError as error:
        raise CannotListen(joined(host, port), error.strerror or str(error)) from error
