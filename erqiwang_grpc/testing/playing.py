"""Playing: seats that follow the suggestions of their advice, or do what a test chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from random import Random
from typing import TypeAlias, final

from erqiwang_core.players import Policy

from erqiwang_grpc.client import Ended, GatewaySeat, OneWaySeat, SeatClient
from erqiwang_grpc.client.advice import suggested
from erqiwang_grpc.client.commands import Answer
from erqiwang_grpc.rpc.wire import decode
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2

Played: TypeAlias = SeatClient | GatewaySeat | OneWaySeat
"""A client of a seat: on a stream of its own, on that of a gateway, or told one way."""
Chooser: TypeAlias = Callable[[view_pb2.View], pb.Command | None]
"""Gives the command of a seat for its view; None if it has nothing to do. Asked once at each version of the view."""
Condition: TypeAlias = Callable[[view_pb2.View], bool]
"""Whether a view is as wanted."""


def is_over(view: view_pb2.View) -> bool:
    """Whether the match is over."""
    return view.parts.progress.phase == view_pb2.PHASE_OVER


def in_phase(phase: view_pb2.Phase.ValueType, deal: int = 1) -> Condition:
    """A condition: deal number `deal`, from 1, has reached this phase or a later one."""
    return lambda view: (view.parts.progress.deal, view.parts.progress.phase) >= (deal, phase)


def policy(player: Policy, random: Random) -> Chooser:
    """A chooser that plays as a policy of the core, which sees only the seat's view."""

    def choose(view: view_pb2.View) -> pb.Command | None:
        chosen = player.act(decode.view(view), random)
        return None if chosen is None else command(chosen)

    return choose


def accepted(answer: Answer | Ended | None) -> pb.Accepted:
    """The answer to a command that must be accepted. Raises `AssertionError` if it was not."""
    assert isinstance(answer, pb.Accepted), f"the command was not accepted: {answer}"
    return answer


async def play(
    seat: Played,
    choose: Chooser = suggested,
    *,
    until: Condition = is_over,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Play a seat until its view fulfils `until`, calling `before` before each command.

    Raises `AssertionError` if a command is refused, or if the stream ends for good.
    """
    turns = _Turns(seat, choose, until)
    while True:
        await seat.until(turns.is_next)
        if seat.ended is not None:
            raise AssertionError(f"the stream has ended: {seat.ended.why}")
        if until(seat.view):
            return
        before()
        accepted(await seat.act(turns.take()))


async def play_all(seats: Iterable[Played], choose: Chooser = suggested, *, until: Condition = is_over) -> None:
    """Play these seats at the same time, each until its own view fulfils `until`. Raises what `play` raises."""
    await asyncio.gather(*(play(seat, choose, until=until) for seat in seats))


@final
class _Turns:
    """The commands of a seat, at most one for each version: its view does not change until the answer's events come."""

    def __init__(self, seat: Played, choose: Chooser, until: Condition) -> None:
        self._seat = seat
        self._choose = choose
        self._until = until
        self._asked = 0
        """The version at which the chooser was last asked. Other messages than notices leave the version as it is."""
        self._command: pb.Command | None = None

    def is_next(self) -> bool:
        """Whether the seat has a command to send now, or its view fulfils `until`."""
        if self._until(self._seat.view):
            return True
        if self._seat.version > self._asked:
            self._asked = self._seat.version
            self._command = self._choose(self._seat.view)
        return self._command is not None

    def take(self) -> pb.Command:
        """The command to send now."""
        taken, self._command = self._command, None
        assert taken is not None, "`is_next` has found a command"
        return taken
