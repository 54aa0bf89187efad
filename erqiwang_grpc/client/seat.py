"""The client of one seat: keeps its view up to date, sends commands with ids, and reconnects."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final, Self, TypeAlias, final
from uuid import uuid4

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.client import fold, placement
from erqiwang_grpc.client.calls import Cancellation, Status, bearer
from erqiwang_grpc.client.commands import Answer, Commands, Ended, Unanswered
from erqiwang_grpc.client.endings import FOR_GOOD, Lost, parted
from erqiwang_grpc.client.hints import HintAnswer, Hints
from erqiwang_grpc.client.life import Life
from erqiwang_grpc.client.servers import Options, Servers
from erqiwang_grpc.client.timing import BackOff, Heart, Timing
from erqiwang_grpc.client.unread import Unread
from erqiwang_grpc.v1 import playing_pb2, seat_service_pb2 as pb, seat_service_pb2_grpc as rpc, view_pb2

_PARTING_SECONDS: Final = 5.0
_ATTACH_SECONDS: Final = 10.0
_Call: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"


@final
@dataclass(frozen=True, slots=True)
class _Clock:
    """A time on the server's clock, and the time of our monotonic clock when it arrived."""

    server_ns: int = 0
    heard: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class _Dropped:
    """The connection was closed on purpose. Attach again at once."""


_DROPPED: Final = _Dropped()
_LEFT: Final = Ended(grpc.StatusCode.CANCELLED, "left")


