"""The twin's shapes: what a set of cards is when led, and what a throw is made of (rules §6)."""

from functools import cache
from itertools import combinations
from typing import NamedTuple, TypeAlias

from tests.oracle.faces import TRUMPS, Cards, face, group, level, of_faces, paired


class Part(NamedTuple):
    """A single (0 pairs), a pair (1) or a tractor (2 and more), by its highest level."""

    pairs: int
    top: int


Led: TypeAlias = Part | tuple[Part, ...] | None
"""A component, the components of a throw, or nothing that may be led."""


def is_run(faces: frozenset[str], trump: str) -> bool:
    """Whether pairs of those faces, all of one group, make a tractor: one a level, no level left out."""
    standing = sorted(level(printed, trump) for printed in faces)
    return len(faces) >= 2 and standing == list(range(standing[0], standing[0] + len(faces)))


@cache
def runs(faces: frozenset[str], length: int, trump: str) -> tuple[frozenset[str], ...]:
    """Every tractor of that length that pairs of those faces, all of one group, hold."""
    return tuple(run for run in map(frozenset, combinations(sorted(faces), length)) if is_run(run, trump))


def top(faces: frozenset[str], trump: str) -> int:
    """The highest level among those faces."""
    return max(level(printed, trump) for printed in faces)


def part(cards: Cards, trump: str) -> Part | None:
    """The single, pair or tractor that those cards are, if they are one."""
    faces = frozenset(map(face, cards))
    if len({group(printed, trump) for printed in faces}) != 1:
        return None
    if len(cards) == 1:
        return Part(0, top(faces, trump))
    if paired(cards) != faces:
        return None
    return Part(len(faces), top(faces, trump)) if len(faces) == 1 or is_run(faces, trump) else None


def parts(cards: Cards, trump: str) -> tuple[Part, ...]:
    """The components of a throw: the longest tractor again and again (the highest of equals), pairs, singles."""
    left, found = cards, []
    while tractor := _longest(paired(left), trump):
        found.append(Part(len(tractor), top(tractor, trump)))
        left -= of_faces(left, tractor)
    pairs = paired(left)
    loose = left - of_faces(left, pairs)
    found.extend(sorted((Part(1, level(printed, trump)) for printed in pairs), reverse=True))
    found.extend(sorted((Part(0, level(face(card), trump)) for card in loose), reverse=True))
    return tuple(found)


def _longest(faces: frozenset[str], trump: str) -> frozenset[str] | None:
    tractors = [run for length in range(2, len(faces) + 1) for run in runs(faces, length, trump)]
    return max(tractors, key=lambda run: (len(run), top(run, trump)), default=None)


def led(cards: Cards, trump: str) -> Led:
    """What those cards are when led."""
    if one := part(cards, trump):
        return one
    if all(group(face(card), trump) == TRUMPS for card in cards):
        return parts(cards, trump)
    return None
