"""Dealing: a shuffled deck becomes hands and a kitty (rules §2). The shuffle comes from outside the core."""

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
    """A shuffled deck, with the salt and commitment that prove its order. The core only carries those two."""

    order: tuple[CardId, ...]
    """All cards of the deck, in dealing order."""
    salt: bytes = b""
    commitment: bytes = b""


@final
@dataclass(frozen=True, slots=True)
class Dealt:
    """The cards of a deal as dealt, and the rules it is played by."""

    rules: Rules
    number: int
    """Which deal of the match, from 1."""
    first_bidder: Seat
    shuffled: Shuffled
    hands: BySeat[CardSet]
    kitty: CardSet


def dealt(rules: Rules, number: int, first_bidder: Seat, shuffled: Shuffled) -> Dealt:
    """A deal of the shuffled deck: seat 0 gets the first cards, seat 1 the next; the last are the kitty (rules §2).

    `shuffled.order` must be a permutation of the deck of `rules`. Anything else is a bug and fails an assert.
    """
    assert sorted(shuffled.order) == list(rules.deck), "the shuffle is no permutation of the deck"
    size = rules.hand_size
    hands = by_seat(rules.seats, lambda seat: cards_of(shuffled.order[size * seat : size * (seat + 1)]))
    kitty = cards_of(shuffled.order[size * rules.seats :])
    assert count(kitty) == rules.kitty_size, "the cards beside the kitty are the same number for every seat"
    return Dealt(rules, number, first_bidder, shuffled, hands, kitty)


def parse_cards(hand: CardSet, raw: tuple[int, ...]) -> CardSet | NotACard | RepeatedCard | CardNotHeld:
    """The set of cards with those ids, all of which must be in `hand` (rules §15).

    The first wrong id is refused: `NotACard` (not 0 to 107), `RepeatedCard`, `CardNotHeld` (not in `hand`).
    """
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