@final
class SeatClient:
    """A seat's stream. `async with SeatClient(addresses, token) as seat:` attaches and, at the end, detaches.

    `seat.view` is the seat's view, and `seat.version` is its version. If the connection is lost, the client reconnects,
    to the next of `addresses` if the server is gone, and sends its unanswered commands again with their ids. All
    addresses must lead to the same store, because another store would not know those ids.

    `last_version` is `Seated.last_version`, which comes with the token; a program that was restarted gives the last
    version that it saw. The first snapshot then tells in `missed` what has happened since, for example the start of the
    deal that began when this seat filled the room.

    With `room_id`, all clients of that room begin with the same one of `addresses`, so that one node does the work of the
    room; proxies that choose a node by the header `erqiwang-room` do the same. Seats may be attached to any node without it.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        token: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        options: Options = (),
        last_version: int | None = None,
        timing: Timing | None = None,
        attach_seconds: float = _ATTACH_SECONDS,
        room_id: str | None = None,
    ) -> None:
        placed = addresses if room_id is None or isinstance(addresses, str) else placement.in_order(room_id, addresses)
        self._servers = Servers(placed, credentials, options)
        self._metadata = bearer(token) if room_id is None else (*bearer(token), (placement.ROOM_HEADER, room_id))
        self._timing = Timing() if timing is None else timing
        self._last_version = last_version
        self._attach_seconds = attach_seconds
        self._call: _Call | None = None
        self._dropping = False
        self._attached = asyncio.Event()
        self._outgoing: asyncio.Queue[pb.PlayRequest] = asyncio.Queue()
        self._commands = Commands(self._timing, self._outgoing.put_nowait)
        self._hints = Hints(self._ask_hint)
        self._unread = Unread()
        self._life = Life(self._servers, lambda: self.ended is not None)
        self._leaving = False
        self._folded = fold.Folded()
        self.connections = 0
        """The number of streams that have begun with a snapshot."""
        self.connected = False
        """Whether a stream has begun and was not lost."""
        self._clock = _Clock()
        self.ended: Ended | None = None
        """How the stream ended for good; None while it has not."""

    async def __aenter__(self) -> Self:
        await self._life.begin(self._run(), lambda: self.version > 0, self._attach_seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving = True
        self._outgoing.put_nowait(pb.PlayRequest(detach=pb.Detach()))
        try:
            if self._call is not None:
                await self._life.ended(_PARTING_SECONDS)
        finally:
            await self._life.close()

    async def act(
        self, command: pb.Command, expected_version: int | None = None, command_id: str | None = None
    ) -> Answer | Ended:
        """Send a command and wait for its answer, however often the stream is lost meanwhile. Not for signals.

        If the server answers that the outcome is unknown, because its disk failed, the command is sent again with its
        id. Only the fifth such answer in a row is given to the caller. A caller that gave up waiting may call again
        with the same `command_id`: it is then the same command. If the caller gave none, `unanswered` has the one that
        was made here. Gives `Ended` if the stream has ended for good; its `unanswered` has the command if it was sent.
        """
        if self.ended is not None:
            return self.ended
        command_id = command_id or uuid4().hex
        request = pb.PlayRequest(command_id=command_id, expected_version=expected_version, command=command)
        return await asyncio.shield(self._commands.send(request))

    @property
    def unanswered(self) -> tuple[Unanswered, ...]:
        """The commands that have no answer yet, first sent first; after the end, those whose answers never came."""
        return self._commands.unanswered

    async def hint(self) -> HintAnswer:
        """What a sensible player would do in this seat's place, by its present view alone (`SeatService.GetHint`).

        A refusal where the room forbids hints, or the seat has nothing to decide. To follow the hint, `act` with its
        `command`, and with its `version` as `expected_version`.
        """
        return self.ended if self.ended is not None else await self._hints.ask()

    def _ask_hint(self, request_id: str) -> None:
        self._outgoing.put_nowait(pb.PlayRequest(command_id=request_id, hint=pb.GetHintRequest()))

    def signal(self, kind: playing_pb2.SignalKind.ValueType) -> None:
        """Signal the other defenders. There is no receipt; a refusal comes in `messages`."""
        command = pb.Command(signal=playing_pb2.Signal(signal=kind))
        self._outgoing.put_nowait(pb.PlayRequest(command=command))

    @property
    def server_time_ns(self) -> int:
        """The time now on the server's clock, in nanoseconds since 1970. Turns and events have their times from it.

        This machine's clock need not be right. The result lags by the time that the server's last message was under
        way.
        """
        return self._clock.server_ns + int((self._timing.now() - self._clock.heard) * 1e9)

    @property
    def view(self) -> view_pb2.View:
        """The seat's view."""
        return self._folded.view

    @property
    def version(self) -> int:
        """The version of the view; 0 before the first snapshot."""
        return self._folded.version

    @property
    def present(self) -> tuple[bool, ...]:
        """Whether each seat is present, seat 0 first."""
        return self._folded.present

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the view holds, or the stream has ended for good."""
        await self._life.until(condition)

    async def messages(self) -> AsyncIterator[pb.SeatMessage]:
        """The messages of the server, in order, until the stream ends. The view includes each one before it is given.

        Answers that the outcome of a command is unknown are left out while the client still tries to find it out. At most
        1,000 wait to be read. Of more the oldest are dropped, so that a client that reads only the view keeps few.
        """
        async for message in self._unread.messages():
            yield message

    def renew(self, token: str) -> None:
        """Use a fresh token of the same seat from the next connection on. The open stream keeps the old one."""
        self._metadata = bearer(token)

    def drop(self) -> None:
        """Close the connection as a bad network would, for tests. The client reconnects by itself."""
        if self._call is not None:
            self._dropping = True
            self._call.cancel()

    async def _run(self) -> None:
        """Keep a stream open, and reconnect after each loss, until the stream ends for good."""
        back_off = BackOff(self._timing)
        cancellation = Cancellation()
        last = _LEFT
        try:
            while True:
                before, address = self.connections, self._servers.address
                outcome = await self._connection()
                cancellation.heed()
                match outcome:
                    case Ended():
                        last = outcome
                        return
                    case _Dropped():
                        await self._lose()
                    case Lost(elsewhere, delay):
                        await self._lose()
                        if self.connections > before:
                            back_off.begin_again()
                        if elsewhere or self.connections == before:
                            self._servers.leave(address)
                        await self._timing.sleep(back_off.wait(delay))
        finally:
            await self._end(last)

    async def _connection(self) -> Ended | Lost | _Dropped:
        """Run one stream from its first to its last message; gives how it ended."""
        call = rpc.SeatServiceStub(self._servers.channel()).Play(metadata=self._metadata)
        status = Status(call)
        self._call, self._dropping = call, False
        self._attached.clear()
        heart = Heart(self._timing)
        talking = [asyncio.create_task(self._write(call, heart)), asyncio.create_task(self._beat(heart))]
        try:
            return await self._read(call, status)
        except asyncio.CancelledError:
            if not self._dropping:
                raise
            return _DROPPED
        finally:
            self._call = None
            call.cancel()
            for each in talking:
                each.cancel()
            await asyncio.wait([*talking, *self._commands.hush()])

    async def _read(self, call: _Call, status: Status) -> Ended | Lost:
        """Read all messages, and only then look at the status, because a goodbye tells more than the status."""
        try:
            async for response in call:
                for message in response.messages:
                    await self._hear(message)
                    if message.HasField("goodbye"):
                        return parted(message.goodbye)
        except grpc.aio.AioRpcError:
            # If a write met the end of the call, this error is not the server's status.
            pass
        how = await status.ending()
        if self._leaving or how.code in FOR_GOOD:
            return Ended(how.code, how.why, reason=how.reason)
        return Lost(elsewhere=False, retry_delay=how.retry_delay)

    async def _write(self, call: _Call, heart: Heart) -> None:
        """Send `Attach`, and when it is answered, all further requests."""
        attach = pb.Attach(last_version=self.version or self._last_version)
        # If the stream ends during a write, the reader learns why, and unanswered commands are sent again.
        with contextlib.suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
            await call.write(pb.PlayRequest(attach=attach))
            await self._attached.wait()
            while True:
                request = await self._outgoing.get()
                heart.spoken()
                await call.write(request)

    async def _beat(self, heart: Heart) -> None:
        """Send a heartbeat whenever nothing else was sent for a while."""
        await self._attached.wait()
        while True:
            await heart.due()
            heart.spoken()
            self._outgoing.put_nowait(pb.PlayRequest(heartbeat=pb.Heartbeat()))

    async def _hear(self, message: pb.SeatMessage) -> None:
        """Fold one message into the view, and wake the callers that wait for it."""
        if message.HasField("refused") and self._commands.goes_on(message.refused):
            return
        self._folded.take(message)
        match message.WhichOneof("message"):
            case "snapshot":
                self._begin_again(message.snapshot)
            case "heartbeat":
                self._set_clock(message.heartbeat.server_time)
            case _:
                self._commands.hear(message)
                self._hints.hear(message)
        self._unread.put(message)
        await self._life.changed()

    def _begin_again(self, snapshot: pb.Snapshot) -> None:
        """After a snapshot, send each unanswered command again: its answer may be lost with the old stream."""
        self._set_clock(snapshot.server_time)
        self.connections += 1
        self.connected = True
        waiting = [self._outgoing.get_nowait() for _ in range(self._outgoing.qsize())]
        self._commands.send_again()
        self._hints.send_again()
        for request in waiting:
            if request.command_id not in self._commands and request.command_id not in self._hints:
                self._outgoing.put_nowait(request)
        self._attached.set()

    def _set_clock(self, told: Timestamp) -> None:
        self._clock = _Clock(told.ToNanoseconds(), self._timing.now())

    async def _lose(self) -> None:
        self.connected = False
        await self._life.changed()

    async def _end(self, ended: Ended) -> None:
        ended = self.ended = replace(ended, unanswered=self.unanswered)
        self._commands.end(ended)
        self._hints.end(ended)
        self._unread.end()
        await self._life.changed()
