"""Shapes: whether cards are a single, a pair, a tractor or a throw, and which of two is higher (rules §3, §6)."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.kernel.cards import KINDS
from erqiwang_core.kernel.hand import copies, count, ids, kind_list, kinds, pairs, shared, without
from erqiwang_core.kernel.trump import BOTTOM_PLANE, EVERY_PLANE, GROUPS, PLANE, Group, Ladder, Order, groups_of
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
    """A tractor (拖拉机): `length` ≥ 2 pairs on consecutive levels, one a level. `level` is the highest."""

    length: int
    level: Level


Component: TypeAlias = Single | Pair | Tractor


@final
@dataclass(frozen=True, slots=True)
class Throw:
    """Several trump components at once (甩牌): tractors, longest first, then pairs, then singles, highest first."""

    components: tuple[Component, ...]


Shape: TypeAlias = Single | Pair | Tractor | Throw


@final
@dataclass(frozen=True, slots=True)
class Lead:
    """What was led: the group to follow, the shape to answer, and the number of cards."""

    group: Group
    shape: Shape
    count: int


@final
@dataclass(frozen=True, slots=True)
class SeveralGroups:
    """The cards are of more than one group, so they are no lead."""

    groups: tuple[Group, ...]


@final
@dataclass(frozen=True, slots=True)
class SideSuitThrow:
    """The cards of a side suit are no single, pair or tractor, and a side suit may not be thrown."""

    group: Group


def longest(ladder: Ladder) -> int:
    """The length of the longest run of pairs on consecutive levels; 0 if there is no pair."""
    row = ladder & BOTTOM_PLANE
    length = 0
    while row:
        length += 1
        row &= row >> 1
    return length


def starts(ladder: Ladder, length: int) -> int:
    """The lowest levels of all runs of `length` pairs, as bits."""
    row = ladder & BOTTOM_PLANE
    for _ in range(length - 1):
        row &= row >> 1
    return row


def take(ladder: Ladder, low: int, length: int) -> Ladder:
    """The ladder with one pair taken off each of `length` levels, from `low` up."""
    run = ((1 << length) - 1) * EVERY_PLANE << low
    return Ladder((ladder & ~run) | (ladder >> PLANE & run))


def size(ladder: Ladder) -> int:
    """The number of pairs on a ladder."""
    return ladder.bit_count()


def classify(order: Order, cards: CardSet) -> Lead | SeveralGroups | SideSuitThrow:
    """The lead that these cards make, or why they make none (rules §6). At least one card must be given."""
    group = order.group[(cards.bit_length() - 1) % KINDS]
    if without(cards, order.cards[group]):
        return SeveralGroups(groups_of(order, cards))
    number = count(cards)
    shape = component(order, group, cards)
    if shape is not None:
        return Lead(group, shape, number)
    if group is not Group.TRUMPS:
        return SideSuitThrow(group)
    return Lead(group, Throw(components(order, cards)), number)


def component(order: Order, group: Group, cards: CardSet) -> Component | None:
    """The single, pair or tractor that these cards of one group are; None if they are none of them."""
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
    # A tractor has one pair a level (so only the bottom plane is used) and no gap between its levels.
    if row != ladder or row >> level - length + 1 != (1 << length) - 1:
        return None
    return Tractor(length, level)


def components(order: Order, cards: CardSet) -> tuple[Component, ...]:
    """The components of a throw of these trumps (rules §6)."""
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
    """The lengths of the tractors in a shape, longest first; empty if there are none."""
    match shape:
        case Tractor(length=length):
            return (length,)
        case Throw(parts):
            return tuple(part.length for part in parts if isinstance(part, Tractor))
        case Single() | Pair():
            return ()


def pairs_in(shape: Shape) -> int:
    """The number of pairs in a shape, those in its tractors included."""
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
    """Whether two components have the same shape; only then one may beat the other (rules §8)."""
    match other:
        case Single():
            return isinstance(one, Single)
        case Pair():
            return isinstance(one, Pair)
        case Tractor(length=length):
            return isinstance(one, Tractor) and one.length == length


def beats(challenger: Component, standing: Component) -> bool:
    """Whether `challenger` has the shape of `standing` and is strictly higher; both of one group (rules §8)."""
    return same_shape(challenger, standing) and challenger.level > standing.level


def holds_higher(order: Order, group: Group, hand: CardSet, part: Component) -> bool:
    """Whether `hand` holds in `group` a strictly higher component of the same shape as `part` (rules §6)."""
    match part:
        case Single(level):
            return order.top(group, hand) > level
        case Pair(level):
            return order.pair_ladder(group, hand) & BOTTOM_PLANE >= 1 << level + 1
        case Tractor(length, level):
            higher = starts(order.pair_ladder(group, hand), length)
            return higher >= 1 << level - length + 2


def capture_multiplier(shape: Shape) -> int:
    """The multiplier of a kitty capture: single 1, pair 2, tractor of k pairs 2k, a throw its best (rules §9)."""
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
    """The cards of every single, pair and tractor that may be led from `hand`."""
    found = [CardSet(1 << card) for card in ids(hand)]
    for group in GROUPS:
        found.extend(_pairs_and_tractors(order, group, shared(hand, order.cards[group])))
    return tuple(found)


def _pairs_and_tractors(order: Order, group: Group, hand: CardSet) -> list[CardSet]:
    held = pairs(hand)
    if not held:
        return []
    found: list[CardSet] = []
    running: list[CardSet] = []
    # `running` holds every run that ends one level below. If a level has several pairs, each continues each run.
    for rung in order.rungs[group]:
        if not held & rung:
            running = []
            continue
        at_level = [copies(KindSet(1 << kind)) for kind in kind_list(KindSet(held & rung))]
        running = [*at_level, *(CardSet(run | pair) for run in running for pair in at_level)]
        found.extend(running)
    return found
