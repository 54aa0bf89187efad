"""The door `/v1/watch`: what `SeatService.Watch` tells a spectator, on a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Final, final

from aiohttp import web

from erqiwang_grpc.client.watch_stream import WatchStream
from erqiwang_grpc.edge import closes, frames
from erqiwang_grpc.edge.closes import Close
from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.edge.frames import Frames
from erqiwang_grpc.edge.json_request import WrongField
from erqiwang_grpc.edge.play import STRANGERS_BYTES, bearer, handler, leaving
from erqiwang_grpc.edge.upstreams import Upstream
from erqiwang_grpc.edge.web_socket import Socket
from erqiwang_grpc.v1 import refusal_pb2, seat_service_pb2 as pb

log = logging.getLogger(__name__)

PATH: Final = "/v1/watch"
_TOGETHER: Final = 16
"""Most messages that are put into the outbox at once: what waits for room must have some then."""


def add_routes(router: web.UrlDispatcher, edge: Edge) -> None:
    """Add `/v1/watch`."""
    router.add_get(PATH, handler(edge, WatchTalk))


@final
class WatchTalk:
    """The conversation of one spectator. It attaches with its token, then listens."""

    def __init__(self, edge: Edge, socket: Socket, written: Frames) -> None:
        self._edge = edge
        self._socket = socket
        self._frames = written
        self.is_text = written.is_text
        self._upstream: Upstream | None = None
        self._stream: WatchStream | None = None
        self._reading: asyncio.Task[None] | None = None
        self._requests = 0
        self._was_told = False
        """Whether the server has told anything: the token is good."""
        self._put: int | None = None
        """The version of the last message that was put into the outbox."""
        self._seen: int | None = None
        """The version of the last message that the socket has taken."""

    # What the client says

    async def listen(self, authorization: str | None) -> None:
        """Hear the client out, until it leaves or the socket is closed."""
        too_late = asyncio.get_running_loop().call_later(self._edge.settings.limits.token_seconds, self._give_up)
        try:
            while (data := await self._socket.receive()) is not None:
                if not self._take(data, authorization):
                    break
        finally:
            too_late.cancel()
            if self._reading is not None and self._upstream is not None:
                self._reading.cancel()
                await asyncio.wait([self._reading])
                await self._edge.upstreams.leave(self._upstream)

    def _give_up(self) -> None:
        """Close the socket if no server has told it anything yet."""
        if not self._was_told:
            self._socket.outbox.close(closes.NOT_ATTACHED if self._stream is None else closes.NO_SERVER)

    def _take(self, data: str | bytes, authorization: str | None) -> bool:
        """Take a message of the client; gives whether to go on."""
        if not self._was_told and frames.size(data) > STRANGERS_BYTES:
            return self._close(closes.TOO_BIG)
        request = self._frames.request(data)
        if isinstance(request, Close):
            return self._close(request)
        self._requests += 1
        if isinstance(request, WrongField):
            self._refuse(request.command_id, request.refusal)
            return True
        match request.WhichOneof("request"):
            case "detach":
                return self._close(closes.NORMAL)
            case "attach":
                return self._attach(request.attach, authorization)
            case "heartbeat":
                return self._stream is not None or self._close(closes.NOT_ATTACHED)
            case "command" | "record" | "hint" | None:
                if self._stream is None:
                    return self._close(closes.NOT_ATTACHED)
                self._refuse(request.command_id, _NO_COMMAND)
                return True

    def _attach(self, attach: pb.Attach, authorization: str | None) -> bool:
        last_version = attach.last_version if attach.HasField("last_version") else None
        if self._stream is not None:
            self._stream.drop(last_version)
            return True
        token = attach.seat_token or bearer(authorization)
        if token is None:
            return self._close(closes.BAD_TOKEN if authorization else closes.NO_TOKEN)
        self._seen = last_version
        self._upstream = self._edge.upstreams.take()
        self._stream = WatchStream(self._upstream.servers, token, last_version=last_version, is_patient=False)
        self._reading = asyncio.create_task(self._read(self._stream))
        return True

    def _close(self, why: Close) -> bool:
        self._socket.outbox.close(why)
        return False

    def _refuse(self, command_id: str, refusal: refusal_pb2.Refusal) -> None:
        refused = pb.Refused(command_id=command_id, request=self._requests, refusal=refusal, version=self._put or 0)
        self._hear([pb.SeatMessage(refused=refused)])

    # What the server tells

    async def _read(self, stream: WatchStream) -> None:
        """Pass on what the server tells, as fast as the socket takes it."""
        try:
            async with contextlib.aclosing(stream.responses()) as responses:
                async for response in responses:
                    await self._pass_on(response.messages)
        except Exception:
            log.exception("socket failed")
            self._socket.outbox.close(closes.FAILED)
        else:
            if stream.ended is not None:
                self._socket.outbox.close(closes.of_stream(stream.ended))

    async def _pass_on(self, messages: Sequence[pb.SeatMessage]) -> None:
        self._was_told = True
        # The goodbye of a server that leaves is the edge's to heed: it goes on at another one.
        told = [message for message in messages if message.goodbye.reason != pb.Goodbye.REASON_DRAINING]
        for first in range(0, len(told), _TOGETHER):
            await self._socket.outbox.room()
            if not self._hear(told[first : first + _TOGETHER]):
                return  # the snapshot that follows holds the rest

    def _hear(self, messages: Sequence[pb.SeatMessage]) -> bool:
        """Encode messages for the socket; gives whether it had room. If not, a snapshot follows in their place."""
        if self._socket.outbox.put(self._frames.chunk(messages), len(messages)):
            for message in messages:
                self._put = message.snapshot.version or message.notice.version or self._put
            return True
        if self._stream is not None:
            self._edge.counters.resyncs += 1
            self._stream.drop(self._seen)
        return False

    # What the socket asks

    def frames(self, chunks: Sequence[bytes]) -> Sequence[bytes]:
        """One response with all that waits."""
        self._seen = self._put
        return [self._frames.response(chunks)]

    def caught_up(self) -> None:
        """The snapshot in place of what was dropped is asked for already."""

    def beat(self) -> None:
        """The server's own heartbeats come through."""

    def drain(self) -> None:
        """Say goodbye, with the moment to come back."""
        self._hear([leaving()])


_NO_COMMAND: Final = refusal_pb2.Refusal(
    code=refusal_pb2.CODE_PARAM,
    message="Who watches sends `attach`, `heartbeat` and `detach` alone.",
    no_command=refusal_pb2.Refusal.NoCommand(),
)
