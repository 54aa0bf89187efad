"""The door `/v1/play`: one seat on a WebSocket, in the messages of `SeatService.Play`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import uniform
from typing import Final, Protocol, final

from aiohttp import web

from erqiwang_grpc.edge import closes, frames
from erqiwang_grpc.edge.closes import Close
from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.edge.frames import Frames
from erqiwang_grpc.edge.json_request import WrongField
from erqiwang_grpc.edge.seats import EdgeSeat
from erqiwang_grpc.edge.web_socket import Socket, Talk
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.v1 import refusal_pb2, seat_service_pb2 as pb

PATH: Final = "/v1/play"
STRANGERS_BYTES: Final = 4 * 1024
"""The largest message of a socket that has no seat yet."""


def add_routes(router: web.UrlDispatcher, edge: Edge) -> None:
    """Add `/v1/play`."""
    router.add_get(PATH, handler(edge, PlayTalk))


class Conversation(Talk, Protocol):
    """What speaks the messages of `SeatService` on a socket."""

    async def listen(self, authorization: str | None) -> None:
        """Hear the client out, until it leaves or the socket is closed."""


def handler(
    edge: Edge, begun: Callable[[Edge, Socket, Frames], Conversation]
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A door that opens a socket for each request and holds the conversation that `begun` makes, in the client's frames."""

    async def talk(request: web.Request) -> web.StreamResponse:
        async with edge.socket(request, [name for name in frames.FRAMES if name]) as (response, socket):
            conversation = begun(edge, socket, frames.FRAMES.get(socket.protocol, frames.DEFAULT))
            async with socket.talking(request, conversation):
                await conversation.listen(request.headers.get("Authorization"))
            return response

    return talk


@final
class PlayTalk:
    """The conversation of one player: requests go to the seat, and what the seat is told to the socket."""

    def __init__(self, edge: Edge, socket: Socket, written: Frames) -> None:
        self._edge = edge
        self._socket = socket
        self._frames = written
        self.is_text = written.is_text
        self._seat: EdgeSeat | None = None
        self._requests = 0
        """The number of the last request of the client, counted from 1."""
        self._seen: int | None = None
        """The version of the last message that the socket has taken."""

    # What the client says

    async def listen(self, authorization: str | None) -> None:
        """Hear the client out, until it leaves or the socket is closed."""
        limit = self._edge.settings.limits
        too_late = asyncio.get_running_loop().call_later(limit.token_seconds, self._give_up)
        try:
            while (data := await self._socket.receive()) is not None:
                await self._edge.stream.room()
                if not self._take(data, authorization):
                    break
        finally:
            too_late.cancel()
            if self._seat is not None:
                self._edge.seats.leave(self._seat)

    def _give_up(self) -> None:
        """Close the socket if it has no seat yet."""
        if self._seat is None or not self._seat.was_attached:
            self._socket.outbox.close(closes.NOT_ATTACHED if self._seat is None else closes.NO_SERVER)

    def _take(self, data: str | bytes, authorization: str | None) -> bool:
        """Take a message of the client; gives whether to go on."""
        is_stranger = self._seat is None or not self._seat.was_attached
        if is_stranger and frames.size(data) > STRANGERS_BYTES:
            return self._close(closes.TOO_BIG)
        request = self._frames.request(data)
        if isinstance(request, Close):
            return self._close(request)
        self._requests += 1
        if isinstance(request, WrongField):
            self._refuse(request.command_id, request.refusal)
            return True
        return self._carry_out(request, authorization)

    def _carry_out(self, request: pb.PlayRequest, authorization: str | None) -> bool:
        kind = request.WhichOneof("request")
        if kind == "detach":
            return self._close(closes.NORMAL)
        if self._seat is not None:
            if kind is None:
                self._refuse(request.command_id, _NO_COMMAND)
            self._seat.ask(self._requests, request)
            return True
        if kind != "attach":
            return self._close(closes.NOT_ATTACHED)
        token = request.attach.seat_token or bearer(authorization)
        if token is None:
            return self._close(closes.BAD_TOKEN if authorization else closes.NO_TOKEN)
        self._seen = request.attach.last_version if request.attach.HasField("last_version") else None
        self._seat = self._edge.seats.open(token, self._seen, self)
        return True

    def _close(self, why: Close) -> bool:
        self._socket.outbox.close(why)
        return False

    def _refuse(self, command_id: str, refusal: refusal_pb2.Refusal) -> None:
        version = 0 if self._seat is None else self._seat.version or 0
        refused = pb.Refused(command_id=command_id, request=self._requests, refusal=refusal, version=version)
        self.hear([pb.SeatMessage(refused=refused)])

    # What the seat is told

    def hear(self, messages: Sequence[pb.SeatMessage]) -> None:
        """Encode messages for the socket. If it has no room for them, a snapshot follows later in their place."""
        if not self._socket.outbox.put(self._frames.chunk(messages), len(messages)) and self._seat is not None:
            self._edge.counters.resyncs += 1
            self._seat.fall_behind(self._seen)

    def end(self, why: Close) -> None:
        """The seat has ended, and with it the socket."""
        self._socket.outbox.close(why)

    # What the socket asks

    def frames(self, chunks: Sequence[bytes]) -> Sequence[bytes]:
        """One response with all that waits."""
        if self._seat is not None:
            self._seen = self._seat.version
        return [self._frames.response(chunks)]

    def caught_up(self) -> None:
        """Ask for the snapshot in place of what was dropped."""
        if self._seat is not None:
            self._seat.catch_up()

    def beat(self) -> None:
        """Say that the edge is alive, as `Play` does after 20 seconds."""
        if self._seat is not None and self._seat.was_attached:
            beat = pb.Heartbeat(version=self._seat.version or 0)
            beat.server_time.FromNanoseconds(self._edge.seats.server_time_ns)
            self.hear([pb.SeatMessage(heartbeat=beat)])

    def drain(self) -> None:
        """Say goodbye, with the moment to come back."""
        self.hear([leaving()])


def leaving() -> pb.SeatMessage:
    """The goodbye of an edge that leaves, with the moment to come back."""
    row = Reason.DRAINING.value
    goodbye = pb.Goodbye(reason=pb.Goodbye.REASON_DRAINING)
    if row.retry is not None:
        goodbye.retry_delay.FromMilliseconds(round(1000 * uniform(row.retry.least, row.retry.most)))
    return pb.SeatMessage(goodbye=goodbye)


def bearer(authorization: str | None) -> str | None:
    """The token of an `Authorization` header; None if it holds none."""
    kind, _, token = (authorization or "").partition(" ")
    return token if kind.lower() == "bearer" and token.isascii() and token.isprintable() and token else None


_NO_COMMAND: Final = refusal_pb2.Refusal(
    code=refusal_pb2.CODE_PARAM,
    message="No request was given, or one of an unknown kind.",
    no_command=refusal_pb2.Refusal.NoCommand(),
)
