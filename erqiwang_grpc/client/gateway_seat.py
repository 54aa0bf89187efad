"""One seat of a gateway: its view, its commands, and its end."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final, final
from uuid import uuid4

import grpc

from erqiwang_grpc.client.commands import Answer, Commands, Ended, Unanswered
from erqiwang_grpc.client.fold import Folded
from erqiwang_grpc.client.hints import HintAnswer, Hints
from erqiwang_grpc.client.timing import BackOff, Timing
from erqiwang_grpc.v1 import (
    gateway_service_pb2 as gateway_pb,
    playing_pb2,
    record_pb2,
    seat_service_pb2 as pb,
    view_pb2,
)

_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


@final
class GatewaySeat:
    """One seat of a gateway. `view` is what it sees, kept up to date over every reconnect."""

    def __init__(
        self,
        number: int,
        token: str,
        last_version: int | None,
        timing: Timing,
        send: Callable[[gateway_pb.SeatRequest], None],
    ) -> None:
        self.number = number
        """The gateway's own number of the seat."""
        self.connections = 0
        """How often the seat has begun with a snapshot on a new stream."""
        self.ended: Ended | None = None
        """How the seat ended for good; None while it has not. Code OK: it was closed here."""
        self._token = token
        self._last_version = last_version
        self._timing = timing
        self._send = send
        self._folded = Folded()
        self._commands = Commands(timing, self._say)
        self._hints = Hints(self._ask_hint)
        self._back_off = BackOff(timing)
        self._attached = False
        self._closing = False
        self._others: deque[gateway_pb.SeatRequest] = deque()
        """What is not kept until an answer comes, and waits for the seat to be attached: signals, and requests for a view."""
        self._records: deque[asyncio.Future[record_pb2.MatchRecord | pb.Refused | Ended]] = deque()
        self._reopening: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()

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
        """Whether each seat of the table is present, seat 0 first."""
        return self._folded.present

    @property
    def unanswered(self) -> tuple[Unanswered, ...]:
        """The commands that have no answer yet, first sent first; after the end, those whose answers never came."""
        return self._commands.unanswered

    async def act(
        self, command: pb.Command, expected_version: int | None = None, command_id: str | None = None
    ) -> Answer | Ended:
        """Send a command and wait for its answer, however often the stream is lost meanwhile. As `SeatClient.act`."""
        if self.ended is not None:
            return self.ended
        request = pb.PlayRequest(
            command_id=command_id or uuid4().hex, expected_version=expected_version, command=command
        )
        return await asyncio.shield(self._commands.send(request))

    async def hint(self) -> HintAnswer:
        """What a sensible player would do in this seat's place. As `SeatClient.hint`."""
        return self.ended if self.ended is not None else await self._hints.ask()

    def _ask_hint(self, request_id: str) -> None:
        """Ask for a hint. Before the seat is attached it waits: `_attach` asks for all that have not come."""
        if self._attached:
            self._send(gateway_pb.SeatRequest(handle=self.number, command_id=request_id, hint=pb.GetHintRequest()))

    def signal(self, kind: playing_pb2.SignalKind.ValueType) -> None:
        """Signal the other defenders. There is no receipt; a refusal comes among the messages."""
        command = pb.Command(signal=playing_pb2.Signal(signal=kind))
        self._ask(gateway_pb.SeatRequest(handle=self.number, command=command))

    def resync(self, last_version: int | None = None) -> None:
        """Ask for a fresh snapshot, for example because the player's own connection was too slow for what came."""
        resync = gateway_pb.Resync(last_version=last_version)
        self._ask(gateway_pb.SeatRequest(handle=self.number, resync=resync))

    async def record(self) -> record_pb2.MatchRecord | pb.Refused | Ended:
        """The record of the seat's match, as far as its deals are settled."""
        if self.ended is not None:
            return self.ended
        waiting: asyncio.Future[record_pb2.MatchRecord | pb.Refused | Ended]
        waiting = asyncio.get_running_loop().create_future()
        self._records.append(waiting)
        if self._attached:
            self._send(self._record_request())
        return await asyncio.shield(waiting)

    async def close(self) -> None:
        """Leave the seat, which stays taken, and wait until the server has let go of it."""
        self._closing = True
        if self._attached:
            self._send(gateway_pb.SeatRequest(handle=self.number, close=gateway_pb.CloseSeat()))
        await self.until(lambda: False)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the seat holds, or the seat has ended for good."""
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self.ended is not None)

    def renew(self, token: str) -> None:
        """Use a fresh token of the same seat from the next connection on."""
        self._token = token

    # What the gateway does with it

    def open(self) -> None:
        """Ask the server to open the seat, for the first time or again."""
        last_version = self.version or self._last_version
        asked = gateway_pb.OpenSeat(seat_token=self._token, last_version=last_version)
        self._send(gateway_pb.SeatRequest(handle=self.number, open=asked))

    def lose(self) -> None:
        """The stream was lost: nothing is sent until the seat is attached again."""
        self._attached = False
        self._commands.hush()
        if self._reopening is not None:
            self._reopening.cancel()
            self._reopening = None

    async def hear(self, message: pb.SeatMessage) -> bool:
        """Take a message in; gives whether it is of use to anybody else."""
        if message.HasField("refused") and self._commands.goes_on(message.refused):
            return False
        self._folded.take(message)
        match message.WhichOneof("message"):
            case "snapshot":
                self._attach()
            case "record_read":
                self._answer_record(message.record_read.record)
            case "refused" if message.refused.command_id == self._record_id:
                self._answer_record(message.refused)
            case _:
                self._commands.hear(message)
                self._hints.hear(message)
        async with self._changed:
            self._changed.notify_all()
        return True

    def _attach(self) -> None:
        """At the first snapshot of a stream, send what has no answer yet, and what waited."""
        if self._attached:
            return
        self._attached = True
        self.connections += 1
        self._back_off.begin_again()
        self._commands.send_again()
        self._hints.send_again()
        while self._others:
            self._send(self._others.popleft())
        for _ in self._records:
            self._send(self._record_request())
        if self._closing:
            self._send(gateway_pb.SeatRequest(handle=self.number, close=gateway_pb.CloseSeat()))

    async def end(self, told: gateway_pb.SeatEnded) -> bool:
        """The server has ended the seat; gives whether it has ended for good. If not, it is opened again after a while."""
        self._attached = False
        if told.HasField("retry_delay") and not self._closing:
            wait = self._back_off.wait(told.retry_delay.ToMilliseconds() / 1000)
            self._reopening = asyncio.create_task(self._reopen(wait))
            return False
        await self.end_for_good(Ended(_CODES[told.code], told.message))
        return True

    async def _reopen(self, wait: float) -> None:
        await self._timing.sleep(wait)
        self.open()

    async def end_for_good(self, ended: Ended) -> None:
        """Nothing more comes: tell that to all who wait."""
        self.lose()
        self.ended = replace(ended, unanswered=self.unanswered)
        self._commands.end(self.ended)
        self._hints.end(self.ended)
        while self._records:
            self._answer_record(self.ended)
        async with self._changed:
            self._changed.notify_all()

    def _say(self, request: pb.PlayRequest) -> None:
        """Send a command of the seat. Before the seat is attached it waits: `_attach` sends all that have no answer."""
        if self._attached:
            said = gateway_pb.SeatRequest(handle=self.number, command_id=request.command_id, command=request.command)
            if request.HasField("expected_version"):
                said.expected_version = request.expected_version
            self._send(said)

    def _ask(self, request: gateway_pb.SeatRequest) -> None:
        if self._attached:
            self._send(request)
        elif self.ended is None:
            self._others.append(request)

    @property
    def _record_id(self) -> str:
        return f"record-{self.number}"

    def _record_request(self) -> gateway_pb.SeatRequest:
        return gateway_pb.SeatRequest(handle=self.number, command_id=self._record_id, record=pb.GetRecordRequest())

    def _answer_record(self, answer: record_pb2.MatchRecord | pb.Refused | Ended) -> None:
        if self._records:
            waiting = self._records.popleft()
            if not waiting.done():
                waiting.set_result(answer)
