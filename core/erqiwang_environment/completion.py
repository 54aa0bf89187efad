"""Completion: which cards may be chosen next, so that what is chosen is still part of some legal burial, lead or follow.

A follow is legal only as a whole (rules §7), so what may come next is decided without trying any whole play. Of a follower's
hand only two things count: the runs of pairs that a legal play must hold, and the number of cards that it has. A set of
chosen cards is part of a legal play exactly if there are runs of pairs which the missing cards can complete. The fewest cards
that complete them are found by a search over the places of the tractors, of which there are few.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, final

from erqiwang_core import CardId, CardSet
from erqiwang_core.kernel.cards import kind
from erqiwang_core.kernel.following import answer
from erqiwang_core.kernel.hand import count, kind_list, kind_set, kinds, pairs, shared, union, without
from erqiwang_core.kernel.shapes import Lead, Pair, Single, Throw, Tractor, classify, tractors
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.units import KindSet

from erqiwang_environment.actions import copy_of

_NOTHING: Final = KindSet(0)


@final
@dataclass(frozen=True, slots=True)
class Next:
    """What may come after the chosen cards."""

    kinds: KindSet
    """The kinds of which one more card may be chosen."""
    done: bool
    """Whether the chosen cards are legal as they are."""


def burial(hand: CardSet, chosen: CardSet, size: int) -> Next:
    """What may come next in a burial of `size` cards."""
    missing = size - count(chosen)
    return Next(kinds(without(hand, chosen)) if missing else _NOTHING, not missing)


def lead(order: Order, hand: CardSet, chosen: CardSet) -> Next:
    """What may come next in a lead (rules §6)."""
    if not chosen:
        return Next(kinds(hand), False)
    group = order.group[kind(CardId(chosen.bit_length() - 1))]
    left = kinds(shared(without(hand, chosen), order.cards[group]))
    is_lead = isinstance(classify(order, chosen), Lead)
    # Any trumps may be led together.
    return Next(left if group is Group.TRUMPS else KindSet(left & _beside(order, group, hand, chosen)), is_lead)


def _beside(order: Order, group: Group, hand: CardSet, chosen: CardSet) -> KindSet:
    """The kinds of a side suit that are in one pair or tractor of `hand` with the chosen cards."""
    held, touched = pairs(hand), kinds(chosen)
    if touched & ~held:
        return _NOTHING
    rungs = order.rungs[group]
    found: int = touched
    # A level of a side suit is one kind: from the chosen ones the run goes on, up and down, as long as there is a pair.
    for way in (rungs, rungs[::-1]):
        for before, after in pairwise(way):
            if found & before:
                found |= held & after
    return KindSet(found)


def follow(order: Order, led: Lead, hand: CardSet, chosen: CardSet) -> Next:
    """What may come next in a follow (rules §7). `chosen` must be part of a legal one."""
    missing = led.count - count(chosen)
    if not missing:
        return Next(_NOTHING, True)
    held, left = shared(hand, order.cards[led.group]), without(hand, chosen)
    others = led.count - count(held) - count(without(chosen, held))
    if count(held) < led.count:
        # The hand has too few cards of the group: all of them are played, and beside them any others.
        return Next(kinds(left if others else shared(left, held)), False)
    left = shared(left, held)
    runs = _runs(order, led, held)
    fewest = _fewest(order, led.group, held, chosen, runs)
    if fewest < missing:
        return Next(kinds(left), False)
    # Each missing card completes a pair, so a card may come next exactly if fewer are missing with it.
    completing = (
        each
        for each in kind_list(KindSet(kinds(left) & pairs(held)))
        if _fewest(order, led.group, held, union(chosen, copy_of(each, left)), runs) < fewest
    )
    return Next(kind_set(completing), False)


def _runs(order: Order, led: Lead, held: CardSet) -> tuple[int, ...]:
    """The lengths of the disjoint runs of pairs that every legal follow holds, longest first; 1 is a pair by itself."""
    called = answer(led.shape, order.pair_ladder(led.group, held))
    match led.shape:
        case Single() | Pair() | Tractor():
            return called
        case Throw():
            lengths = tuple(length for length, yes in zip(tractors(led.shape), called, strict=False) if yes)
            return (*lengths, *(1 for _ in range(called[-1] - sum(lengths))))


def _fewest(order: Order, group: Group, held: CardSet, chosen: CardSet, runs: tuple[int, ...]) -> int:
    """The fewest cards of `held` that make, with those that are chosen, all of these runs."""
    if not runs:
        return 0
    paired, one, both = pairs(held), kinds(chosen), pairs(chosen)
    costs = [
        sorted(2 - (one >> each & 1) - (both >> each & 1) for each in kind_list(KindSet(paired & rung)))
        for rung in order.rungs[group]
    ]
    # Without any chosen card each pair costs two, so this is the most that the runs can cost.
    return _cheapest(costs, runs, 0, 2 * sum(runs))


def _cheapest(costs: list[list[int]], lengths: tuple[int, ...], first: int, bound: int) -> int:
    """The least cost of disjoint runs of these lengths, the first at level `first` or above; `bound` if none is less.

    `costs` holds, for each level, what each of its pairs costs, cheapest first. Of several pairs of a level the cheapest
    is taken, since any of them fits in the same runs.
    """
    if not lengths:
        return 0
    length = lengths[0]
    if length == 1:
        # Only single pairs are left, and no level matters any more.
        return min(bound, sum(sorted(cost for level in costs for cost in level)[: len(lengths)]))
    rest = lengths[1:]
    for low in range(first, len(costs) - length + 1):
        run = costs[low : low + length]
        if not all(run):
            continue
        cost = sum(level[0] for level in run)
        if cost >= bound:
            continue
        left = [*costs[:low], *(level[1:] for level in run), *costs[low + length :]]
        # Runs of equal length are placed in order of level, so that no set of places is tried twice.
        after = low if rest and rest[0] == length else 0
        bound = min(bound, cost + _cheapest(left, rest, after, bound - cost))
    return bound
