"""Allowances: how much work is done for a caller, so much a second in the long run and twice as much in a burst.

A unary call beyond its caller's allowance is refused. A stream beyond it is read more slowly, so that the connection's own
flow control holds the sender back; after some seconds of that it ends. What work costs is in `costs`.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_core.units import Seat

_ROUNDING: Final = 1e-9
"""Waiting exactly as long as was asked for is enough, though sums of floats may miss that by a hair."""
_TOLD_EVERY: Final = 1.0
"""Seconds between two refusals on one stream that say that it is too fast."""


@final
class Allowance:
    """A bucket that fills with time on a monotonic clock, in seconds, and from which work is paid.

    It may owe: work whose cost is known only afterwards is paid afterwards, and nothing more is done until that is earned.
    """

    __slots__ = ("_last", "_left", "most", "per_second")

    def __init__(self, per_second: float, now: float) -> None:
        self.per_second = per_second
        self.most = 2.0 * per_second
        """What it holds when it is full: an idle hour buys no more than that."""
        self._left = self.most
        self._last = now

    def left(self, now: float) -> float:
        """What is there to be spent; below zero for what is owed."""
        self._left = min(self._left + max(0.0, now - self._last) * self.per_second, self.most)
        self._last = now
        return self._left

    def spend(self, cost: float, now: float) -> float:
        """Pay, owing what is not there; gives the seconds until nothing is owed."""
        self._left = self.left(now) - cost
        return self._seconds_for(0.0)

    def take(self, cost: float, now: float) -> float:
        """Pay if enough is there, and give 0; else pay nothing and give the seconds until enough is there."""
        enough = min(cost, self.most)
        if self.left(now) + _ROUNDING < enough:
            return self._seconds_for(enough)
        self._left -= cost
        return 0.0

    def _seconds_for(self, wanted: float) -> float:
        missing = wanted - self._left
        return missing / self.per_second if missing > _ROUNDING else 0.0


@final
class Allowances:
    """The allowance of every seat of one room. A seat's streams and its unary calls pay from the same."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._of_seats: dict[Seat, Allowance] = {}

    def of(self, seat: Seat, now: float) -> Allowance:
        """That seat's."""
        allowance = self._of_seats.get(seat)
        if allowance is None:
            allowance = self._of_seats[seat] = Allowance(self.per_second, now)
        return allowance


@final
@dataclass(frozen=True, slots=True)
class AtOnce:
    """The request is carried out at once."""


@final
@dataclass(frozen=True, slots=True)
class Later:
    """The stream is beyond its allowance: nothing more is read for so many seconds.

    The request is carried out after them; or, if its sender `is_told`, it is refused at once.
    """

    seconds: float
    is_told: bool


@final
@dataclass(frozen=True, slots=True)
class TooLong:
    """The stream has been beyond its allowance for too long: it ends."""


Verdict: TypeAlias = AtOnce | Later | TooLong


@final
class Pace:
    """How fast one stream is read."""

    def __init__(self, allowance: Allowance, patience: float) -> None:
        self._allowance = allowance
        self._patience = patience
        self._waited = 0.0
        self._told: float | None = None

    def spend(self, cost: float, now: float) -> Verdict:
        """Pay for a request that has come in, and say when it is carried out."""
        if self._allowance.left(now) >= self._allowance.most / 2:
            # A second's worth is saved again. Any smaller sum could come from a late wakeup in the middle of a flood.
            self._waited = 0.0
        wait = self._allowance.spend(cost, now)
        if not wait:
            return AtOnce()
        if self._waited + wait > self._patience + _ROUNDING:
            return TooLong()
        self._waited += wait
        is_told = self._told is None or now - self._told >= _TOLD_EVERY
        if is_told:
            self._told = now
        return Later(wait, is_told)
