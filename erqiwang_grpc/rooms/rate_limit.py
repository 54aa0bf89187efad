"""Allowances: how many units of work a caller may use, a number each second and twice that in a burst.

A unary call beyond its caller's allowance is refused. A stream beyond it is read more slowly, so that the flow control
of the connection holds the sender back. After some seconds of that the stream ends. `costs` says what work costs.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_core.units import Seat

_ROUNDING: Final = 1e-9
"""Units that may be missing because of rounding: a caller that waited exactly as long as it was told must be served."""
_TOLD_EVERY: Final = 1.0
"""Least seconds between two refusals that tell one stream that it is too fast."""


@final
class Allowance:
    """A bucket of units that fills with time, on a monotonic clock in seconds. Work is paid from it.

    It may fall below zero, because some work is paid after it is done. Nothing more is done then until
    it is back at zero.
    """

    __slots__ = ("_last", "_left", "most", "per_second")

    def __init__(self, per_second: float, now: float) -> None:
        self.per_second = per_second
        self.most = 2.0 * per_second
        """The units in a full bucket. A caller that was idle for an hour has no more than that."""
        self._left = self.most
        self._last = now

    def left(self, now: float) -> float:
        """The units in the bucket at `now`; below zero if some are owed."""
        self._left = min(self._left + max(0.0, now - self._last) * self.per_second, self.most)
        self._last = now
        return self._left

    def spend(self, cost: float, now: float) -> float:
        """Take `cost` units even if they are not there; gives the seconds until none are owed, 0 if none are."""
        self._left = self.left(now) - cost
        return self._seconds_for(0.0)

    def until(self, wanted: float, now: float) -> float:
        """The seconds until `wanted` units are there; 0 if they are."""
        self.left(now)
        return self._seconds_for(wanted)

    def take(self, cost: float, now: float) -> float:
        """Take `cost` units and give 0, if they are there. Otherwise take none and give the seconds until they are."""
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
    """The allowance of each seat of one room. A seat's streams and its unary calls share one."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._of_seats: dict[Seat, Allowance] = {}

    def of(self, seat: Seat, now: float) -> Allowance:
        """The allowance of a seat, full when it is first asked for."""
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
    """The stream is beyond its allowance. Read nothing more from it for `seconds`.

    If the sender `is_told`, refuse the request at once; otherwise carry it out after that time.
    """

    seconds: float
    is_told: bool


@final
@dataclass(frozen=True, slots=True)
class TooLong:
    """The stream has been beyond its allowance for too long. End it."""


Verdict: TypeAlias = AtOnce | Later | TooLong


@final
class Pace:
    """Decides how fast one stream is read."""

    def __init__(self, allowance: Allowance, patience: float) -> None:
        self._allowance = allowance
        self._patience = patience
        self._waited = 0.0
        self._told: float | None = None

    def spend(self, cost: float, now: float) -> Verdict:
        """Pay `cost` units for a request that has arrived; gives what to do with it."""
        if self._allowance.left(now) >= self._allowance.most / 2:
            # The bucket is half full: the flood is over. Less could come from one late wakeup in the middle of a flood.
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
