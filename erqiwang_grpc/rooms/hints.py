"""Hints: what a sensible player would do in a seat's place, worked out beside the event loop.

A hint takes 0.6 ms on the mean and 3 ms at worst. One thread works them all out, so hints never take more than one core's
share, and what waits for it is bounded. A process would take nothing from the event loop, but costs 30 MB, and its start and
its end would have to be looked after. A thread that has the interpreter gives it up after 5 ms at the latest, and a hint is
shorter than that.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.match import Command, Match
from erqiwang_core.parts import View
from erqiwang_core.refusals import NotYourTurn
from erqiwang_core.units import Seat
from erqiwang_core.view import advice, progress, turn, view

from erqiwang_grpc.rooms.refusals import HintsForbidden, NothingToDecide, TooManyHints
from erqiwang_grpc.store import Version

_WAITING: Final = 64
"""Most hints that may be worked out or wait. At 0.6 ms each the last of them waits for 40 ms."""


@final
@dataclass(frozen=True, slots=True)
class Hinted:
    """A hint."""

    command: Command
    version: Version
    """The version of the room whose view it is for."""


def hint(seen: View) -> Command | None:
    """What a sensible player would do in the place of the view's seat; None if it has nothing to do.

    The same view has the same hint: the random source is made anew for each, and holds nothing of the server.
    """
    from erqiwang_core.players import Sensible  # noqa: PLC0415  # a server that gives no hints loads no players

    return Sensible().act(seen, Random(0))


def no_hint(match: Match, seat: Seat) -> HintsForbidden | NotYourTurn | NothingToDecide | None:
    """Why the seat gets no hint in this position; None if it gets one."""
    if not match.options.hints:
        return HintsForbidden()
    if advice(match, seat).choice is not None:
        return None
    on_turn = turn(match).seat
    return NothingToDecide(progress(match).phase) if on_turn is None else NotYourTurn(on_turn)


@final
class Hints:
    """Works out hints for all rooms of a node, one after another, in a thread of its own."""

    def __init__(self, waiting: int = _WAITING, work: Callable[[View], Command | None] = hint) -> None:
        """At most `waiting` hints are worked out or wait; more are refused. `work` makes a hint of a view."""
        self._most = waiting
        self._work = work
        self._worker = ThreadPoolExecutor(1, "hints")
        self._waiting = 0

    async def of(
        self, match: Match, seat: Seat
    ) -> Command | HintsForbidden | NotYourTurn | NothingToDecide | TooManyHints:
        """The hint for the seat in this position, or why there is none."""
        wrong = no_hint(match, seat)
        if wrong is not None:
            return wrong
        if self._waiting >= self._most:
            return TooManyHints()
        self._waiting += 1
        work = self._worker.submit(self._hint, match, seat)
        loop = asyncio.get_running_loop()
        # A caller that gives up does not end the work, so its place is free only when the work is done.
        work.add_done_callback(lambda _: _soon(loop, self._leave))
        command = await asyncio.shield(asyncio.wrap_future(work))
        assert command is not None, "a seat with a choice has something to do"
        return command

    def _hint(self, match: Match, seat: Seat) -> Command | None:
        return self._work(view(match, seat))

    def _leave(self) -> None:
        self._waiting -= 1


def _soon(loop: asyncio.AbstractEventLoop, leave: Callable[[], None]) -> None:
    """Call `leave` in the loop, unless the loop has been closed since."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(leave)
