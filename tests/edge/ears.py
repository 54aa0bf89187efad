"""Sockets of the edge for the tests of all transports."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import final

from aiohttp import ClientWebSocketResponse
from google.protobuf import json_format

from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.sockets import JSON, ServedEdge, edge_of
from tests.service.gateways import STATUSES, SeatOf
from tests.service.tables import SeatEar, Service


@final
class SocketEar(SeatEar):
    """A seat on a socket, in proto JSON."""

    def __init__(self, edge: ServedEdge, token: str) -> None:
        super().__init__()
        self._edge = edge
        self._token = token
        self._socket: ClientWebSocketResponse | None = None

    async def say(self, request: pb.PlayRequest) -> None:
        if self._socket is None:
            headers = {"Authorization": f"Bearer {self._token}"}
            self._socket = await self._edge.session.ws_connect(self._edge.url, protocols=(JSON,), headers=headers)
        await self._socket.send_str(json_format.MessageToJson(request))

    async def close(self) -> None:
        """Close the socket if it was opened. What is only forgotten would warn in the middle of another test."""
        if self._socket is not None:
            await self._socket.close()

    async def _receive(self) -> Sequence[pb.SeatMessage] | None:
        assert self._socket is not None, "a seat says something first"
        if self._socket.closed:
            return None
        frame = await self._socket.receive()
        if isinstance(frame.data, str) and self._socket.close_code is None:
            return json_format.Parse(frame.data, pb.PlayResponse()).messages
        code = (self._socket.close_code or 1006) - 4_000
        if code > 0:
            self.refused = CallRefused(STATUSES[code], str(frame.extra), "", None)
        return None


@asynccontextmanager
async def by_socket(service: Service) -> AsyncIterator[SeatOf]:
    """Seats on sockets of an edge."""
    ears: list[SocketEar] = []

    def of(token: str) -> SocketEar:
        ears.append(SocketEar(edge, token))
        return ears[-1]

    async with edge_of(service) as edge:
        try:
            yield of
        finally:
            for ear in ears:
                await ear.close()
