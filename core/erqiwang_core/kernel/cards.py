"""Cards: suits, ranks, jokers, the ids they travel by, and their points (rules §2)."""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final, TypeAlias, final

from erqiwang_core.units import CardId, Kind, Points


class Suit(IntEnum):
    """The four suits. The numbers are those of `flower` in the packet protocol (rules §2)."""

    DIAMONDS = 1
    CLUBS = 2
    HEARTS = 3
    SPADES = 4


class Rank(IntEnum):
    """The thirteen ranks, numbered as in card ids (rules §2)."""

    ACE = 1
    TWO = 2
    THREE = 3
    FOUR = 4
    FIVE = 5
    SIX = 6
    SEVEN = 7
    EIGHT = 8
    NINE = 9
    TEN = 10
    JACK = 11
    QUEEN = 12
    KING = 13


@final
@dataclass(frozen=True, slots=True)
class Suited:
    """A card of a suit."""

    suit: Suit
    rank: Rank


class Joker(Enum):
    """A joker (王). It is never called a king (rules §1)."""

    SMALL = 52
    BIG = 53


Face: TypeAlias = Suited | Joker
"""What is printed on a card. Both copies of a card have the same face."""

KINDS: Final = 54
CARDS: Final = 2 * KINDS
SMALL_JOKER: Final = Kind(Joker.SMALL.value)
BIG_JOKER: Final = Kind(Joker.BIG.value)
JOKER_KINDS: Final = (SMALL_JOKER, BIG_JOKER)


def kind(card: CardId) -> Kind:
    """The kind of a card: which of the 54 different cards it is."""
    return Kind(card % KINDS)


def kind_of(face: Face) -> Kind:
    """The kind that has this face."""
    match face:
        case Suited(suit, rank):
            return Kind(13 * (suit - 1) + rank - 1)
        case Joker():
            return Kind(face.value)


def _face(number: int) -> Face:
    if number >= SMALL_JOKER:
        return Joker(number)
    suit, rank = divmod(number, 13)
    return Suited(Suit(suit + 1), Rank(rank + 1))


FACES: Final[tuple[Face, ...]] = tuple(_face(number) for number in range(KINDS))
"""The face of each kind, indexed by kind."""


def kinds_of_rank(*ranks: Rank) -> tuple[Kind, ...]:
    """The kinds of these ranks, in all four suits."""
    return tuple(kind_of(Suited(suit, rank)) for rank in ranks for suit in Suit)


def _points(face: Face) -> Points:
    match face:
        case Suited(rank=Rank.FIVE):
            return Points(5)
        case Suited(rank=Rank.TEN | Rank.KING):
            return Points(10)
        case Suited() | Joker():
            return Points(0)


POINTS: Final[tuple[Points, ...]] = tuple(_points(face) for face in FACES)
"""The points of each kind, indexed by kind: a 5 counts 5, a 10 and a K count 10 (rules §2)."""


def _deck(left_out: tuple[Rank, ...]) -> tuple[CardId, ...]:
    absent = set(kinds_of_rank(*left_out))
    return tuple(CardId(number) for number in range(CARDS) if number % KINDS not in absent)


SHORT_DECK: Final = _deck((Rank.THREE, Rank.FOUR))
"""The 92 cards of the short deck, without 3s and 4s, in order of id."""

FULL_DECK: Final = _deck(())
"""The 108 cards of the full deck, in order of id."""
