"""Clients of `Watch`: a spectator, and a seat that is told one way and acts by single calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Final, Self, TypeVar, final
from uuid import uuid4

import grpc

from erqiwang_grpc.client import fold, placement
from erqiwang_grpc.client.calls import CallRefused, Cancellation, bearer, refusal_of
from erqiwang_grpc.client.commands import TRIES, Answer, Ended
from erqiwang_grpc.client.hints import HintAnswer
from erqiwang_grpc.client.life import Life
from erqiwang_grpc.client.servers import Options, Servers
from erqiwang_grpc.client.timing import BackOff, Timing
from erqiwang_grpc.client.unread import Unread
from erqiwang_grpc.client.watch_stream import WatchStream
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.v1 import seat_service_pb2 as pb, seat_service_pb2_grpc as rpc, view_pb2

_ATTACH_SECONDS: Final = 10.0
_ACT_SECONDS: Final = 10.0
T = TypeVar("T")

_AGAIN: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
"""Whether the command was carried out is not known, or it was not. With the same id it is safe to send again."""


class _Watching:
    """A view that is kept up to date from a stream of `Watch`. `async with` waits for the first snapshot."""

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
        self._timing = Timing() if timing is None else timing
        self._attach_seconds = attach_seconds
        self._stream = WatchStream(
            self._servers, token, last_version=last_version, room_id=room_id, timing=self._timing
        )
        self._token = token
        self._folded = fold.Folded()
        self._clock = (0, 0.0)
        """A time on the server's clock, and that of our monotonic clock when it came."""
        self._unread = Unread()
        self._life = Life(self._servers, lambda: self._ended is not None)
        self._ended: Ended | None = None

    async def __aenter__(self) -> Self:
        await self._life.begin(self._read(), lambda: self.version > 0, self._attach_seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._life.close()

    @property
    def view(self) -> view_pb2.View:
        """The view, as it was told last."""
        return self._folded.view

    @property
    def version(self) -> int:
        """The version of the view; 0 before the first snapshot."""
        return self._folded.version

    @property
    def ended(self) -> Ended | None:
        """How the stream ended for good; None while it has not."""
        return self._ended

    @property
    def connections(self) -> int:
        """The number of streams that have begun."""
        return self._stream.connections

    @property
    def server_time_ns(self) -> int:
        """The time now on the server's clock, less the delay of a spectator, in nanoseconds since 1970."""
        told, heard = self._clock
        return told + int((self._timing.now() - heard) * 1e9)

    def renew(self, token: str) -> None:
        """Use a fresh token of the same kind. If the old one expires, the stream goes on with it."""
        self._token = token
        self._stream.renew(token)

    def drop(self) -> None:
        """Close the connection as a bad network would, for tests. The client reconnects by itself."""
        self._stream.drop(self._stream.version)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the view holds, or the stream has ended for good."""
        await self._life.until(condition)

    async def messages(self) -> AsyncIterator[pb.SeatMessage]:
        """The messages of the server, in order, until the stream ends. The view includes each one before it is given.

        At most 1,000 wait to be read. Of more the oldest are dropped, so that a client that reads only the view keeps few.
        """
        async for message in self._unread.messages():
            yield message

    async def _read(self) -> None:
        try:
            async with aclosing(self._stream.responses()) as responses:
                async for response in responses:
                    for message in response.messages:
                        await self._hear(message)
        finally:
            self._ended = self._stream.ended or Ended(grpc.StatusCode.CANCELLED, "left")
            self._unread.end()
            await self._life.changed()

    async def _hear(self, message: pb.SeatMessage) -> None:
        self._folded.take(message)
        if message.HasField("snapshot"):
            self._clock = message.snapshot.server_time.ToNanoseconds(), self._timing.now()
        elif message.HasField("heartbeat"):
            self._clock = message.heartbeat.server_time.ToNanoseconds(), self._timing.now()
        self._unread.put(message)
        await self._life.changed()


@final
class Spectator(_Watching):
    """A spectator: `async with Spectator(addresses, watch_token) as watching:` waits for the first snapshot.

    `watching.view` is the public view, as late as the token says; it has no seat and no part of one. If the connection is
    lost, the client reconnects, to the next of `addresses` if the server is gone. `ended` says how the stream ended for good:
    with OK once the end of the match was told, with UNAUTHENTICATED if the token has expired and none came by `renew`, with
    INTERNAL if the room's log is damaged. Where too many watch, the client comes back after the delay that the server names.
    `server_time_ns` is the moment that is shown. A room younger than the delay has no snapshot yet: give `attach_seconds`
    as long as you want to wait for it, at most.
    """


@final
class OneWaySeat(_Watching):
    """A seat whose stream goes one way, for a platform without streams both ways: it is told by `Watch`, and acts by `Act`.

    Arguments are those of `SeatClient`, which is the better one wherever it works.
    """

    @property
    def present(self) -> tuple[bool, ...]:
        """Whether each seat is present, seat 0 first."""
        return self._folded.present

    async def act(
        self, command: pb.Command, expected_version: int | None = None, command_id: str | None = None
    ) -> Answer | Ended | None:
        """Send a command, and give its answer once the view holds what it brought; None for a signal, which has no answer.

        Without an answer it is sent again under its id, at the next server if one is gone. Raises `CallRefused` if the
        outcome stays unknown: calling again with the `command_id` that it names is safe. Gives `Ended` if the stream has
        ended for good.
        """
        if self._ended is not None:
            return self._ended
        request = pb.ActRequest(
            command_id=command_id or uuid4().hex, expected_version=expected_version, command=command
        )
        try:
            response = await self._answered(
                lambda seats: seats.Act(request, metadata=bearer(self._token), timeout=_ACT_SECONDS), request.command_id
            )
        except CallRefused as refused:
            if refused.refusal is None or refused.reason == Reason.OUTCOME_UNKNOWN.name:
                raise
            return pb.Refused(command_id=request.command_id, refusal=refused.refusal, version=self.version)
        if response.HasField("trumps_shown"):
            return response.trumps_shown
        if not response.HasField("accepted"):
            return None
        await self.until(lambda: self.version >= response.accepted.last_version)
        return response.accepted

    async def hint(self) -> HintAnswer:
        """What a sensible player would do in this seat's place. As `SeatClient.hint`, and raises `CallRefused` as `act` does."""
        if self._ended is not None:
            return self._ended
        try:
            response = await self._answered(
                lambda seats: seats.GetHint(pb.GetHintRequest(), metadata=bearer(self._token), timeout=_ACT_SECONDS), ""
            )
        except CallRefused as refused:
            if refused.refusal is None:
                raise
            return pb.Refused(refusal=refused.refusal, version=self.version)
        return response.hint

    async def _answered(self, ask: Callable[[rpc.SeatServiceStub], Awaitable[T]], command_id: str) -> T:
        """The answer to a call, of the next server if one is gone."""
        back_off, tries = BackOff(self._timing), TRIES * len(self._servers)
        while True:
            cancellation, address, tries = Cancellation(), self._servers.address, tries - 1
            try:
                return await ask(rpc.SeatServiceStub(self._servers.channel()))
            except grpc.aio.AioRpcError as error:
                cancellation.heed()
                refused = refusal_of(error, command_id)
                if refused.code not in _AGAIN or not tries:
                    raise refused from error
                self._servers.leave(address)
            await self._timing.sleep(back_off.wait(refused.retry_delay))
