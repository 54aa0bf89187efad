"""Stakes: what the points that the defenders capture are worth to a seat, in chips (rules §10, §11, part B)."""

from collections.abc import Sequence
from functools import cache
from math import exp, fsum
from typing import Final, TypeAlias

from erqiwang_core.awards import award_chips, award_unit
from erqiwang_core.rules import BidRow, Rules
from erqiwang_core.scoring import declarer_won, multiplier, outcome
from erqiwang_core.seats import by_seat
from erqiwang_core.units import Awards, Chips, Points, Seat

_STEP: Final = 5
_MOST: Final = 400
"""More captured points than this are as good as never seen."""

Stakes: TypeAlias = tuple[float, ...]
"""The chips of a seat for 0, 5, 10, … captured points."""


def chips(stakes: Stakes, points: int) -> float:
    """The chips for that number of captured points."""
    return stakes[min(points, _MOST) // _STEP]


@cache
def stakes_of(rules: Rules, row: BidRow, *, declares: bool, awards: int, spread: int) -> Stakes:
    """The stakes of a deal at that bid, for the declarer or a defender.

    `awards` is the declarer's number of awards, as far as the seat knows. Around each number of points those near it
    are weighed in, `spread` points being the standard deviation: the points of a playout are only near those of a play.
    """
    sharp = [_chips(rules, row, Points(points), declares, awards) for points in range(0, _MOST + 1, _STEP)]
    if not spread:
        return tuple(float(paid) for paid in sharp)
    weights = tuple(exp(-0.5 * (_STEP * step / spread) * (_STEP * step / spread)) for step in range(len(sharp)))
    return tuple(_weighed(sharp, weights, at) for at in range(len(sharp)))


def _weighed(sharp: Sequence[int], weights: Sequence[float], at: int) -> float:
    near = [weights[abs(at - other)] for other in range(len(sharp))]
    return fsum(weight * paid for weight, paid in zip(near, sharp, strict=True)) / fsum(near)


def _chips(rules: Rules, row: BidRow, points: Points, declares: bool, awards: int) -> int:
    """The chips of the declarer on seat 0, or of a defender on seat 1."""
    result = outcome(row, points)
    stake = Chips(row.base * multiplier(result))
    unit = award_unit(rules.awards, stake, row.base)
    earned = award_chips(unit, by_seat(rules.seats, lambda seat: Awards(0 if seat else awards)))
    sign = 1 if declarer_won(result) else -1
    if declares:
        return sign * stake * (rules.seats - 1) + earned[Seat(0)]
    return -sign * stake + earned[Seat(1)]


def surrendered(rules: Rules, row: BidRow, awards: int) -> int:
    """The chips of a declarer who surrenders with that number of awards. The bid must allow it."""
    assert row.surrender is not None, "the bid allows a surrender"
    unit = award_unit(rules.awards, row.surrender, row.surrender)
    earned = award_chips(unit, by_seat(rules.seats, lambda seat: Awards(0 if seat else awards)))
    return earned[Seat(0)] - row.surrender * (rules.seats - 1)
