"""One seat over its stream: the view kept up to date, commands with ids of their own, and reconnecting."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from random import uniform
from types import TracebackType
from typing import Final, Self, TypeAlias, final
from uuid import uuid4

import grpc

from erqiwang_grpc.client import fold
from erqiwang_grpc.client.calls import bearer, retry_delay
from erqiwang_grpc.v1 import playing_pb2, seat_service_pb2 as pb, seat_service_pb2_grpc as rpc, view_pb2

_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 5.0
_HEARTBEAT_SECONDS: Final = 20.0
_PARTING_SECONDS: Final = 5.0
_FOR_GOOD: Final = (
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
)
"""Displaced by a newer stream, no good token, or a client that speaks wrongly: reconnecting would not help."""

Answer: TypeAlias = pb.Accepted | pb.Refused | playing_pb2.TrumpsShown


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """The stream has ended for good."""

    code: grpc.StatusCode
    why: str


@final
class SeatClient:
    """A seat's stream. `async with SeatClient(channel, token) as seat:` attaches and, at the end, detaches.

    `seat.view` is the seat's view and `seat.version` the version it stands at. Whatever is lost on the way, the client
    reconnects and sends its unanswered commands again under the ids they had.
    """

    def __init__(self, channel: grpc.aio.Channel, token: str) -> None:
        self._stub = rpc.SeatServiceStub(channel)
        self._metadata = bearer(token)
        self._call: grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse] | None = None
        self._unanswered: dict[str, pb.PlayRequest] = {}
        self._answers: dict[str, asyncio.Future[Answer | Ended]] = {}
        self._outgoing: asyncio.Queue[pb.PlayRequest] = asyncio.Queue()
        self._incoming: asyncio.Queue[pb.SeatMessage | Ended] = asyncio.Queue()
        self._changed = asyncio.Condition()
        self._leaving = False
        self._running: asyncio.Task[None] | None = None
        self.view = view_pb2.View()
        self.version = 0
        self.present: tuple[bool, ...] = ()
        """Which seats are there, seat 0 first."""
        self.connections = 0
        """How often a stream has begun with a snapshot."""
        self.connected = False
        """Whether a stream has begun and was not lost since."""
        self.ended: Ended | None = None
        """How the stream ended for good; None while it has not."""

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self._run())
        await self.until(lambda: self.version > 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving = True
        self._outgoing.put_nowait(pb.PlayRequest(detach=pb.Detach()))
        if self._running is not None:
            await asyncio.wait([self._running], timeout=_PARTING_SECONDS)
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running

    async def act(self, command: pb.Command, expected_version: int | None = None) -> Answer | Ended:
        """Send a command and wait for its answer, however often the stream is lost meanwhile. Not for signals."""
        if self.ended is not None:
            return self.ended
        command_id = uuid4().hex
        request = pb.PlayRequest(command_id=command_id, expected_version=expected_version, command=command)
        answer: asyncio.Future[Answer | Ended] = asyncio.get_running_loop().create_future()
        self._unanswered[command_id] = request
        self._answers[command_id] = answer
        self._outgoing.put_nowait(request)
        return await answer

    def signal(self, kind: playing_pb2.SignalKind.ValueType) -> None:
        """Signal the other defenders. There is no receipt; a refusal comes among the messages."""
        command = pb.Command(signal=playing_pb2.Signal(signal=kind))
        self._outgoing.put_nowait(pb.PlayRequest(command=command))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the view holds, or the stream has ended for good."""
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self.ended is not None)

    async def messages(self) -> AsyncIterator[pb.SeatMessage]:
        """Everything the server says, in order, each already folded into the view; ends with the stream."""
        while True:
            message = await self._incoming.get()
            if isinstance(message, Ended):
                return
            yield message

    def drop(self) -> None:
        """Lose the connection on purpose, as a bad network would. The client comes back by itself."""
        if self._call is not None:
            self._call.cancel()

    async def _run(self) -> None:
        """Converse, and come back after every loss, until it is over for good."""
        wait = _FIRST_WAIT
        last = Ended(grpc.StatusCode.CANCELLED, "left")
        try:
            while True:
                before = self.connections
                ended, delay = await self._connection()
                if ended is not None:
                    last = ended
                    return
                await self._lose()
                wait = _FIRST_WAIT if self.connections > before else min(2 * wait, _LONGEST_WAIT)
                await asyncio.sleep(uniform(wait / 2, wait) if delay is None else delay)
        finally:
            await self._end(last)

    async def _connection(self) -> tuple[Ended | None, float | None]:
        """One stream from its first to its last message: how all ended, or how long to wait before the next."""
        call = self._stub.Play(metadata=self._metadata)
        self._call = call
        writer = asyncio.create_task(self._write(call))
        try:
            async for response in call:
                for message in response.messages:
                    await self._hear(message)
            code, details, delay = await call.code(), await call.details() or "", None
        except grpc.aio.AioRpcError as error:
            code, details, delay = error.code(), error.details() or "", retry_delay(error)
        except asyncio.CancelledError:
            if not call.cancelled():
                call.cancel()
                raise
            # Cancelled by `drop`: the call alone is lost.
            code, details, delay = grpc.StatusCode.CANCELLED, "dropped", 0.0
        finally:
            writer.cancel()
            self._call = None
        if self._leaving or code in _FOR_GOOD:
            return Ended(code, details), delay
        return None, delay

    async def _write(self, call: grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]) -> None:
        """Say `Attach`, then everything that is to be said; a heartbeat where there is nothing."""
        attach = pb.Attach(last_version=self.version) if self.version else pb.Attach()
        # A stream that ends while something is written says why to the reader; what was not answered is said again.
        with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
            await call.write(pb.PlayRequest(attach=attach))
            while True:
                await call.write(await self._next_request())

    async def _next_request(self) -> pb.PlayRequest:
        try:
            return await asyncio.wait_for(self._outgoing.get(), _HEARTBEAT_SECONDS)
        except TimeoutError:
            return pb.PlayRequest(heartbeat=pb.Heartbeat())

    async def _hear(self, message: pb.SeatMessage) -> None:
        """Fold one message into what is known, and answer whoever waits for it."""
        match message.WhichOneof("message"):
            case "snapshot":
                self._begin_again(message.snapshot)
            case "notice":
                self.version = message.notice.version
                fold.put(self.view, message.notice.changed)
            case "accepted":
                self._answer(message.accepted.command_id, message.accepted)
            case "refused":
                self._answer(message.refused.command_id, message.refused)
            case "trumps_shown":
                self._answer(self._oldest_show_trumps(), message.trumps_shown)
            case "presence":
                self.present = tuple(message.presence.present)
            case "signal_received" | "heartbeat" | "goodbye" | None:
                pass
        self._incoming.put_nowait(message)
        async with self._changed:
            self._changed.notify_all()

    def _begin_again(self, snapshot: pb.Snapshot) -> None:
        """Everything anew: an answer may have been lost on the way, so what is unanswered is said again."""
        self.version = snapshot.version
        self.view.CopyFrom(snapshot.view)
        self.connections += 1
        self.connected = True
        for request in self._unanswered.values():
            self._outgoing.put_nowait(request)

    def _oldest_show_trumps(self) -> str:
        asked = (key for key, request in self._unanswered.items() if request.command.HasField("show_trumps"))
        return next(asked, "")

    def _answer(self, command_id: str, answer: Answer | Ended) -> None:
        self._unanswered.pop(command_id, None)
        waiting = self._answers.pop(command_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def _lose(self) -> None:
        self.connected = False
        async with self._changed:
            self._changed.notify_all()

    async def _end(self, ended: Ended) -> None:
        self.ended = ended
        for command_id in tuple(self._answers):
            self._answer(command_id, ended)
        self._incoming.put_nowait(ended)
        async with self._changed:
            self._changed.notify_all()
