"""How strong a hand is for a declarer: what the defenders are likely to capture, and what a bid is then worth.

The weights are those of a linear fit to some thousand deals that sensible players played out; what a hand promises
leaves a deviation of about 27 points, so a bid is judged over the whole spread and not by the mean alone.
"""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.hand import JOKERS, copies, count, count_pairs, shared
from erqiwang_core.rules import BidRow
from erqiwang_core.scoring import declarer_won, multiplier, outcome
from erqiwang_core.trump import ACE_LEVEL, BOTTOM_PLANE, Group, Order
from erqiwang_core.units import CardSet, Points

_LOSER: Final = 6
_VOID: Final = -15
_SIDE_PAIR: Final = -10
_JOKER: Final = -4
_TRUMP_PAIR: Final = -3
_TRUMP_NEIGHBOURS: Final = -6
"""Points that the defenders capture for each: a side card below the A, a side suit without cards, and so on."""

_SPREAD: Final = (-44, -28, -17, -9, -2, 5, 11, 18, 26, 40)
"""By how much the points captured miss what was expected: the middle of every tenth of the deals."""


@final
@dataclass(frozen=True, slots=True)
class Line:
    """Points captured as a line over a hand's weakness."""

    at_zero: int
    percent: int

    def points(self, weakness: int) -> int:
        """What a hand of that weakness is expected to lose."""
        return self.at_zero + self.percent * weakness // 100


BEFORE_KITTY: Final = {28: Line(92, 42), 21: Line(85, 90), 25: Line(100, 63)}
"""By the size of a hand: for the cards dealt, with the best of all trumps."""

AFTER_BURYING: Final = {28: Line(117, 65), 21: Line(138, 114), 25: Line(133, 82)}
"""The same for the cards kept."""


def weakness(order: Order, hand: CardSet) -> int:
    """How much a declarer's hand leaves to the defenders, in points from an arbitrary zero; lower is better."""
    trumps = order.trumps(hand)
    row = order.pair_ladder(Group.TRUMPS, hand) & BOTTOM_PLANE
    found = _JOKER * count(shared(hand, JOKERS)) + _TRUMP_PAIR * count_pairs(trumps)
    found += _TRUMP_NEIGHBOURS * (row & row >> 1).bit_count()
    return found + sum(_side_weakness(order, group, hand) for group in Group if group and order.cards[group])


def _side_weakness(order: Order, group: Group, hand: CardSet) -> int:
    cards = shared(hand, order.cards[group])
    if not cards:
        return _VOID
    aces = shared(cards, copies(order.rungs[group][ACE_LEVEL]))
    return _LOSER * (count(cards) - count(aces)) + _SIDE_PAIR * count_pairs(cards)


def worth(row: BidRow, expected: int) -> int:
    """What a bid is worth to each pair of declarer and defender, in tenths of a chip, where so many points are expected."""
    return sum(_stake(row, expected + deviation) for deviation in _SPREAD)


def _stake(row: BidRow, captured: int) -> int:
    result = outcome(row, Points(max(0, captured // 5 * 5)))
    chips = row.base * multiplier(result)
    return chips if declarer_won(result) else -chips
