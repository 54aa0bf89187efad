"""The twin's cards: faces as text, groups and levels as plain lists (rules §2, §3, part B).

The twin is the rules read out loud: lists, sets and counting, slow and short. It shares nothing with the core but the
numbers of the cards, so that the two can only agree by both being right.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final, TypeAlias

SUITS: Final = "♦♣♥♠"
RANKS: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
RUN: Final = ("3", "4", "5", "6", "8", "9", "10", "J", "Q", "K", "A")
NO_TRUMP: Final = "none"
TRUMPS: Final = "trumps"

Cards: TypeAlias = frozenset[int]
"""Card ids."""


def face(card: int) -> str:
    """What is printed on a card: `♠7`, `small`, `big`."""
    kind = card % 54
    if kind >= 52:
        return ("small", "big")[kind - 52]
    return SUITS[kind // 13] + RANKS[kind % 13]


def group(printed: str, trump: str) -> str:
    """`trumps`, or the sign of a side suit; `trump` is a suit's sign or `none`."""
    if printed in {"small", "big"} or printed[1:] in {"7", "2"} or printed[0] == trump:
        return TRUMPS
    return printed[0]


@cache
def levels(of: str, trump: str) -> list[list[str]]:
    """The levels of a group from low to high, each the faces that are equal in strength."""
    if of != TRUMPS:
        return [[of + rank] for rank in RUN]
    if trump == NO_TRUMP:
        return [[suit + "2" for suit in SUITS], [suit + "7" for suit in SUITS], ["small"], ["big"]]
    others = [suit for suit in SUITS if suit != trump]
    return [
        *[[trump + rank] for rank in RUN],
        [suit + "2" for suit in others],
        [trump + "2"],
        [suit + "7" for suit in others],
        [trump + "7"],
        ["small"],
        ["big"],
    ]


@cache
def level(printed: str, trump: str) -> int:
    """Where a face stands among the levels of its group, from 0."""
    return next(i for i, equals in enumerate(levels(group(printed, trump), trump)) if printed in equals)


def paired(cards: Iterable[int]) -> frozenset[str]:
    """The faces of which both copies are there."""
    return frozenset(printed for printed, copies in Counter(map(face, cards)).items() if copies == 2)


def of_group(cards: Iterable[int], wanted: str, trump: str) -> Cards:
    """Those cards that belong to a group."""
    return frozenset(card for card in cards if group(face(card), trump) == wanted)


def of_faces(cards: Iterable[int], wanted: Iterable[str]) -> Cards:
    """Those cards that bear one of the faces."""
    faces = set(wanted)
    return frozenset(card for card in cards if face(card) in faces)


def points(cards: Iterable[int]) -> int:
    """5 for every 5, 10 for every 10 and K."""
    return sum({"5": 5, "10": 10, "K": 10}.get(face(card)[1:], 0) for card in cards)
