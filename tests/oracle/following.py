"""The twin's following: every legal play, found by trying all of them (rules §7)."""

from collections.abc import Iterator
from functools import cache
from itertools import combinations

from tests.oracle.faces import Cards, face, group, of_faces, of_group, paired
from tests.oracle.shapes import Part, led, runs


def is_legal(lead: Cards, hand: Cards, play: Cards, trump: str) -> bool:
    """Whether `play`, part of `hand` and as many cards as `lead`, follows it."""
    followed = group(face(min(lead)), trump)
    held = of_group(hand, followed, trump)
    if len(held) < len(lead):
        return held <= play
    return play <= held and _answers(led(lead, trump), held, play, trump)


def _answers(lead: Part | tuple[Part, ...] | None, held: Cards, play: Cards, trump: str) -> bool:
    assert lead is not None, "what was led may be led"
    if isinstance(lead, Part):
        return any(of_faces(held, taken) <= play for taken in choices(paired(held), lead.pairs, trump))
    lengths = tuple(component.pairs for component in lead if component.pairs >= 2)
    pairs = sum(component.pairs for component in lead)
    return answered(paired(play), lengths, trump) == answered(paired(held), lengths, trump) and min(
        len(paired(play)), pairs
    ) == min(len(paired(held)), pairs)


@cache
def choices(pairs: frozenset[str], need: int, trump: str) -> frozenset[frozenset[str]]:
    """Whatever pairs a sequence of free choices may take for a lead of `need` pairs in a row."""
    if not need or not pairs:
        return frozenset({frozenset()})
    length = next((length for length in range(need, 1, -1) if runs(pairs, length, trump)), 1)
    takes = runs(pairs, length, trump) if length > 1 else tuple(frozenset({printed}) for printed in pairs)
    return frozenset(taken | later for taken in takes for later in choices(pairs - taken, need - len(taken), trump))


@cache
def answered(pairs: frozenset[str], lengths: tuple[int, ...], trump: str) -> tuple[bool, ...]:
    """Which of the thrown tractors those pairs can answer, all at once: the greatest list, read from the left."""
    return max(_lists(pairs, lengths, trump))


def _lists(pairs: frozenset[str], lengths: tuple[int, ...], trump: str) -> Iterator[tuple[bool, ...]]:
    if not lengths:
        yield ()
        return
    yield (False, *answered(pairs, lengths[1:], trump))
    for run in runs(pairs, lengths[0], trump):
        yield (True, *answered(pairs - run, lengths[1:], trump))


def legal_plays(lead: Cards, hand: Cards, trump: str) -> list[Cards]:
    """Every legal play from a hand, which holds as many cards as were led at least."""
    every = map(frozenset, combinations(sorted(hand), len(lead)))
    return [play for play in every if is_legal(lead, hand, play, trump)]


def must(plays: list[Cards]) -> Cards:
    """The cards in every legal play."""
    return frozenset.intersection(*plays)


def may(plays: list[Cards]) -> Cards:
    """The cards in some legal play."""
    return frozenset.union(*plays)
