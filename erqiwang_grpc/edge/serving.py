"""Runs an edge: connects it to a server, and opens its ports."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import final

from aiohttp import web

from erqiwang_grpc.edge.doors import application
from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.edge.settings import Settings

log = logging.getLogger(__name__)


@final
@dataclass(frozen=True, slots=True)
class Running:
    """An edge that serves."""

    edge: Edge
    port: int
    """The port for players."""


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """An edge that serves until the context is left. Raises `OSError` if a port cannot be opened.

    It takes players at once, and reaches a server when there is one.
    """
    edge = Edge(settings)
    runner = web.AppRunner(
        application(edge), access_log=None, handle_signals=False, keepalive_timeout=settings.limits.request_seconds
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, settings.host, settings.port, ssl_context=settings.tls)
        await site.start()
        port: int = runner.addresses[0][1]
        async with edge.stream:
            looking = asyncio.create_task(edge.look_after())
            log.info("serving", extra={"address": f"{settings.host}:{port}"})
            try:
                yield Running(edge, port)
            finally:
                looking.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await looking
                await edge.drain(0)
        log.info("stopped", extra={"address": f"{settings.host}:{port}"})
    finally:
        await runner.cleanup()
