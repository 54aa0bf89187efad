"""The strength of a declarer's hand: the points that the defenders are likely to capture, and the value of a bid.

The weights are a linear fit to several thousand deals between these players. The hand explains only a third to a half
of the points captured, so a bid is valued over ten equally likely outcomes, not by the mean alone.
"""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.hand import JOKERS, SEVENS, copies, count, count_pairs, shared
from erqiwang_core.kernel.trump import ACE_LEVEL, BOTTOM_PLANE, Group, Order
from erqiwang_core.rules import BidRow
from erqiwang_core.scoring import declarer_won, multiplier, outcome
from erqiwang_core.units import CardSet, Points

_JOKER: Final = -4
_SEVEN: Final = -2
_TRUMP_PAIR: Final = -11
_TRUMP_NEIGHBOURS: Final = -8
_SIDE_CARD: Final = 5
_ACE: Final = -2
_KING_BESIDE_ACE: Final = -6
_SIDE_PAIR: Final = -10
_VOID: Final = -10
"""What each feature of a hand adds to the points that the defenders capture. An A or K is a side card too."""


@final
@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast of the points captured: a line over the weakness of a hand, and the deviations from it."""

    at_zero: int
    percent: int
    deviations: tuple[int, ...]
    """Ten equally likely deviations in points: the middle of each tenth of the measured deals."""

    def points(self, weakness: int) -> tuple[Points, ...]:
        """Ten equally likely amounts of points that the defenders capture from a hand of that weakness."""
        expected = self.at_zero + self.percent * weakness // 100
        return tuple(Points(max(0, (expected + deviation) // 5 * 5)) for deviation in self.deviations)


_DEALT: Final = (-70, -40, -22, -10, 0, 8, 16, 26, 38, 55)
_KEPT: Final = (-57, -33, -21, -11, -2, 6, 14, 23, 33, 50)

BEFORE_KITTY: Final = {28: Forecast(87, 80, _DEALT), 21: Forecast(92, 123, _DEALT), 25: Forecast(102, 83, _DEALT)}
"""Forecasts by the number of cards dealt: from the hand as dealt, with its best trump choice."""

AFTER_BURYING: Final = {28: Forecast(144, 94, _KEPT), 21: Forecast(170, 140, _KEPT), 25: Forecast(154, 106, _KEPT)}
"""Forecasts by the number of cards dealt: from the hand after burying."""


def forecast(measured: dict[int, Forecast], hand_size: int) -> Forecast:
    """The forecast for hands of that size. If that size was not measured, the one for the nearest size."""
    return measured[min(measured, key=lambda size: abs(size - hand_size))]


def weakness(order: Order, hand: CardSet) -> int:
    """The weakness of a declarer's hand, in points from an arbitrary zero. Lower is better for the declarer."""
    trumps = order.trumps(hand)
    row = order.pair_ladder(Group.TRUMPS, hand) & BOTTOM_PLANE
    found = _JOKER * count(shared(hand, JOKERS)) + _SEVEN * count(shared(hand, SEVENS))
    found += _TRUMP_PAIR * count_pairs(trumps) + _TRUMP_NEIGHBOURS * (row & row >> 1).bit_count()
    return found + sum(_side_weakness(order, group, hand) for group in Group if group and order.cards[group])


def _side_weakness(order: Order, group: Group, hand: CardSet) -> int:
    cards = shared(hand, order.cards[group])
    if not cards:
        return _VOID
    aces = count(shared(cards, copies(order.rungs[group][ACE_LEVEL])))
    kings = count(shared(cards, copies(order.rungs[group][ACE_LEVEL - 1]))) if aces else 0
    return _SIDE_CARD * count(cards) + _ACE * aces + _KING_BESIDE_ACE * kings + _SIDE_PAIR * count_pairs(cards)


def worth(row: BidRow, captured: tuple[Points, ...]) -> int:
    """The value of a bid to a declarer: the chips from each defender, summed over all amounts in `captured`."""
    return sum(_stake(row, points) for points in captured)


def _stake(row: BidRow, captured: Points) -> int:
    result = outcome(row, captured)
    chips = row.base * multiplier(result)
    return chips if declarer_won(result) else -chips


def surrendered(chips: int) -> int:
    """The value of a surrender that costs `chips` to each defender, on the scale of `worth`."""
    return -len(_KEPT) * chips


def valued(chips: float, seats: int) -> float:
    """A number of chips of the declarer at a table with `seats` seats, on the scale of `worth`."""
    return len(_KEPT) * chips / (seats - 1)
