"""Following: which plays a lead allows (rules §7).

Everything here uses one value, the *answer*: how fully a set of cards of the led group can answer the lead. A play of
enough cards of that group is legal exactly if its answer equals the answer of the whole hand. A card must be played
exactly if the hand without it has a smaller answer. So no subset of a hand is ever enumerated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.kernel.hand import EMPTY, copies, ids, kind_list, pairs
from erqiwang_core.kernel.shapes import (
    Lead,
    Pair,
    Shape,
    Single,
    Throw,
    Tractor,
    longest,
    pairs_in,
    size,
    starts,
    take,
    tractors,
)
from erqiwang_core.kernel.trump import BOTTOM_PLANE, Group, Ladder, Order
from erqiwang_core.units import CardId, CardSet, KindSet

Answer: TypeAlias = tuple[int, ...]
"""The answer to a lead. Of two answers to the same lead, the greater tuple is the fuller.

To a single: (). To a pair: (1,) or (). To a tractor: the lengths of the tractors played, in order; a pair counts as 1.
To a throw: for each thrown tractor, longest first, 1 if it is answered and 0 if not, then the number of pairs.
"""

Cost: TypeAlias = Callable[[CardId], int]
"""The cost of a card to its holder. Cheaper cards are played first."""


@final
@dataclass(frozen=True, slots=True)
class WholeGroupNotPlayed:
    """The hand has fewer cards of the led group than were led, so it must play all of them."""

    group: Group


@final
@dataclass(frozen=True, slots=True)
class GroupNotFollowed:
    """The hand has enough cards of the led group, so it may play no others."""

    group: Group


@final
@dataclass(frozen=True, slots=True)
class TractorNotPlayed:
    """The hand could answer with a tractor of `length` pairs, and must."""

    length: int


@final
@dataclass(frozen=True, slots=True)
class PairsNotPlayed:
    """The hand could answer with at least `number` pairs, and must."""

    number: int


Breach: TypeAlias = WholeGroupNotPlayed | GroupNotFollowed | TractorNotPlayed | PairsNotPlayed


def answer(shape: Shape, ladder: Ladder) -> Answer:
    """The fullest answer to `shape` that the pairs on `ladder` can give. Singles need no answer."""
    match shape:
        case Single():
            return ()
        case Pair():
            return (1,) if ladder else ()
        case Tractor(length=length):
            return _chain(ladder, length)
        case Throw():
            lengths = tractors(shape)
            return (*_answered(ladder, lengths), min(size(ladder), pairs_in(shape)))


def _chain(ladder: Ladder, need: int) -> Answer:
    """The lengths of tractors that answer a tractor of `need` pairs: the longest first, again and again, then pairs.

    Of equally long tractors any may be taken. As long as more pairs are needed than the longest tractor has, those
    taken are whole runs with gaps between them, so taking one does not shorten another.
    """
    lengths: list[int] = []
    while ladder and need:
        length = min(need, longest(ladder))
        if length == 1:
            lengths.extend([1] * min(need, size(ladder)))
            break
        lengths.append(length)
        need -= length
        ladder = take(ladder, _lowest(starts(ladder, length)), length)
    return tuple(lengths)


def _lowest(row: int) -> int:
    return (row & -row).bit_length() - 1


def _levels(row: int) -> list[int]:
    return [level for level in range(row.bit_length()) if row >> level & 1]


def _answered(ladder: Ladder, lengths: tuple[int, ...]) -> Answer:
    """1 or 0 for each thrown tractor: whether it can be answered together with the earlier ones that can."""
    together: tuple[int, ...] = ()
    flags: list[int] = []
    for length in lengths:
        fits = _fit(ladder, (*together, length))
        flags.append(int(fits))
        if fits:
            together = (*together, length)
    return tuple(flags)


def _fit(ladder: Ladder, lengths: tuple[int, ...], first: int = 0) -> bool:
    """Whether disjoint tractors of `lengths`, longest first, fit together, the first at level `first` or above."""
    if not lengths:
        return True
    if sum(lengths) > size(ladder):
        return False
    length, rest = lengths[0], lengths[1:]
    for low in _levels(starts(ladder, length)):
        # Place tractors of equal length in order of level, so that no set of places is tried twice.
        after = low if rest and rest[0] == length else 0
        if low >= first and _fit(take(ladder, low, length), rest, after):
            return True
    return False


def breach(order: Order, lead: Lead, hand: CardSet, play: CardSet) -> Breach | None:
    """Why `play` does not follow `lead`, or None if it does (rules §7).

    `play` must be part of `hand` and must hold as many cards as were led.
    """
    of_group = order.cards[lead.group]
    held = hand & of_group
    shown = play & of_group
    if held.bit_count() < lead.count:
        return None if shown == held else WholeGroupNotPlayed(lead.group)
    if shown != play:
        return GroupNotFollowed(lead.group)
    if isinstance(lead.shape, Single):
        return None
    given = answer(lead.shape, order.pair_ladder(lead.group, play))
    called = answer(lead.shape, order.pair_ladder(lead.group, CardSet(held)))
    return None if given == called else _difference(lead.shape, given, called)


def is_legal(order: Order, lead: Lead, hand: CardSet, play: CardSet) -> bool:
    """Whether `play` follows `lead`. It must be part of `hand` and hold as many cards as were led."""
    return breach(order, lead, hand, play) is None


def _difference(shape: Shape, given: Answer, called: Answer) -> Breach:
    match shape:
        case Single() | Pair():
            return PairsNotPlayed(1)
        case Tractor():
            place = next(i for i, length in enumerate(called) if given[i : i + 1] != (length,))
            return TractorNotPlayed(called[place]) if called[place] > 1 else PairsNotPlayed(sum(called))
        case Throw():
            for length, missed in zip(
                tractors(shape), (c > g for c, g in zip(called, given, strict=True)), strict=False
            ):
                if missed:
                    return TractorNotPlayed(length)
            return PairsNotPlayed(called[-1])


def must(order: Order, lead: Lead, hand: CardSet) -> CardSet:
    """The cards of `hand` that are in every legal play (rules §7)."""
    held = CardSet(hand & order.cards[lead.group])
    if held.bit_count() <= lead.count:
        return hand if hand.bit_count() == lead.count else held
    if _answered_by_singles(lead.shape, held):
        return EMPTY
    ladder = order.pair_ladder(lead.group, held)
    called = answer(lead.shape, ladder)
    needed = 0
    if _pairs_called(lead.shape, called):
        for level in _levels(ladder & BOTTOM_PLANE):
            if answer(lead.shape, take(ladder, level, 1)) != called:
                needed |= 1 << level
    return copies(_pairs_on(order, lead.group, held, needed))


def may(order: Order, lead: Lead, hand: CardSet) -> CardSet:
    """The cards of `hand` that are in some legal play (rules §7)."""
    held = CardSet(hand & order.cards[lead.group])
    if held.bit_count() < lead.count:
        return hand
    if _answered_by_singles(lead.shape, held):
        return held
    ladder = order.pair_ladder(lead.group, held)
    called = answer(lead.shape, ladder)
    if held.bit_count() == lead.count or lead.count > 2 * _pairs_called(lead.shape, called):
        return held
    return copies(_pairs_on(order, lead.group, held, _usable(lead.shape, ladder, called)))


def _answered_by_singles(shape: Shape, held: CardSet) -> bool:
    """Whether no pair is called for: most leads are singles, and most hands hold no pair of the led group."""
    return isinstance(shape, Single) or not pairs(held)


def _pairs_called(shape: Shape, called: Answer) -> int:
    match shape:
        case Single():
            return 0
        case Pair() | Tractor():
            return sum(called)
        case Throw():
            return called[-1]


def _pairs_on(order: Order, group: Group, held: CardSet, levels: int) -> KindSet:
    rungs = order.rungs[group]
    chosen = 0
    for level in _levels(levels):
        chosen |= rungs[level]
    return KindSet(chosen & pairs(held))


def _usable(shape: Shape, ladder: Ladder, called: Answer) -> int:
    """The levels, as bits, whose pairs are in some legal play, if every legal play consists of pairs only."""
    match shape:
        case Single() | Pair():
            return ladder & BOTTOM_PLANE
        case Tractor():
            return _usable_in_chain(ladder, called)
        case Throw():
            lengths = tuple(length for length, yes in zip(tractors(shape), called, strict=False) if yes)
            if sum(lengths) < called[-1]:
                return ladder & BOTTOM_PLANE
            return _usable_in_fit(ladder, lengths)


def _usable_in_chain(ladder: Ladder, called: Answer) -> int:
    found = 0
    for length in called:
        found |= _spanned(starts(ladder, length), length)
        ladder = take(ladder, _lowest(starts(ladder, length)), length)
    return found


def _spanned(row: int, length: int) -> int:
    spanned = 0
    for step in range(length):
        spanned |= row << step
    return spanned


def _usable_in_fit(ladder: Ladder, lengths: tuple[int, ...]) -> int:
    found = 0
    for place, length in enumerate(lengths):
        rest = (*lengths[:place], *lengths[place + 1 :])
        for low in _levels(starts(ladder, length)):
            if _fit(take(ladder, low, length), rest):
                found |= ((1 << length) - 1) << low
    return found


def follow(order: Order, lead: Lead, hand: CardSet, cost: Cost) -> CardSet:
    """One legal play: the cheapest by `cost` wherever the rules leave a choice. `hand` must hold enough cards."""
    held = CardSet(hand & order.cards[lead.group])
    short = lead.count - held.bit_count()
    if short >= 0:
        return CardSet(held | _cheapest(CardSet(hand & ~held), short, cost))
    chosen = EMPTY if _answered_by_singles(lead.shape, held) else _answering_pairs(order, lead, held, cost)
    loose = CardSet(held & ~chosen & ~copies(pairs(held)))
    fill = lead.count - chosen.bit_count()
    # Take loose cards first. Break a pair only if there are not enough of them.
    picked = _cheapest(loose, min(fill, loose.bit_count()), cost)
    broken = _cheapest(CardSet(held & ~chosen & ~picked), fill - picked.bit_count(), cost)
    return CardSet(chosen | picked | broken)


def _cheapest(cards: CardSet, number: int, cost: Cost) -> CardSet:
    if not number or not cards:
        return EMPTY
    if number == 1:
        return CardSet(1 << min(ids(cards), key=cost))
    return CardSet(sum(1 << card for card in sorted(ids(cards), key=cost)[:number]))


def _answering_pairs(order: Order, lead: Lead, held: CardSet, cost: Cost) -> CardSet:
    """The cheapest pairs that reach the answer of `held`."""
    left = pairs(held)
    called = answer(lead.shape, order.ladder(lead.group, left))
    taken = EMPTY
    for length, after in _runs_called(lead.shape, called):
        run = _suitable_run(order, lead.group, left, length, after, cost)
        left = KindSet(left & ~run)
        taken = CardSet(taken | copies(run))
    return taken


def _runs_called(shape: Shape, called: Answer) -> list[tuple[int, tuple[int, ...]]]:
    """The lengths of the runs of pairs to take in turn, each with the lengths that must still fit after it."""
    match shape:
        case Single() | Pair() | Tractor():
            return [(length, ()) for length in called]
        case Throw():
            lengths = [length for length, yes in zip(tractors(shape), called, strict=False) if yes]
            runs = [(length, tuple(lengths[place + 1 :])) for place, length in enumerate(lengths)]
            return [*runs, *((1, ()) for _ in range(called[-1] - sum(lengths)))]


def _suitable_run(
    order: Order, group: Group, left: KindSet, length: int, after: tuple[int, ...], cost: Cost
) -> KindSet:
    """The cheapest run of `length` pairs that leaves pairs for runs of the lengths `after`."""
    lows = _levels(starts(order.ladder(group, left), length))
    runs = sorted(
        (_cheapest_run(order, group, left, low, length, cost) for low in lows), key=lambda run: _total(run, cost)
    )
    return next(run for run in runs if _fit(order.ladder(group, KindSet(left & ~run)), after))


def _cheapest_run(order: Order, group: Group, left: KindSet, low: int, length: int, cost: Cost) -> KindSet:
    chosen = 0
    for rung in order.rungs[group][low : low + length]:
        chosen |= 1 << min(kind_list(KindSet(rung & left)), key=lambda kind: cost(CardId(kind)))
    return KindSet(chosen)


def _total(run: KindSet, cost: Cost) -> int:
    return sum(cost(CardId(kind)) for kind in kind_list(run))


def by_price(prices: Sequence[int]) -> Cost:
    """A cost that looks up `prices`, one price a card id."""
    return lambda card: prices[card]
