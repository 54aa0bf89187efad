"""Dealing: a permutation given from outside becomes hands and kitty (rules §2)."""

from dataclasses import dataclass
from typing import final

from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.hand import cards_of, count
from erqiwang_core.refusals import CardNotHeld, NotACard, RepeatedCard
from erqiwang_core.rules import Rules
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.units import CardId, CardSet, Seat


@final
@dataclass(frozen=True, slots=True)
class Shuffled:
    """A shuffled deck, with what is published of it: the core carries salt and commitment and never reads them."""

    order: tuple[CardId, ...]
    """All cards of the deck, in dealing order."""
    salt: bytes = b""
    commitment: bytes = b""


@final
@dataclass(frozen=True, slots=True)
class Dealt:
    """A deal as it was dealt."""

    rules: Rules
    number: int
    """Which deal of the match, from 1."""
    first_bidder: Seat
    shuffled: Shuffled
    hands: BySeat[CardSet]
    kitty: CardSet


def dealt(rules: Rules, number: int, first_bidder: Seat, shuffled: Shuffled) -> Dealt:
    """Seat 0 takes the first cards, seat 1 the next, and so on; the last are the kitty.

    `shuffled.order` is a permutation of the deck: a shuffle that is not is a bug of whoever shuffled.
    """
    assert sorted(shuffled.order) == list(rules.deck), "the shuffle is no permutation of the deck"
    size = rules.hand_size
    hands = by_seat(rules.seats, lambda seat: cards_of(shuffled.order[size * seat : size * (seat + 1)]))
    kitty = cards_of(shuffled.order[size * rules.seats :])
    assert count(kitty) == rules.kitty_size, "the cards beside the kitty are the same number for every seat"
    return Dealt(rules, number, first_bidder, shuffled, hands, kitty)


def parse_cards(hand: CardSet, raw: tuple[int, ...]) -> CardSet | NotACard | RepeatedCard | CardNotHeld:
    """Raw ids as cards of `hand`; the first id that is no card, is given twice or is not held is refused (rules §15)."""
    cards = 0
    for number in raw:
        if not 0 <= number < CARDS:
            return NotACard(number)
        bit = 1 << number
        if cards & bit:
            return RepeatedCard(number)
        if not hand & bit:
            return CardNotHeld(number)
        cards |= bit
    return CardSet(cards)
