"""Shapes: what a set of cards is, and which of two of a shape is higher (rules §3, §6)."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.kernel.hand import copies, count, ids, kind_list, kinds, pairs, shared, without
from erqiwang_core.kernel.trump import BOTTOM_PLANE, EVERY_PLANE, PLANE, Group, Ladder, Order, groups_of
from erqiwang_core.units import CardSet, KindSet, Level


@final
@dataclass(frozen=True, slots=True)
class Single:
    """One card."""

    level: Level


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """Both copies of one card (对子)."""

    level: Level


@final
@dataclass(frozen=True, slots=True)
class Tractor:
    """`length` ≥ 2 pairs on consecutive levels, one a level (拖拉机), the highest at `level`."""

    length: int
    level: Level


Component: TypeAlias = Single | Pair | Tractor


@final
@dataclass(frozen=True, slots=True)
class Throw:
    """Several components of trump at once (甩牌): the longest tractor first, then pairs, then singles, each from the top."""

    components: tuple[Component, ...]


Shape: TypeAlias = Single | Pair | Tractor | Throw


@final
@dataclass(frozen=True, slots=True)
class Lead:
    """What was led: the group to follow, the shape to answer, and how many cards."""

    group: Group
    shape: Shape
    count: int


@final
@dataclass(frozen=True, slots=True)
class SeveralGroups:
    """Cards of more than one group make no lead."""

    groups: tuple[Group, ...]


@final
@dataclass(frozen=True, slots=True)
class SideSuitThrow:
    """Side-suit cards that are no single, pair or tractor: a side suit may not be thrown."""

    group: Group


def longest(ladder: Ladder) -> int:
    """How many levels the longest run of pairs spans."""
    row = ladder & BOTTOM_PLANE
    length = 0
    while row:
        length += 1
        row &= row >> 1
    return length


def starts(ladder: Ladder, length: int) -> int:
    """The levels at which a run of `length` pairs starts, as bits."""
    row = ladder & BOTTOM_PLANE
    for _ in range(length - 1):
        row &= row >> 1
    return row


def take(ladder: Ladder, low: int, length: int) -> Ladder:
    """The ladder without one pair at each of `length` levels from `low`."""
    run = ((1 << length) - 1) * EVERY_PLANE << low
    return Ladder((ladder & ~run) | (ladder >> PLANE & run))


def size(ladder: Ladder) -> int:
    """How many pairs a ladder holds."""
    return ladder.bit_count()


def classify(order: Order, cards: CardSet) -> Lead | SeveralGroups | SideSuitThrow:
    """What those cards are when led; at least one card is given."""
    groups = groups_of(order, cards)
    if len(groups) > 1:
        return SeveralGroups(groups)
    group = groups[0]
    number = count(cards)
    shape = component(order, group, cards)
    if shape is not None:
        return Lead(group, shape, number)
    if group is not Group.TRUMPS:
        return SideSuitThrow(group)
    return Lead(group, Throw(components(order, cards)), number)


def component(order: Order, group: Group, cards: CardSet) -> Component | None:
    """The single, pair or tractor that those cards of one group are, if they are one."""
    number = count(cards)
    if number == 1:
        return Single(order.top(group, cards))
    held = pairs(cards)
    if number != 2 * held.bit_count():
        return None
    ladder = order.ladder(group, held)
    row = ladder & BOTTOM_PLANE
    length = number // 2
    level = Level(row.bit_length() - 1)
    if length == 1:
        return Pair(level)
    # One pair a level and no gap: as many levels as pairs, and as wide as that.
    if row != ladder or row >> level - length + 1 != (1 << length) - 1:
        return None
    return Tractor(length, level)


def components(order: Order, cards: CardSet) -> tuple[Component, ...]:
    """What a throw of those trumps is made of (rules §6)."""
    held = pairs(cards)
    loose = kinds(without(cards, copies(held)))
    ladder = order.ladder(Group.TRUMPS, held)
    found: list[Component] = []
    while (length := longest(ladder)) > 1:
        low = starts(ladder, length).bit_length() - 1
        found.append(Tractor(length, Level(low + length - 1)))
        ladder = take(ladder, low, length)
    found.extend(Pair(level) for level in _from_the_top(ladder))
    found.extend(Single(level) for level in sorted((order.strength[k] for k in kind_list(loose)), reverse=True))
    return tuple(found)


def _from_the_top(ladder: Ladder) -> list[Level]:
    levels: list[Level] = []
    for plane in range(0, ladder.bit_length(), PLANE):
        row = ladder >> plane & BOTTOM_PLANE
        levels.extend(Level(number) for number in range(row.bit_length()) if row >> number & 1)
    return sorted(levels, reverse=True)


def tractors(shape: Shape) -> tuple[int, ...]:
    """The lengths of the tractors in a shape, longest first."""
    match shape:
        case Tractor(length=length):
            return (length,)
        case Throw(parts):
            return tuple(part.length for part in parts if isinstance(part, Tractor))
        case Single() | Pair():
            return ()


def pairs_in(shape: Shape) -> int:
    """How many pairs a shape holds, those of its tractors counted (k for a tractor(k), 1 for a pair)."""
    match shape:
        case Single():
            return 0
        case Pair():
            return 1
        case Tractor(length=length):
            return length
        case Throw(parts):
            return sum(pairs_in(part) for part in parts)


def same_shape(one: Component, other: Component) -> bool:
    """Whether two plays may be compared at all (rules §8)."""
    match other:
        case Single():
            return isinstance(one, Single)
        case Pair():
            return isinstance(one, Pair)
        case Tractor(length=length):
            return isinstance(one, Tractor) and one.length == length


def beats(challenger: Component, standing: Component) -> bool:
    """Whether `challenger` is the same shape as `standing`, of the same group, and strictly higher (rules §8)."""
    return same_shape(challenger, standing) and challenger.level > standing.level


def holds_higher(order: Order, group: Group, hand: CardSet, part: Component) -> bool:
    """Whether `hand` holds, anywhere in `group`, a component of the same shape and strictly higher (rules §6)."""
    match part:
        case Single(level):
            return order.top(group, hand) > level
        case Pair(level):
            return order.pair_ladder(group, hand) & BOTTOM_PLANE >= 1 << level + 1
        case Tractor(length, level):
            higher = starts(order.pair_ladder(group, hand), length)
            return higher >= 1 << level - length + 2


def capture_multiplier(shape: Shape) -> int:
    """What a kitty capture with that shape multiplies by: single 1, pair 2, tractor(k) 2k, a throw its best (rules §9)."""
    match shape:
        case Single():
            return 1
        case Pair():
            return 2
        case Tractor(length=length):
            return 2 * length
        case Throw(parts):
            return max(capture_multiplier(part) for part in parts)


def all_components(order: Order, hand: CardSet) -> tuple[CardSet, ...]:
    """Every single, pair and tractor that may be led from `hand`, as cards: each card, each pair, each run of pairs."""
    found = [CardSet(1 << card) for card in ids(hand)]
    for group in Group:
        found.extend(_pairs_and_tractors(order, group, shared(hand, order.cards[group])))
    return tuple(found)


def _pairs_and_tractors(order: Order, group: Group, hand: CardSet) -> list[CardSet]:
    held = pairs(hand)
    if not held:
        return []
    found: list[CardSet] = []
    running: list[CardSet] = []
    # `running` holds every tractor that ends one level below; a level of several pairs continues each with each.
    for rung in order.rungs[group]:
        if not held & rung:
            running = []
            continue
        at_level = [copies(KindSet(1 << kind)) for kind in kind_list(KindSet(held & rung))]
        running = [*at_level, *(CardSet(run | pair) for run in running for pair in at_level)]
        found.extend(running)
    return found
