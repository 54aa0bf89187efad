"""The commands of a seat that have no answer yet, and the callers that wait for their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, final

import grpc

from erqiwang_grpc.client.timing import BackOff, Timing
from erqiwang_grpc.v1 import playing_pb2, seat_service_pb2 as pb

TRIES: Final = 5
"""Most times that a command is sent, if the server answers each time that its outcome is unknown. Then the caller gets
that answer."""
_UNKNOWN_SECONDS: Final = 2.0
"""Least seconds until such a command is sent again, as `OUTCOME_UNKNOWN` asks."""

Answer: TypeAlias = pb.Accepted | pb.Refused | playing_pb2.TrumpsShown


@final
@dataclass(frozen=True, slots=True)
class Unanswered:
    """A command that has no answer yet. Whether it was carried out is not known.

    To find out, call `act` with these three, on any client of the same seat: a command that was carried out is answered
    as it was then, and is not carried out twice.
    """

    command_id: str
    command: pb.Command
    expected_version: int | None


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """The stream has ended for good."""

    code: grpc.StatusCode
    why: str
    unanswered: tuple[Unanswered, ...] = ()
    """The commands whose answers never came, first sent first. What is asked of `act` after the end is not sent."""
    reason: str = ""
    """The reason in upper case, as in docs/errors.md; empty if it is not from the server itself."""


@final
class Commands:
    """Keeps each command until its answer comes, so that it can be sent again under its id."""

    def __init__(self, timing: Timing, send: Callable[[pb.PlayRequest], None]) -> None:
        self._timing = timing
        self._send = send
        self._requests: dict[str, pb.PlayRequest] = {}
        self._answers: dict[str, asyncio.Future[Answer | Ended]] = {}
        self._unknown: dict[str, tuple[int, BackOff]] = {}
        """For each command how often its outcome was unknown."""
        self._waiting: set[asyncio.Task[None]] = set()
        """The tasks that wait to send such a command again."""

    def __contains__(self, command_id: str) -> bool:
        return command_id in self._requests

    @property
    def unanswered(self) -> tuple[Unanswered, ...]:
        """The commands that have no answer yet, first sent first."""
        return tuple(
            Unanswered(
                request.command_id,
                request.command,
                request.expected_version if request.HasField("expected_version") else None,
            )
            for request in self._requests.values()
        )

    def send(self, request: pb.PlayRequest) -> asyncio.Future[Answer | Ended]:
        """Send a command, unless one under its id waits already; gives where its answer will be."""
        answer = self._answers.get(request.command_id)
        if answer is None:
            answer = self._answers[request.command_id] = asyncio.get_running_loop().create_future()
            self._requests[request.command_id] = request
            self._send(request)
        return answer

    def send_again(self) -> None:
        """Send each unanswered command again: its answer may be lost with the old stream."""
        for request in self._requests.values():
            self._send(request)

    def goes_on(self, refused: pb.Refused) -> bool:
        """Whether to send the refused command again. If its outcome is unknown, only its id can tell."""
        command_id = refused.command_id
        if not refused.refusal.HasField("outcome_unknown") or command_id not in self._requests:
            return False
        heard, back_off = self._unknown.pop(command_id, (0, BackOff(self._timing)))
        if heard + 1 == TRIES:
            return False
        self._unknown[command_id] = heard + 1, back_off
        again = asyncio.create_task(self._say_again(command_id, back_off.wait(_UNKNOWN_SECONDS)))
        self._waiting.add(again)
        again.add_done_callback(self._waiting.discard)
        return True

    async def _say_again(self, command_id: str, wait: float) -> None:
        """Send the command again on this stream after `wait` seconds. A new stream sends it anyway."""
        await self._timing.sleep(wait)
        if command_id in self._requests:
            self._send(self._requests[command_id])

    def hush(self) -> tuple[asyncio.Task[None], ...]:
        """Cancel what waits to be sent again, because a new stream sends it anyway; gives the cancelled tasks."""
        waiting = tuple(self._waiting)
        for each in waiting:
            each.cancel()
        return waiting

    def hear(self, message: pb.SeatMessage) -> None:
        """If the message is an answer, give it to the caller that waits for it."""
        match message.WhichOneof("message"):
            case "accepted":
                self._answer(message.accepted.command_id, message.accepted)
            case "refused":
                self._answer(message.refused.command_id, message.refused)
            case "trumps_shown":
                self._answer(self._oldest_show_trumps(), message.trumps_shown)
            case _:
                pass

    def end(self, ended: Ended) -> None:
        """Nothing more will be answered: tell that to all who wait."""
        for command_id in tuple(self._answers):
            self._tell(command_id, ended)

    def _oldest_show_trumps(self) -> str:
        asked = (key for key, request in self._requests.items() if request.command.HasField("show_trumps"))
        return next(asked, "")

    def _answer(self, command_id: str, answer: Answer) -> None:
        self._requests.pop(command_id, None)
        self._unknown.pop(command_id, None)
        self._tell(command_id, answer)

    def _tell(self, command_id: str, answer: Answer | Ended) -> None:
        waiting = self._answers.pop(command_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
