"""The cost of a card to its holder. Suggestions use it to choose the cheapest cards."""

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
    """The price of each card, by id: its strength plus 4 for each point. Every trump costs more than any side card."""
    tables = order(trump)
    return tuple(
        tables.strength[number % KINDS]
        + _POINT * POINTS[number % KINDS]
        + (_TRUMP if tables.group[number % KINDS] is Group.TRUMPS else 0)
        for number in range(CARDS)
    )


def cheapness(tables: Order, hand: CardSet) -> Cost:
    """The cost of each card of `hand`. Low cards without points are cheapest, pairs cost more, trumps most."""
    prices = _prices(tables.trump)
    paired = pairs(hand)

    def cost(card: CardId) -> int:
        return prices[card] + (_PAIR if paired >> card % KINDS & 1 else 0)

    return cost


def cheapest(tables: Order, hand: CardSet, number: int) -> tuple[CardId, ...]:
    """The `number` cheapest cards of `hand`. On a tie the lower id is cheaper, so the answer is always the same."""
    cost = cheapness(tables, hand)
    assert number <= count(hand)
    return tuple(sorted(ids(hand), key=cost)[:number])
