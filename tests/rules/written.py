"""Cards as a test writes them: `♠7 ♠7`, and several hands of one deck at once."""

from collections.abc import Iterable

from erqiwang_core.kernel.cards import CARDS, kind
from erqiwang_core.kernel.hand import cards_of, ids, without
from erqiwang_core.kernel.trump import SuitTrump, Trump
from erqiwang_core.notation import read
from erqiwang_core.units import CardId, CardSet

from tests.oracle.faces import NO_TRUMP, SUITS, Cards


def cards(text: str) -> CardSet:
    """The cards a text names, the first deck's copies first."""
    found = read(text)
    assert isinstance(found, int), found
    return found


def hands(*texts: str) -> tuple[CardSet, ...]:
    """Several hands of one deck: no card is in two of them."""
    left = set(range(CARDS))
    return tuple(_taken(left, text) for text in texts)


def _taken(left: set[int], text: str) -> CardSet:
    found = [_next_copy(left, word) for word in text.split()]
    left.difference_update(found)
    return cards_of(found)


def _next_copy(left: set[int], word: str) -> CardId:
    (wanted,) = ids(cards(word))
    copy = next(number for number in sorted(left) if number % 54 == kind(wanted))
    left.remove(copy)
    return CardId(copy)


def picked(hand: CardSet, text: str) -> CardSet:
    """The cards of a hand that a text names, its copies of lowest id."""
    chosen = CardSet(0)
    for word in text.split():
        (wanted,) = ids(cards(word))
        copy = next(card for card in ids(without(hand, chosen)) if kind(card) == kind(wanted))
        chosen = CardSet(chosen | 1 << copy)
    return chosen


def raw(chosen: CardSet) -> tuple[int, ...]:
    """A set of cards as a command names it."""
    return tuple(ids(chosen))


def core(chosen: Iterable[int]) -> CardSet:
    """The twin's cards as the core's."""
    return cards_of(CardId(number) for number in chosen)


def twin(chosen: CardSet) -> Cards:
    """The core's cards as the twin's."""
    return frozenset(ids(chosen))


def sign(trump: Trump) -> str:
    """The twin's word for a trump choice."""
    return SUITS[trump.suit - 1] if isinstance(trump, SuitTrump) else NO_TRUMP
