"""Shuffled decks: fair ones, and stacked ones in which what is rare happens at once."""

from collections.abc import Iterable
from enum import Enum
from random import Random

from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.cards import FACES, KINDS, Rank, Suited, kind
from erqiwang_core.units import CardId, Kind

COMMITMENT = b"sealed"
"""What every deck of these tests publishes as it is dealt: the core never reads it, so all may publish the same."""


class Stack(Enum):
    """How a deck lies before it is dealt."""

    SHUFFLED = "shuffled"
    PAIRS = "pairs"
    """The two copies of a card lie together: hands full of pairs."""
    RUNS = "runs"
    """Pieces of suits lie in order, pairs together: hands full of tractors."""
    SUITS = "suits"
    """Whole suits lie together and the fixed trumps too: seats void from the start, and one with nearly all trumps."""


def shuffled(deck: tuple[CardId, ...], stack: Stack, chance: Random) -> Shuffled:
    """The deck in a dealing order of that kind; the salt spells the order, so that one told too early is found."""
    order = _order(deck, stack, chance)
    return Shuffled(order, salt=bytes(order), commitment=COMMITMENT)


def never_shuffled() -> Shuffled:
    """For moves that start no deal: the core asks for a shuffle only as one starts."""
    raise AssertionError("no deal starts here")


def _order(deck: tuple[CardId, ...], stack: Stack, chance: Random) -> tuple[CardId, ...]:
    kinds = sorted({kind(card) for card in deck})
    match stack:
        case Stack.SHUFFLED:
            return tuple(chance.sample(deck, len(deck)))
        case Stack.PAIRS:
            return _disturbed(_both_copies(chance.sample(kinds, len(kinds))), chance)
        case Stack.RUNS:
            return _disturbed(_both_copies(_in_pieces(_suit_by_suit(kinds), chance)), chance)
        case Stack.SUITS:
            return _disturbed(_both_copies(_in_suits(kinds, chance)), chance)


def _both_copies(kinds: Iterable[Kind]) -> list[CardId]:
    return [CardId(copy * KINDS + number) for number in kinds for copy in range(2)]


def _is_fixed_trump(number: Kind) -> bool:
    face = FACES[number]
    return not isinstance(face, Suited) or face.rank in (Rank.SEVEN, Rank.TWO)


def _suit_by_suit(kinds: list[Kind]) -> list[Kind]:
    """Suit by suit, and the fixed trumps after them, rank by rank."""
    return sorted(
        kinds, key=lambda number: (_is_fixed_trump(number), number % 13 if _is_fixed_trump(number) else 0, number)
    )


def _in_pieces(kinds: list[Kind], chance: Random) -> list[Kind]:
    pieces: list[list[Kind]] = []
    while kinds:
        length = chance.randint(2, 6)
        pieces.append(kinds[:length])
        kinds = kinds[length:]
    return [number for piece in chance.sample(pieces, len(pieces)) for number in piece]


def _in_suits(kinds: list[Kind], chance: Random) -> list[Kind]:
    groups: list[list[Kind]] = [[number for number in kinds if _is_fixed_trump(number)]]
    sides = [number for number in kinds if not _is_fixed_trump(number)]
    groups.extend([number for number in sides if number // 13 == suit] for suit in range(4))
    return [number for group in chance.sample(groups, len(groups)) for number in group]


def _disturbed(order: list[CardId], chance: Random) -> tuple[CardId, ...]:
    """The same with a few cards out of place, so that no hand is too regular."""
    for _ in range(chance.choice((0, 4, 12))):
        one, other = chance.sample(range(len(order)), 2)
        order[one], order[other] = order[other], order[one]
    return tuple(order)
