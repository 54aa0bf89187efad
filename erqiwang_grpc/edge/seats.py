"""The open seats of an edge, all on one gateway stream."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from time import monotonic
from typing import Final, Protocol, final

from erqiwang_grpc import calls
from erqiwang_grpc.client import Ended
from erqiwang_grpc.client.endings import FOR_GOOD, REFUSED_KEY
from erqiwang_grpc.edge import closes
from erqiwang_grpc.edge.closes import Close
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, refusal_pb2, seat_service_pb2 as pb

log = logging.getLogger(__name__)

_MOST_HELD: Final = 64
"""Requests of one seat that wait for its first snapshot on a stream."""
_MOST_UNANSWERED: Final = 2 * _MOST_HELD
"""Requests of one seat whose numbers are kept until their answers come: those that waited, and as many again. What is not
answered, such as a signal, is forgotten with the next answer."""

_AGAIN_SECONDS: Final = 1.0


class SeatEar(Protocol):
    """Hears what a seat is told. Neither method may wait."""

    def hear(self, messages: Sequence[pb.SeatMessage]) -> None:
        """Messages for the seat, in order, at least one."""

    def end(self, why: Close) -> None:
        """Nothing more comes."""


@final
class EdgeSeat:
    """One seat. It keeps no view: only the version that it saw, and the numbers of requests that have no answer yet."""

    def __init__(
        self,
        handle: int,
        token: str,
        last_version: int | None,
        ear: SeatEar,
        put: Callable[[gateway_pb.SeatRequest], None],
    ) -> None:
        self.handle = handle
        self.ear = ear
        self.call = calls.current()
        """The socket that it is opened for, as lines of the log name it."""
        self.version = last_version
        """The version of the last message that was heard; None before the first."""
        self.is_attached = False
        """Whether a snapshot has come on this stream."""
        self.was_attached = False
        """Whether a snapshot has ever come: the token is good."""
        self.is_left = False
        self._asked = gateway_pb.OpenSeat(seat_token=token, last_version=last_version)
        self._put = put
        self._is_behind = False
        self._resync = 0
        """The number of the last request for a snapshot that the edge itself made; 0 if it made none on this stream."""
        self._requests = 0
        self._unanswered: dict[int, tuple[int, gateway_pb.SeatRequest]] = {}
        """By the number on this stream: the client's own number of the request, and the request."""
        self._held: deque[tuple[int, gateway_pb.SeatRequest]] = deque()

    # What the door asks

    def ask(self, number: int, request: pb.PlayRequest) -> None:
        """Send a request. `number` is the client's own, and comes back in the answer."""
        said = gateway_pb.SeatRequest(handle=self.handle, command_id=request.command_id)
        match request.WhichOneof("request"):
            case "command":
                said.command.CopyFrom(request.command)
                if request.HasField("expected_version"):
                    said.expected_version = request.expected_version
            case "attach":
                said.resync.SetInParent()
                if request.attach.HasField("last_version"):
                    said.resync.last_version = request.attach.last_version
            case "record":
                said.record.SetInParent()
            case "hint":
                said.hint.SetInParent()
            case "detach" | "heartbeat" | None:
                return
        if self.is_attached:
            self._say(number, said)
        elif len(self._held) < _MOST_HELD:
            self._held.append((number, said))
        else:
            self.ear.hear([self.refused(number, request.command_id, _NO_SERVER)])

    def fall_behind(self, since: int | None) -> None:
        """The ear has dropped messages after version `since`: it hears nothing more until a snapshot."""
        self._is_behind = True
        self.version = since

    def catch_up(self) -> None:
        """The ear hears again: ask for the snapshot."""
        if self._is_behind and self.is_attached and not self.is_left:
            resync = gateway_pb.Resync(last_version=self.version)
            self._say(0, gateway_pb.SeatRequest(handle=self.handle, resync=resync))
            self._resync = self._requests

    def leave(self) -> None:
        """Leave the seat, which stays taken. Nothing more is heard."""
        self.is_left = True
        self._put(gateway_pb.SeatRequest(handle=self.handle, close=gateway_pb.CloseSeat()))

    def refused(self, number: int, command_id: str, refusal: refusal_pb2.Refusal) -> pb.SeatMessage:
        """The message with which the edge itself refuses a request."""
        return pb.SeatMessage(
            refused=pb.Refused(command_id=command_id, request=number, refusal=refusal, version=self.version or 0)
        )

    # What the stream tells

    def open(self) -> None:
        """Ask the server to open the seat on a new stream."""
        self._requests, self._resync = 1, 0
        if self.version is not None:
            self._asked.last_version = self.version
        else:
            self._asked.ClearField("last_version")
        self._put(gateway_pb.SeatRequest(handle=self.handle, open=self._asked))

    def lose(self) -> None:
        """The stream was lost. What can be repeated safely is sent again on the next one; of the rest nothing is known."""
        self.is_attached = False
        unanswered = [each for each in self._unanswered.values() if _is_repeatable(each[1])]
        self._held.extendleft(reversed(unanswered))
        self._unanswered.clear()

    def hear(self, told: Sequence[pb.SeatMessage]) -> None:
        """Pass on what the server tells, with the client's own numbers of its requests."""
        heard: list[pb.SeatMessage] = []
        for message in told:
            kind = message.WhichOneof("message")
            if kind == "snapshot":
                self.version = message.snapshot.version
                self._is_behind = False
                self._attach()
            elif kind == "notice":
                if not self._is_behind:
                    self.version = message.notice.version
            elif kind == "accepted":
                message.accepted.request = self._number(message.accepted.request)
            elif kind == "refused":
                if message.refused.request == self._resync:
                    self._ask_again()
                message.refused.request = self._number(message.refused.request)
            elif kind == "trumps_shown":
                self._forget_shown()
            elif kind == "hint":
                message.hint.request = self._number(message.hint.request)
            elif kind == "record_read":
                message.record_read.request = self._number(message.record_read.request)
            if not self._is_behind:
                heard.append(message)
        if heard:
            self.ear.hear(heard)

    def _attach(self) -> None:
        if not self.is_attached:
            self.is_attached = self.was_attached = True
            while self._held:
                self._say(*self._held.popleft())

    def _say(self, number: int, said: gateway_pb.SeatRequest) -> None:
        self._requests += 1
        if len(self._unanswered) >= _MOST_UNANSWERED:
            del self._unanswered[next(iter(self._unanswered))]
        self._unanswered[self._requests] = number, said
        self._put(said)

    def _number(self, number: int) -> int:
        """The client's own number of the request that is answered. Requests before it have been answered, or never are."""
        own = self._unanswered[number][0] if number in self._unanswered else 0
        for earlier in [each for each in self._unanswered if each <= number]:
            del self._unanswered[earlier]
        return own

    def _forget_shown(self) -> None:
        """The oldest request for trumps is answered: by them alone, without its number."""
        for number, (_, said) in self._unanswered.items():
            if said.command.HasField("show_trumps"):
                del self._unanswered[number]
                return

    def _ask_again(self) -> None:
        """The snapshot was refused, because the seat is beyond its allowance: ask again a little later."""
        asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self.catch_up)


