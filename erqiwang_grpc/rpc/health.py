"""Health: every service is SERVING while the store can be used, until the server shuts down.

The library's own servicer neither limits its watchers nor ends them, so they would delay the shutdown.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Final, final

import grpc
from grpc_health.v1 import health_pb2 as pb, health_pb2_grpc as rpc

from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rpc.errors import end
from erqiwang_grpc.rpc.places import Places

NAME: Final = pb.DESCRIPTOR.services_by_name["Health"].full_name


@final
class Health(rpc.HealthServicer):
    """The standard health service: for each service by its full name, and for the whole server by an empty name."""

    def __init__(self, services: Iterable[str], watchers: Places, is_well: Callable[[], bool]) -> None:
        self._services = frozenset(("", *services))
        self._watchers = watchers
        self._is_well = is_well
        self._was_well = True
        self._is_leaving = False
        self._changed = asyncio.Event()

    def leave(self) -> None:
        """Say from now on that nothing is served, and tell all watchers so."""
        self._is_leaving = True
        self.look()

    def look(self) -> None:
        """See whether the health has changed, and tell all watchers if so. Call it about once a second."""
        well = self._serves
        if well != self._was_well:
            self._was_well = well
            self._changed.set()
            self._changed = asyncio.Event()

    async def Check(
        self,
        request: pb.HealthCheckRequest,
        context: grpc.aio.ServicerContext[pb.HealthCheckRequest, pb.HealthCheckResponse],
    ) -> pb.HealthCheckResponse:
        """The status of a service now. Ends the call with NOT_FOUND for an unknown one."""
        if request.service not in self._services:
            await end(context, Reason.NO_SUCH_SERVICE)
        return self._answer(request.service)

    async def Watch(
        self,
        request: pb.HealthCheckRequest,
        context: grpc.aio.ServicerContext[pb.HealthCheckRequest, pb.HealthCheckResponse],
    ) -> None:
        """The status of a service now, and again whenever it changes. The stream ends when the server shuts down."""
        writing: asyncio.Future[None] | None = None
        with contextlib.suppress(TimeoutError):
            async with self._watchers.place(context):
                while True:
                    changed = self._changed
                    writing = asyncio.ensure_future(context.write(self._answer(request.service)))
                    # Whoever is sent away in the middle of a write must not cancel it: that breaks the stream.
                    await asyncio.shield(writing)
                    await changed.wait()
        if writing is not None:
            await writing
        await context.write(self._answer(request.service))
        await self._watchers.send_away(context)

    @property
    def why_not(self) -> str | None:
        """Why the server is not serving; None if it is."""
        if self._is_leaving or self._watchers.closed:
            return "the server is leaving"
        return None if self._is_well() else "the store is away"

    @property
    def _serves(self) -> bool:
        return self._is_well() and not self._is_leaving

    def _answer(self, service: str) -> pb.HealthCheckResponse:
        if service not in self._services:
            return pb.HealthCheckResponse(status=pb.HealthCheckResponse.SERVICE_UNKNOWN)
        serves = self._serves and not self._watchers.closed
        return pb.HealthCheckResponse(
            status=pb.HealthCheckResponse.SERVING if serves else pb.HealthCheckResponse.NOT_SERVING
        )
