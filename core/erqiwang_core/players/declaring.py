"""The calls, trump choice and burial of a sensible player."""

from typing import Final

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.kernel.cards import KINDS, POINTS
from erqiwang_core.kernel.hand import cards_of, count, ids, pairs, shared, union, without
from erqiwang_core.kernel.trump import ACE_LEVEL, Group, Order, Trump, order
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.parts import CallAdvice, NameAdvice
from erqiwang_core.players.reading import agreed, rules_of
from erqiwang_core.players.sight import Sight
from erqiwang_core.players.strength import AFTER_BURYING, BEFORE_KITTY, forecast, surrendered, valued, weakness, worth
from erqiwang_core.players.style import Style
from erqiwang_core.rules import BidRow
from erqiwang_core.units import CardId, CardSet, Points

_PAIR: Final = 8
_ACE: Final = 20
_TRUMP: Final = 100
"""The extra cost of burying a card of a pair, an A, or a trump, beside its level and its points."""


def best_call(view: Sight, advice: CallAdvice, style: Style) -> Bid | Pass:
    """The bid of highest expected value, or a pass if none is worth more than the style asks for."""
    rules = rules_of(view)
    weak = min(weakness(order(trump), view.hand.cards) for trump in rules.trumps)
    captured = forecast(BEFORE_KITTY, rules.hand_size).points(weak)
    worths = {bid: _with_surrender(rules.row(bid), captured) for bid in advice.bids}
    best = max(advice.bids, key=lambda bid: worths[bid])
    return Pass() if advice.may_pass and worths[best] <= valued(style.contest, rules.seats) else Bid(best)


def _with_surrender(row: BidRow, captured: tuple[Points, ...]) -> int:
    """The value of a bid to a declarer who surrenders if that is cheaper than playing."""
    playing = worth(row, captured)
    return playing if row.surrender is None else max(playing, surrendered(row.surrender))


def best_name(view: Sight, advice: NameAdvice, style: Style) -> NameTrump | Surrender:
    """The trump that leaves the strongest hand, or surrender if playing is expected to cost more."""
    rules, bid = rules_of(view), agreed(view).bid
    row = rules.row(bid)
    trump, weak = best_trump(rules.trumps, view.hand.cards, rules.kitty_size)
    if advice.may_surrender and row.surrender is not None:
        captured = forecast(AFTER_BURYING, rules.hand_size).points(weak)
        if worth(row, captured) + valued(style.patience, rules.seats) < surrendered(row.surrender):
            return Surrender()
    return NameTrump(number(trump))


def best_trump(choices: tuple[Trump, ...], hand: CardSet, size: int) -> tuple[Trump, int]:
    """The trump choice that leaves the strongest hand after burying `size` cards, and the weakness of that hand."""
    left = {trump: weakness(order(trump), without(hand, best_burial(order(trump), hand, size))) for trump in choices}
    trump = min(choices, key=lambda choice: left[choice])
    return trump, left[trump]


def best_burial(tables: Order, hand: CardSet, size: int) -> CardSet:
    """The `size` cards whose burial leaves the strongest hand: whole side suits that fit, then the cheapest cards."""
    return min(burials(tables, hand, size), key=lambda burial: weakness(tables, without(hand, burial)))


def burials(tables: Order, hand: CardSet, size: int) -> list[CardSet]:
    """The burials of `size` cards that come into question: whole side suits that fit, and the cheapest cards."""
    emptied = [CardSet(0)]
    for group in Group:
        suit = shared(hand, tables.cards[group])
        if group and suit:
            emptied += [union(others, suit) for others in emptied if count(others) + count(suit) <= size]
    return [union(suits, _cheapest(tables, without(hand, suits), size - count(suits))) for suits in emptied]


def _cheapest(tables: Order, hand: CardSet, number_: int) -> CardSet:
    """The cheapest cards to bury. Point cards cost more, because a kitty capture counts their points."""
    paired = pairs(hand)

    def price(card: CardId) -> int:
        kind = card % KINDS
        trump = _TRUMP if tables.group[kind] is Group.TRUMPS else 0
        ace = _ACE if tables.strength[kind] == ACE_LEVEL else 0
        return tables.strength[kind] + POINTS[kind] + trump + ace + (_PAIR if paired >> kind & 1 else 0)

    return cards_of(sorted(ids(hand), key=price)[:number_])
