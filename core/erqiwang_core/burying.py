"""Burying: the declarer puts as many cards back as the kitty held, and play begins (埋牌, rules §5)."""

from dataclasses import dataclass
from typing import final

from erqiwang_core.contract import Contract
from erqiwang_core.dealing import Dealt, parse_cards
from erqiwang_core.disclosure import Disclosure, Statement, disclosure, newly_void, statements
from erqiwang_core.kernel.hand import cards_of, count, without
from erqiwang_core.kernel.trump import Order
from erqiwang_core.playing import Playing, begin
from erqiwang_core.refusals import NotYourTurn, Refusal, WrongNumberOfCards
from erqiwang_core.seats import BySeat
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.valuation import cheapest


@final
@dataclass(frozen=True, slots=True)
class Burying:
    """The declarer holds the kitty, has named trump, and is to bury."""

    dealt: Dealt
    contract: Contract
    order: Order
    hands: BySeat[CardSet]


@final
@dataclass(frozen=True, slots=True)
class Bury:
    """Bury the cards with these ids, which are unchecked."""

    cards: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class CardsBuried:
    """The declarer has buried and play begins. The event holds what is told at that moment too (rules §12)."""

    cards: CardSet
    disclosure: Disclosure | None
    """What the defenders are told about the declarer's hand; None if it calls for no disclosure."""
    void: tuple[Seat, ...]
    """The seats that hold no trump as play begins."""
    statements: tuple[Statement, ...]


def decide(state: Burying, seat: Seat, command: Bury) -> CardsBuried | Refusal:
    """What `command` by `seat` brings about, or why it may not stand (rules §5).

    Refusals: `NotYourTurn`, `NotACard`, `RepeatedCard`, `CardNotHeld`, `WrongNumberOfCards`.
    """
    declarer = state.contract.declarer
    if seat != declarer:
        return NotYourTurn(declarer)
    hand = state.hands[declarer]
    cards = parse_cards(hand, command.cards)
    if not isinstance(cards, int):
        return cards
    rules, kept = state.dealt.rules, without(hand, cards)
    if count(cards) != rules.kitty_size:
        return WrongNumberOfCards(rules.kitty_size, count(cards))
    hands = state.hands.put(declarer, kept)
    void = newly_void(state.order, hands, ())
    return CardsBuried(
        cards=cards,
        disclosure=disclosure(rules, state.order, kept),
        void=void,
        statements=statements(rules, state.order, hands, (), void),
    )


def evolve(state: Burying, event: CardsBuried) -> Playing:
    """The deal in play: the declarer has buried and leads first."""
    declarer = state.contract.declarer
    hands = state.hands.put(declarer, without(state.hands[declarer], event.cards))
    return begin(
        state.dealt,
        state.contract,
        state.order,
        hands,
        event.cards,
        event.disclosure,
        event.void,
        event.statements,
    )


def suggested_burial(state: Burying) -> CardSet:
    """As many of the declarer's cheapest cards as must be buried."""
    hand = state.hands[state.contract.declarer]
    return cards_of(cheapest(state.order, hand, state.dealt.rules.kitty_size))
