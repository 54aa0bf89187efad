"""Sets of cards as integers.

A set of cards is two masks over the 54 kinds: the low half for the first deck, the high half for the second. The pairs
of a hand are then one `&`, and every question of the rules is a few operations on whole masks.
"""

from collections.abc import Iterable
from typing import Final

from erqiwang_core.kernel.cards import CARDS, JOKER_KINDS, KINDS, POINTS, Rank, Suit, Suited, kind_of, kinds_of_rank
from erqiwang_core.units import CardId, CardSet, Kind, KindSet, Points

EMPTY: Final = CardSet(0)
_EVERY_ID: Final = tuple(CardId(number) for number in range(CARDS))
_KINDS_MASK: Final = (1 << KINDS) - 1


def cards_of(ids: Iterable[CardId]) -> CardSet:
    """The set of these cards."""
    mask = 0
    for card in ids:
        mask |= 1 << card
    return CardSet(mask)


def ids(cards: CardSet) -> tuple[CardId, ...]:
    """The ids of the cards in a set, lowest first."""
    found: list[CardId] = []
    left: int = cards
    while left:
        low = left & -left
        found.append(_EVERY_ID[low.bit_length() - 1])
        left ^= low
    return tuple(found)


def count(cards: CardSet) -> int:
    """The number of cards in a set."""
    return cards.bit_count()


def union(cards: CardSet, others: CardSet) -> CardSet:
    """The cards that are in either set."""
    return CardSet(cards | others)


def without(cards: CardSet, others: CardSet) -> CardSet:
    """The cards of `cards` that are not in `others`."""
    return CardSet(cards & ~others)


def within(cards: CardSet, others: CardSet) -> bool:
    """Whether all of `cards` are in `others`."""
    return not cards & ~others


def shared(cards: CardSet, others: CardSet) -> CardSet:
    """The cards that are in both sets."""
    return CardSet(cards & others)


def kinds(cards: CardSet) -> KindSet:
    """The kinds of which the set has at least one copy."""
    return KindSet((cards | cards >> KINDS) & _KINDS_MASK)


def pairs(cards: CardSet) -> KindSet:
    """The kinds of which the set has both copies: its pairs (对子, rules §3)."""
    return KindSet(cards & cards >> KINDS & _KINDS_MASK)


def copies(chosen: KindSet) -> CardSet:
    """Both copies of each kind in `chosen`."""
    return CardSet(chosen | chosen << KINDS)


def kind_list(chosen: KindSet) -> tuple[Kind, ...]:
    """The kinds of a set, lowest first."""
    return tuple(Kind(card) for card in ids(CardSet(chosen)))


def kind_set(chosen: Iterable[Kind]) -> KindSet:
    """The set of these kinds."""
    mask = 0
    for kind in chosen:
        mask |= 1 << kind
    return KindSet(mask)


def count_pairs(cards: CardSet) -> int:
    """The number of pairs in a set."""
    return (cards & cards >> KINDS & _KINDS_MASK).bit_count()


JOKERS: Final = copies(kind_set(JOKER_KINDS))
SEVENS: Final = copies(kind_set(kinds_of_rank(Rank.SEVEN)))
TWOS: Final = copies(kind_set(kinds_of_rank(Rank.TWO)))
SUITS: Final = {suit: copies(kind_set(kind_of(Suited(suit, rank)) for rank in Rank)) for suit in Suit}
"""All cards of each suit, including its 7s and 2s."""
FIXED_TRUMPS: Final = CardSet(JOKERS | SEVENS | TWOS)
"""The fixed trumps (固定主牌): jokers, 7s and 2s, trumps whatever suit is named (rules §1)."""

_FIVE_POINTS: Final = copies(kind_set(Kind(k) for k in range(KINDS) if POINTS[k] == 5))
_TEN_POINTS: Final = copies(kind_set(Kind(k) for k in range(KINDS) if POINTS[k] == 10))
POINT_CARDS: Final = CardSet(_FIVE_POINTS | _TEN_POINTS)
ALL_CARDS: Final = CardSet((1 << CARDS) - 1)


def points(cards: CardSet) -> Points:
    """The sum of the points of these cards."""
    return Points(5 * (cards & _FIVE_POINTS).bit_count() + 10 * (cards & _TEN_POINTS).bit_count())