def _is_repeatable(request: gateway_pb.SeatRequest) -> bool:
    """Whether a request does no harm if it is carried out twice."""
    return request.WhichOneof("request") in ("record", "hint") or bool(request.command_id)


_NO_SERVER: Final = refusal_pb2.Refusal(
    code=refusal_pb2.CODE_STEP,
    message="No server is reached now, and nothing was done. Send it again later.",
    store_unavailable=refusal_pb2.Refusal.StoreUnavailable(),
)


@final
class Seats:
    """All seats, by their handles. They are what the gateway stream speaks to."""

    def __init__(self, servers: Collection[str], put: Callable[[gateway_pb.SeatRequest], None]) -> None:
        """`servers` are the addresses that the stream may lead to, and `put` sends a request on it."""
        self._servers = frozenset(servers)
        self._refusing: set[str] = set()
        """The servers that have refused the gateway key since one was reached."""
        self._put = put
        self._seats: dict[int, EdgeSeat] = {}
        self._next = 0
        self._server_ns = 0
        self._heard = 0.0
        self.is_open = False
        """Whether a stream is there, or is tried."""
        self.is_heard = False
        """Whether a server has said something on it."""
        self.ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        """How the stream ended for good."""

    def __len__(self) -> int:
        return len(self._seats)

    @property
    def server_time_ns(self) -> int:
        """The time now on the server's clock, in nanoseconds since 1970; 0 before the server has named one."""
        return self._server_ns and self._server_ns + int((monotonic() - self._heard) * 1e9)

    def open(self, token: str, last_version: int | None, ear: SeatEar) -> EdgeSeat:
        """Open the seat of a token. `ear` hears a snapshot, or its end. Raises `ValueError` if no message can hold them."""
        handle = self._next
        self._next += 1
        seat = self._seats[handle] = EdgeSeat(handle, token, last_version, ear, self._put)
        if self.is_open:
            seat.open()
        return seat

    def leave(self, seat: EdgeSeat) -> None:
        """Leave a seat. Its handle is kept until the server has let go of it."""
        if self._seats.get(seat.handle) is not seat:
            return
        if self.is_open:
            seat.leave()
        else:
            del self._seats[seat.handle]

    # What the gateway stream does with them

    def begin(self) -> None:
        """Open all seats on a new stream."""
        self.is_open = True
        for seat in tuple(self._seats.values()):
            with self._alone(seat):
                seat.open()

    def lose(self) -> None:
        """The stream is gone, and with it the seats that were being left."""
        self.is_open = self.is_heard = False
        for seat in tuple(self._seats.values()):
            with self._alone(seat):
                seat.lose()
        self._seats = {handle: seat for handle, seat in self._seats.items() if not seat.is_left}

    async def hear(self, response: gateway_pb.ConnectResponse) -> None:
        """Pass on what the seats are told."""
        self.is_heard = True
        self._refusing.clear()
        if response.HasField("heartbeat"):
            self._set_clock(response.heartbeat.ToNanoseconds())
        for told in response.seats:
            seat = self._seats.get(told.handle)
            if seat is None:
                continue
            if told.HasField("ended"):
                del self._seats[told.handle]
            if not seat.is_left:
                self._hear(seat, told)

    def _hear(self, seat: EdgeSeat, told: gateway_pb.SeatMessages) -> None:
        """Let a seat hear what it is told."""
        with self._alone(seat):
            if told.messages:
                self._hear_clock(told.messages[0])
                seat.hear(told.messages)
            if told.HasField("ended"):
                seat.ear.end(closes.of_ended(told.ended))

    @contextlib.contextmanager
    def _alone(self, seat: EdgeSeat) -> Iterator[None]:
        """An error within ends this seat, and no other."""
        with calls.within(seat.call):
            try:
                yield
            except Exception:
                log.exception("seat failed")
                self.leave(seat)
                seat.ear.end(closes.FAILED)

    def is_for_good(self, address: str, ended: Ended) -> bool:
        """Whether to give up. Only that every server refuses the key is a reason to: all players hang on this stream."""
        if ended.code in FOR_GOOD:
            log.error("gateway refused", extra={"address": address, "code": ended.code.name, "why": ended.why})
        if ended.code in REFUSED_KEY:
            self._refusing.add(address)
        else:
            self._refusing.discard(address)
        return self._refusing >= self._servers

    async def end(self, ended: Ended) -> None:
        """No stream comes any more."""
        self.ended.set_result(ended)
        seats, self._seats = self._seats, {}
        for seat in seats.values():
            seat.ear.end(closes.NO_SERVER)

    def _hear_clock(self, message: pb.SeatMessage) -> None:
        if message.HasField("snapshot"):
            self._set_clock(message.snapshot.server_time.ToNanoseconds())

    def _set_clock(self, now_ns: int) -> None:
        self._server_ns, self._heard = now_ns, monotonic()
