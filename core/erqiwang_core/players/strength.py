"""How strong a hand is for a declarer: what the defenders are likely to capture, and what a bid is then worth.

The weights come from a linear fit to some thousand deals that these players played out. A hand tells no more than a third
to a half of what becomes of it, so a bid is judged over all that may be captured and not by the mean alone.
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
"""Points that the defenders capture for each; an A or a K counts as a side card besides."""


@final
@dataclass(frozen=True, slots=True)
class Forecast:
    """The points captured: a line over a hand's weakness, and what they deviate from it by."""

    at_zero: int
    percent: int
    deviations: tuple[int, ...]
    """The middle of every tenth of the deals."""

    def points(self, weakness: int) -> tuple[Points, ...]:
        """What the defenders may capture from a hand of that weakness, each as likely as the others."""
        expected = self.at_zero + self.percent * weakness // 100
        return tuple(Points(max(0, (expected + deviation) // 5 * 5)) for deviation in self.deviations)


_DEALT: Final = (-70, -40, -22, -10, 0, 8, 16, 26, 38, 55)
_KEPT: Final = (-57, -33, -21, -11, -2, 6, 14, 23, 33, 50)

BEFORE_KITTY: Final = {28: Forecast(87, 80, _DEALT), 21: Forecast(92, 123, _DEALT), 25: Forecast(102, 83, _DEALT)}
"""By the number of cards dealt: for those cards, with the trump that suits them best."""

AFTER_BURYING: Final = {28: Forecast(144, 94, _KEPT), 21: Forecast(170, 140, _KEPT), 25: Forecast(154, 106, _KEPT)}
"""By the same number: for the cards kept."""


def forecast(measured: dict[int, Forecast], hand_size: int) -> Forecast:
    """The forecast for hands of that size; for a size that nobody has measured, that of the nearest."""
    return measured[min(measured, key=lambda size: abs(size - hand_size))]


def weakness(order: Order, hand: CardSet) -> int:
    """How much a declarer's hand leaves to the defenders, in points from an arbitrary zero; lower is better."""
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
    """What a bid is worth to a declarer, in chips from each defender, added up over all that may be captured."""
    return sum(_stake(row, points) for points in captured)


def _stake(row: BidRow, captured: Points) -> int:
    result = outcome(row, captured)
    chips = row.base * multiplier(result)
    return chips if declarer_won(result) else -chips


def surrendered(chips: int) -> int:
    """What a surrender that costs so many chips to each defender is worth, on the scale of `worth`."""
    return -len(_KEPT) * chips
