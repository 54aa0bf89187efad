"""Health: every service is SERVING until the server shuts down.

The library's own servicer neither limits its watchers nor ends them, so they would delay the shutdown.
"""

from __future__ import annotations

import contextlib
from asyncio import Event
from collections.abc import Iterable
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

    def __init__(self, services: Iterable[str], watchers: Places) -> None:
        self._services = frozenset(("", *services))
        self._watchers = watchers

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
        """The status of a service now, and again when the server shuts down. Then the stream ends."""
        with contextlib.suppress(TimeoutError):
            async with self._watchers.place(context):
                await context.write(self._answer(request.service))
                await Event().wait()
        await context.write(self._answer(request.service))
        await self._watchers.send_away(context)

    def _answer(self, service: str) -> pb.HealthCheckResponse:
        if service not in self._services:
            return pb.HealthCheckResponse(status=pb.HealthCheckResponse.SERVICE_UNKNOWN)
        left = self._watchers.closed
        return pb.HealthCheckResponse(
            status=pb.HealthCheckResponse.NOT_SERVING if left else pb.HealthCheckResponse.SERVING
        )
