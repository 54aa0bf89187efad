"""What a sensible player bids, names and buries."""

from typing import Final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.kernel.cards import KINDS, POINTS
from erqiwang_core.kernel.hand import cards_of, count, ids, pairs, shared, union, without
from erqiwang_core.kernel.trump import ACE_LEVEL, Group, Order, Trump, order
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.parts import CallAdvice, NameAdvice, View
from erqiwang_core.players.reading import agreed, rules_of
from erqiwang_core.players.strength import AFTER_BURYING, BEFORE_KITTY, forecast, surrendered, weakness, worth
from erqiwang_core.rules import BidRow
from erqiwang_core.units import CardId, CardSet, Points

_PAIR: Final = 8
_ACE: Final = 20
_TRUMP: Final = 100
"""What a card costs to bury beside its level and its points."""


def best_call(view: View, advice: CallAdvice) -> Bid | Pass:
    """The bid that is worth most, or a pass where none is worth anything."""
    rules = rules_of(view)
    weak = min(weakness(order(trump), view.hand.cards) for trump in rules.trumps)
    captured = forecast(BEFORE_KITTY, rules.hand_size).points(weak)
    worths = {bid: _with_surrender(rules.row(bid), captured) for bid in advice.bids}
    best = max(advice.bids, key=lambda bid: worths[bid])
    return Pass() if advice.may_pass and worths[best] <= 0 else Bid(best)


def _with_surrender(row: BidRow, captured: tuple[Points, ...]) -> int:
    """What a bid is worth to a declarer who surrenders where that is cheaper."""
    playing = worth(row, captured)
    return playing if row.surrender is None else max(playing, surrendered(row.surrender))


def best_name(view: View, advice: NameAdvice) -> NameTrump | Surrender:
    """The trump that leaves the strongest hand, or surrender where play would cost more."""
    rules, bid = rules_of(view), agreed(view).bid
    row = rules.row(bid)
    trump, weak = best_trump(rules.trumps, view.hand.cards, rules.kitty_size)
    if advice.may_surrender and row.surrender is not None:
        captured = forecast(AFTER_BURYING, rules.hand_size).points(weak)
        if worth(row, captured) < surrendered(row.surrender):
            return Surrender()
    return NameTrump(number(trump))


def best_trump(choices: tuple[Trump, ...], hand: CardSet, size: int) -> tuple[Trump, int]:
    """The choice that leaves the strongest hand once `size` cards are buried, and how weak that is."""
    left = {trump: weakness(order(trump), without(hand, best_burial(order(trump), hand, size))) for trump in choices}
    trump = min(choices, key=lambda choice: left[choice])
    return trump, left[trump]


def best_burial(tables: Order, hand: CardSet, size: int) -> CardSet:
    """The `size` cards that leave the strongest hand: whole side suits where they fit, and the cheapest others beside them."""
    return min(_burials(tables, hand, size), key=lambda burial: weakness(tables, without(hand, burial)))


def _burials(tables: Order, hand: CardSet, size: int) -> list[CardSet]:
    emptied = [CardSet(0)]
    for group in Group:
        suit = shared(hand, tables.cards[group])
        if group and suit:
            emptied += [union(others, suit) for others in emptied if count(others) + count(suit) <= size]
    return [union(suits, _cheapest(tables, without(hand, suits), size - count(suits))) for suits in emptied]


def _cheapest(tables: Order, hand: CardSet, number_: int) -> CardSet:
    """The cards to bury that cost least: low ones before points, because a captured kitty counts them again."""
    paired = pairs(hand)

    def price(card: CardId) -> int:
        kind = card % KINDS
        trump = _TRUMP if tables.group[kind] is Group.TRUMPS else 0
        ace = _ACE if tables.strength[kind] == ACE_LEVEL else 0
        return tables.strength[kind] + POINTS[kind] + trump + ace + (_PAIR if paired >> kind & 1 else 0)

    return cards_of(sorted(ids(hand), key=price)[:number_])
