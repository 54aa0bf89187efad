"""`GatewayService`: admits gateways, and writes what waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final, final

import grpc

from erqiwang_grpc.archive.matches import Archive
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Heartbeat
from erqiwang_grpc.rooms.quotas import Quotas
from erqiwang_grpc.rooms.room import Node
from erqiwang_grpc.rpc.access import Access
from erqiwang_grpc.rpc.errors import end, end_served, refuse
from erqiwang_grpc.rpc.gateway.connection import Connection, Services
from erqiwang_grpc.rpc.gateway.open_seat import heartbeat
from erqiwang_grpc.rpc.own_records import OwnRecords
from erqiwang_grpc.store import NOTHING
from erqiwang_grpc.v1 import gateway_service_pb2 as pb

GATEWAY_SERVICE: Final = pb.DESCRIPTOR.services_by_name["GatewayService"].full_name


@final
class GatewayServicer:
    """The servicer of `GatewayService`. The proto file documents it for callers."""

    def __init__(self, access: Access, archive: Archive, quotas: Quotas, node: Node) -> None:
        self._access = access
        self._quotas = quotas
        self._node = node
        self._services = Services(access, OwnRecords(archive, node.monotonic), node)
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._leaving = False

    @property
    def streams(self) -> int:
        """The number of open streams."""
        return len(self._connections)

    @property
    def seats(self) -> int:
        """The number of seats that all gateways have open."""
        return sum(connection.seats for connection in self._connections)

    def handler(self) -> grpc.GenericRpcHandler:
        """What the server hands the calls of the service to. `Connect` writes bytes, which are sent as they are."""
        connect: grpc.RpcMethodHandler[pb.ConnectRequest, bytes] = grpc.stream_stream_rpc_method_handler(
            self.Connect, pb.ConnectRequest.FromString
        )
        return grpc.method_handlers_generic_handler(GATEWAY_SERVICE, {"Connect": connect})

    async def Connect(
        self,
        request_iterator: AsyncIterator[pb.ConnectRequest],
        context: grpc.aio.ServicerContext[pb.ConnectRequest, bytes],
    ) -> None:
        """The stream of one gateway."""
        platform = await self._access.gateway(context)
        await self._admit(context)
        reached = self._quotas.gateway(platform)
        if reached is not None:
            await refuse(context, reached)
        with self._quotas.connecting(platform):
            connection = Connection(platform, self._services)
            self._connections.add(connection)
            # So that a gateway knows that it is admitted, also before it opens a seat.
            connection.outbox.beat(self._heartbeat())
            try:
                closing = await self._converse(connection, request_iterator, context)
            finally:
                self._connections.discard(connection)
                self._keep(asyncio.create_task(connection.part()))
        if closing.value is not None:
            await end_served(context, closing.value, connection.said)

    async def _admit(self, context: grpc.aio.ServicerContext[pb.ConnectRequest, bytes]) -> None:
        if self._leaving:
            await end(context, Reason.DRAINING)
        if len(self._connections) >= self._node.limits.gateways:
            said = f"The server takes {self._node.limits.gateways} gateways."
            await end(context, Reason.TOO_MANY_STREAMS, said)

    async def _converse(
        self,
        connection: Connection,
        requests: AsyncIterator[pb.ConnectRequest],
        context: grpc.aio.ServicerContext[pb.ConnectRequest, bytes],
    ) -> Closing:
        """Read in a separate task and write in this one, so that a stream has one writer, which is never cancelled."""
        # The task ends by itself when the stream ends. Cancelling it could lose a command that is half carried out.
        self._keep(asyncio.create_task(connection.listen(requests)))
        outbox, pulse = connection.outbox, connection.pulse
        while True:
            response = await outbox.take()
            if response:
                pulse.written = self._node.monotonic()
                await context.write(response)
            elif outbox.closing is not None:
                return outbox.closing

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def look_after(self) -> None:
        """Send a heartbeat on each silent stream. A stream with open seats is looked after by their rooms too."""
        now = self._node.monotonic()
        for connection in self._connections:
            if now - connection.pulse.written > self._node.limits.heartbeat_seconds:
                connection.pulse.written = now
                connection.outbox.beat(self._heartbeat())

    def _heartbeat(self) -> bytes:
        return heartbeat(Heartbeat(NOTHING, self._node.now()))

    def drain(self) -> None:
        """The server is shutting down: refuse new streams, and end the others once what is under way is answered."""
        self._leaving = True
        for connection in self._connections:
            connection.leave(Closing.DRAINING)
