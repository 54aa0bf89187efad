"""Edges for these tests, and clients of their sockets."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final, final

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType
from google.protobuf import json_format

from erqiwang_grpc.client import suggested
from erqiwang_grpc.client.fold import Folded
from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.edge.packets.players import Players
from erqiwang_grpc.edge.serving import running
from erqiwang_grpc.edge.settings import Limits, Settings
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.service.tables import PATIENCE, Service, eventually, is_over

PROTOBUF: Final = "erqiwang.v1.protobuf"
JSON: Final = "erqiwang.v1.json"
SUBPROTOCOLS: Final = (PROTOBUF, JSON)
ROOMY: Final = Limits(messages_per_second=100_000)
"""Limits for tests, which play faster than people."""


@final
@dataclass(frozen=True, slots=True)
class ServedEdge:
    """An edge in this process."""

    edge: Edge
    port: int
    status_port: int
    session: ClientSession

    @property
    def url(self) -> str:
        """The address of its `/v1/play`."""
        return f"ws://127.0.0.1:{self.port}/v1/play"

    @asynccontextmanager
    async def player(
        self, token: str | None = None, subprotocol: str | None = JSON, last_version: int | None = None
    ) -> AsyncIterator[PlayerSocket]:
        """A socket. With a token it attaches."""
        protocols = () if subprotocol is None else (subprotocol,)
        async with self.session.ws_connect(self.url, protocols=protocols) as socket:
            player = PlayerSocket(socket, subprotocol)
            if token is not None:
                await player.say(pb.PlayRequest(attach=pb.Attach(seat_token=token, last_version=last_version)))
            yield player


@asynccontextmanager
async def edge_of(
    service: Service,
    *,
    limits: Limits = ROOMY,
    servers: Sequence[str] | None = None,
    gateway_key: str | None = None,
    origins: Collection[str] = (),
    trusted_proxies: Sequence[str] = (),
    players: Players | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[ServedEdge]:
    """An edge beside this server, until the context is left. It has reached the server."""
    settings = Settings(
        [service.address] if servers is None else servers,
        service.gateway_key() if gateway_key is None else gateway_key,
        limits=limits,
        origins=frozenset(origins),
        trusted_proxies=tuple(map(ip_network, trusted_proxies)),
        players=players,
        tls=tls,
    )
    async with running(settings) as served, ClientSession() as session:
        await eventually(lambda: served.edge.is_ready)
        yield ServedEdge(served.edge, served.port, served.status_port or 0, session)


@final
class PlayerSocket:
    """A player's end of a socket."""

    def __init__(self, socket: ClientWebSocketResponse, subprotocol: str | None) -> None:
        self.socket = socket
        self.is_binary = subprotocol == PROTOBUF
        self.folded = Folded()
        self.heard: list[pb.SeatMessage] = []
        """All messages so far."""
        self.reason = ""
        """Why the edge has closed the socket."""

    async def say(self, request: pb.PlayRequest) -> None:
        """Send a request."""
        if self.is_binary:
            await self.socket.send_bytes(request.SerializeToString())
        else:
            await self.socket.send_str(json_format.MessageToJson(request))

    async def act(self, command: pb.Command, command_id: str = "") -> None:
        """Send a command."""
        await self.say(pb.PlayRequest(command=command, command_id=command_id))

    async def receive(self) -> list[pb.SeatMessage]:
        """The messages of the next frame; none once the socket is closed."""
        async with asyncio.timeout(PATIENCE):
            frame = await self.socket.receive()
        match frame.type:
            case WSMsgType.BINARY if self.is_binary:
                response = pb.PlayResponse.FromString(frame.data)
            case WSMsgType.TEXT if not self.is_binary:
                response = json_format.Parse(frame.data, pb.PlayResponse())
            case WSMsgType.CLOSE:
                self.reason = frame.extra or ""
                return []
            case WSMsgType.CLOSING | WSMsgType.CLOSED:
                return []
            case other:
                raise AssertionError(f"a frame of the wrong kind: {other}")
        assert response.messages, "an empty frame"
        for message in response.messages:
            self.folded.take(message)
            self.heard.append(message)
        return list(response.messages)

    async def hear(self, kind: str) -> pb.SeatMessage:
        """The next frame's message of this kind, past other messages. Fails the test if the socket is closed before."""
        while messages := await self.receive():
            for message in messages:
                if message.HasField(kind):  # type: ignore[arg-type]  # the stubs list the names of the fields
                    return message
        raise AssertionError(f"closed with {self.socket.close_code} before {kind}")

    async def closed(self) -> int | None:
        """Hear the socket out; gives its close code."""
        while await self.receive():
            pass
        return self.socket.close_code

    async def play(self) -> None:
        """Do what the advice suggests until the match is over."""
        asked = 0
        while not is_over(self.folded.view):
            assert await self.receive(), f"closed with {self.socket.close_code}"
            if self.folded.version > asked:
                command = suggested(self.folded.view)
                if command is not None:
                    asked = self.folded.version
                    await self.act(command, f"at {asked}")
