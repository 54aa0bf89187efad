"""One open WebSocket: what is read from it, what is written to it, and its close."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Final, Protocol, final

from aiohttp import ClientConnectionResetError, WSMessage, WSMsgType, web

from erqiwang_grpc import calls
from erqiwang_grpc.edge import closes
from erqiwang_grpc.edge.allowance import Allowance
from erqiwang_grpc.edge.closes import Close
from erqiwang_grpc.edge.counters import Counters
from erqiwang_grpc.edge.outbox import Outbox
from erqiwang_grpc.edge.settings import Limits

log = logging.getLogger(__name__)

_OVER: Final = (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR)
"""What a socket gives after its last message."""


class Talk(Protocol):
    """What a door speaks on a socket."""

    is_text: bool
    """Whether it speaks in text frames."""

    def frames(self, chunks: Sequence[bytes]) -> Sequence[bytes]:
        """The frames with all these chunks of the outbox, which are written now."""

    def caught_up(self) -> None:
        """The socket takes messages again, after some were dropped for it."""

    def beat(self) -> None:
        """Nothing was written for a while: put a sign of life that the client's code can see."""

    def drain(self) -> None:
        """The edge is leaving: say so, and close the socket."""


@final
class Socket:
    """One WebSocket. Its one writer sends what `outbox` holds, then closes it."""

    def __init__(self, response: web.WebSocketResponse, limits: Limits, counters: Counters) -> None:
        self.call = calls.current()
        """What lines of the log name it by."""
        self._response = response
        self._limits = limits
        self._counters = counters
        self._transport: asyncio.Transport | None = None
        self._talk: Talk | None = None
        self._reading: asyncio.Task[object] | None = None
        """The task that reads the socket, while it waits for a frame."""
        self._interrupted: asyncio.Event | None = None
        """Set once that task has left the socket to the writer, which closes it; None before."""
        self._allowance = Allowance(limits.messages_per_second, monotonic())
        self._pinged = 0.0
        self._pinging: asyncio.Task[None] | None = None
        self.outbox = Outbox(limits.outbox_messages, limits.outbox_bytes)
        self.heard = monotonic()
        """When something was read last."""
        self.written = monotonic()
        """When a message was written last."""
        self.close_code: int | None = None
        """What it was closed with by either side; None while it is open, or if it was lost without a word."""

    @property
    def protocol(self) -> str | None:
        """The subprotocol that was agreed on."""
        return self._response.ws_protocol

    @property
    def is_lost(self) -> bool:
        """Whether the connection is gone or going, though not all that came over it may have been read."""
        return self._transport is None or self._transport.is_closing()

    @contextlib.asynccontextmanager
    async def talking(self, request: web.Request, talk: Talk) -> AsyncIterator[None]:
        """Let `talk` speak. At the end write what waits, and close the socket, for good after `closing_seconds`."""
        self._talk = talk
        self._transport = request.transport
        if self._transport is not None:
            connection = self._transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._limits.system_bytes)
        writing = asyncio.create_task(self._write(talk))
        try:
            yield
        except Exception:
            log.exception("socket failed")
            self.outbox.close(closes.FAILED)
        finally:
            self.outbox.close(closes.NORMAL)
            _, pending = await asyncio.wait([writing], timeout=2 * self._limits.closing_seconds)
            if pending:
                writing.cancel()
                self._abort()
                await asyncio.wait([writing])
            if self._pinging is not None:
                self._pinging.cancel()
            # What is still in the system's hands has a little time. A client that takes nothing would keep it for ever.
            asyncio.get_running_loop().call_later(self._limits.closing_seconds, self._abort)

    async def receive(self) -> str | bytes | None:
        """The next message of the client; None after the last. It waits while the socket is beyond its allowance."""
        while not self._is_closing():
            message = await self._frame()
            self.heard = monotonic()
            if message is None or message.type in _OVER:
                self.close_code = self._response.close_code
                return None
            self._counters.frames_in += 1
            wait = self._allowance.spend(self.heard)
            if self._allowance.beyond > self._limits.too_fast_seconds:
                self.outbox.close(closes.TOO_FAST)
                return None
            if wait:
                await asyncio.sleep(wait)
            if message.type is WSMsgType.PING:
                if not await self._pong(message.data):
                    return None
            elif message.type is not WSMsgType.PONG:
                await self.outbox.room()
                data: str | bytes = message.data
                # What was waited with until the socket was closing comes too late: it may not open a seat.
                return None if self._is_closing() else data
        return None

    def _is_closing(self) -> bool:
        return self.outbox.closing is not None

    async def _frame(self) -> WSMessage | None:
        """The next frame; None if the writer wants to close the socket, for which nobody else may read it."""
        self._reading = asyncio.current_task()
        try:
            return await self._response.receive()
        except asyncio.CancelledError:
            if self._interrupted is None or (self._reading is not None and self._reading.uncancel()):
                raise
            return None
        finally:
            self._reading = None
            if self._interrupted is not None:
                self._interrupted.set()

    async def _close(self, close: Close) -> None:
        """Send the close, and wait for the client's."""
        if self._reading is not None:
            self._interrupted = asyncio.Event()
            self._reading.cancel()
            await self._interrupted.wait()
        was_lost = self.is_lost
        await self._response.close(code=close.code, message=close.reason.encode())
        if self.close_code is None and not was_lost:
            self.close_code = close.code

    def look_after(self, now: float) -> None:
        """Ping a silent client, and give up one that does not answer. The edge calls this about once a second."""
        silent = now - self.heard
        if silent > self._limits.idle_seconds:
            self._counters.idle += 1
            self._abort()
        elif min(silent, now - self._pinged) > self._limits.idle_seconds / 3 and (
            self._pinging is None or self._pinging.done()
        ):
            self._pinged = now
            # In a task of its own, because it waits where the client takes nothing.
            self._pinging = asyncio.create_task(self._ping())
        if self._talk is not None and now - self.written > self._limits.beat_seconds:
            self.written = now
            self._talk.beat()

    async def _ping(self) -> None:
        with contextlib.suppress(ClientConnectionResetError):
            await self._response.ping()

    async def _pong(self, data: bytes) -> bool:
        """Answer a ping; gives whether the socket was still open. The ping may have waited while it was closed."""
        try:
            await self._response.pong(data)
        except ClientConnectionResetError:
            return False
        return True

    def drain(self) -> None:
        """Tell the client that the edge is leaving, and close."""
        if self._talk is not None:
            self._talk.drain()
        self.outbox.close(closes.DRAINING)

    async def _write(self, talk: Talk) -> None:
        """Write what waits, as fast as the client takes it, then close."""
        opcode = WSMsgType.TEXT if talk.is_text else WSMsgType.BINARY
        try:
            while True:
                chunks = await self.outbox.take()
                if chunks:
                    self.written = monotonic()
                    for frame in talk.frames(chunks):
                        self._counters.frames_out += 1
                        await self._response.send_frame(frame, opcode)
                elif self.outbox.closing is not None:
                    await self._close(self.outbox.closing)
                    return
                else:
                    talk.caught_up()
        except ClientConnectionResetError:
            pass  # its reader finds out too
        except Exception:
            log.exception("socket failed")
            self._abort()

    def _abort(self) -> None:
        """Cut the connection. What is not sent yet is lost."""
        if self._transport is not None:
            self._transport.abort()
