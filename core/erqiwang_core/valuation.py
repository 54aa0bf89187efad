"""What a card is worth to its holder: the one scale by which suggestions and players choose the cheapest."""

from functools import cache
from typing import Final

from erqiwang_core.kernel.cards import CARDS, KINDS, POINTS
from erqiwang_core.kernel.following import Cost
from erqiwang_core.kernel.hand import count, ids, pairs
from erqiwang_core.kernel.trump import Group, Order, Trump, order
from erqiwang_core.units import CardId, CardSet

_POINT: Final = 4
_TRUMP: Final = 60
_PAIR: Final = 15


@cache
def _prices(trump: Trump) -> tuple[int, ...]:
    """Price of every card: its strength, four for each of its points, and more than any side card for a trump."""
    tables = order(trump)
    return tuple(
        tables.strength[number % KINDS]
        + _POINT * POINTS[number % KINDS]
        + (_TRUMP if tables.group[number % KINDS] is Group.TRUMPS else 0)
        for number in range(CARDS)
    )


def cheapness(tables: Order, hand: CardSet) -> Cost:
    """The cost of each card of `hand`: low cards without points first, pairs dearer than loose cards, trumps last."""
    prices = _prices(tables.trump)
    paired = pairs(hand)

    def cost(card: CardId) -> int:
        return prices[card] + (_PAIR if paired >> card % KINDS & 1 else 0)

    return cost


def cheapest(tables: Order, hand: CardSet, number: int) -> tuple[CardId, ...]:
    """The `number` cheapest cards of `hand`; ties go to the lower id, so that the answer is always the same."""
    cost = cheapness(tables, hand)
    assert number <= count(hand)
    return tuple(sorted(ids(hand), key=cost)[:number])
