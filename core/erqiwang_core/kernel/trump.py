"""Trump: the group of each card, its strength there, and which levels are adjacent (rules §3, part B).

Each trump choice has its tables in an `Order`. `Order.strength` says which card beats which. A *ladder* holds the pairs
of one group, one bit a level, with adjacent levels in adjacent bits. Some levels may hold several pairs: the three
off-suit 7s share a level, and in no trump all four 7s do. So a ladder has several planes of bits: the first for the
first pair of each level, the second for the second, and so on. Finding a tractor and taking it off the ladder are
shifts and masks only.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NewType, TypeAlias, final

from erqiwang_core.kernel.cards import BIG_JOKER, FACES, KINDS, SMALL_JOKER, Joker, Rank, Suit, Suited, kind_of
from erqiwang_core.kernel.hand import FIXED_TRUMPS, copies, kind_set, kinds, pairs
from erqiwang_core.units import CardSet, Kind, KindSet, Level


@final
@dataclass(frozen=True, slots=True)
class SuitTrump:
    """A suit is trump, together with all jokers, 7s and 2s."""

    suit: Suit


@final
@dataclass(frozen=True, slots=True)
class NoTrump:
    """No trump (全常主): only jokers, 7s and 2s are trumps (part B)."""


Trump: TypeAlias = SuitTrump | NoTrump


class Group(IntEnum):
    """What must be followed: all trumps, or one side suit. A side suit has the number of its suit."""

    TRUMPS = 0
    DIAMONDS = 1
    CLUBS = 2
    HEARTS = 3
    SPADES = 4


GROUPS: Final = tuple(Group)
"""All groups, trumps first."""

Ladder = NewType("Ladder", int)
"""The pairs of one group: bit `PLANE * i + level` is set if that level has more than `i` pairs."""

PLANE: Final = 20
PLANES: Final = 4
BOTTOM_PLANE: Final = (1 << PLANE) - 1
EVERY_PLANE: Final = sum(1 << PLANE * plane for plane in range(PLANES))
_STACKED: Final = tuple(EVERY_PLANE & ((1 << PLANE * number) - 1) for number in range(PLANES + 1))

_SUIT_LEVELS: Final[dict[Rank, int]] = {
    rank: level
    for level, rank in enumerate(
        (
            Rank.THREE,
            Rank.FOUR,
            Rank.FIVE,
            Rank.SIX,
            Rank.EIGHT,
            Rank.NINE,
            Rank.TEN,
            Rank.JACK,
            Rank.QUEEN,
            Rank.KING,
            Rank.ACE,
        )
    )
}
"""The level of each rank of a suit. 7 and 2 are always trumps, so 8 and 6 are adjacent; short decks have no 3 and 4."""

ACE_LEVEL: Final = Level(_SUIT_LEVELS[Rank.ACE])
"""The level of the A, the highest of a suit."""


def _suit_ladders() -> tuple[int, ...]:
    """The ladder of each set of ranks, indexed by its mask. Each rank doubles the list: without it, then with it."""
    found = [0]
    for rank in Rank:
        level = 1 << _SUIT_LEVELS[rank] if rank in _SUIT_LEVELS else 0
        found += [lower | level for lower in found]
    return tuple(found)


_SUIT_LADDERS: Final = _suit_ladders()
"""The ladder of each set of ranks of one suit, as a table, because looking it up is faster than computing it."""


@final
@dataclass(frozen=True, slots=True)
class Order:
    """The tables of one trump choice. Tables by kind or card are indexed by its number."""

    trump: Trump
    group: tuple[Group, ...]
    """The group of each kind."""
    strength: tuple[Level, ...]
    """The level of each kind within its group. A higher level beats a lower; equal levels do not beat one another."""
    cards: tuple[CardSet, ...]
    """All cards of each group, indexed by group; empty for the suit that is trump."""
    above: tuple[tuple[KindSet, int], ...]
    """The levels above the A of the trump suit, lowest first: the kinds of each level, and its number."""
    fixed: KindSet
    """All kinds in `above`: jokers, 7s and 2s."""
    suit_shift: int
    """The first kind of the trump suit; in no trump a number past the last kind."""
    rungs: tuple[tuple[KindSet, ...], ...]
    """For each group, the kinds of each level."""

    def ladder(self, group: Group, chosen: KindSet) -> Ladder:
        """The ladder with one pair for each kind in `chosen` that is in `group`; other kinds are ignored."""
        if group:
            if not self.cards[group]:
                return Ladder(0)
            return Ladder(_SUIT_LADDERS[chosen >> 13 * (group - 1) & 0x1FFF])
        found = _SUIT_LADDERS[chosen >> self.suit_shift & 0x1FFF]
        fixed = chosen & self.fixed
        if fixed:
            for level_kinds, level in self.above:
                at_level = fixed & level_kinds
                if at_level:
                    found |= _STACKED[at_level.bit_count()] << level
        return Ladder(found)

    def pair_ladder(self, group: Group, cards: CardSet) -> Ladder:
        """The pairs of `group` in `cards`, as a ladder."""
        return self.ladder(group, pairs(cards))

    def top(self, group: Group, cards: CardSet) -> Level:
        """The level of the highest card of `group` in `cards`; -1 if there is none."""
        return Level((self.ladder(group, kinds(cards)) & BOTTOM_PLANE).bit_length() - 1)

    def trumps(self, cards: CardSet) -> CardSet:
        """The trumps in `cards`."""
        return CardSet(cards & self.cards[Group.TRUMPS])


def groups_of(order: Order, cards: CardSet) -> tuple[Group, ...]:
    """The groups of which `cards` has at least one card."""
    return tuple(group for group in GROUPS if cards & order.cards[group])


def _levels_above(trump: Trump) -> tuple[tuple[Kind, ...], ...]:
    """The kinds of the trump levels above the A of the trump suit, lowest level first."""
    match trump:
        case SuitTrump(suit):
            others = [other for other in Suit if other != suit]
            return (
                tuple(kind_of(Suited(other, Rank.TWO)) for other in others),
                (kind_of(Suited(suit, Rank.TWO)),),
                tuple(kind_of(Suited(other, Rank.SEVEN)) for other in others),
                (kind_of(Suited(suit, Rank.SEVEN)),),
                (SMALL_JOKER,),
                (BIG_JOKER,),
            )
        case NoTrump():
            return (
                tuple(kind_of(Suited(suit, Rank.TWO)) for suit in Suit),
                tuple(kind_of(Suited(suit, Rank.SEVEN)) for suit in Suit),
                (SMALL_JOKER,),
                (BIG_JOKER,),
            )


def _group(trump: Trump, kind: Kind) -> Group:
    face = FACES[kind]
    match face:
        case Joker() | Suited(rank=Rank.TWO | Rank.SEVEN):
            return Group.TRUMPS
        case Suited(suit):
            return Group.TRUMPS if trump == SuitTrump(suit) else Group(suit)


def _strength(above: dict[Kind, int], kind: Kind) -> Level:
    face = FACES[kind]
    match face:
        case Joker() | Suited(rank=Rank.TWO | Rank.SEVEN):
            return Level(above[kind])
        case Suited(rank=rank):
            return Level(_SUIT_LEVELS[rank])


def _build(trump: Trump) -> Order:
    group = tuple(_group(trump, Kind(k)) for k in range(KINDS))
    levels = _levels_above(trump)
    first = len(_SUIT_LEVELS)
    place = {kind: first + number for number, level in enumerate(levels) for kind in level}
    strength = tuple(_strength(place, Kind(k)) for k in range(KINDS))
    members = tuple(kind_set(Kind(k) for k in range(KINDS) if group[k] is member) for member in Group)
    shift = 13 * (trump.suit - 1) if isinstance(trump, SuitTrump) else KINDS
    return Order(
        trump=trump,
        group=group,
        strength=strength,
        cards=tuple(copies(member) for member in members),
        above=tuple((kind_set(level), first + number) for number, level in enumerate(levels)),
        fixed=kinds(FIXED_TRUMPS),
        suit_shift=shift,
        rungs=tuple(
            tuple(
                kind_set(Kind(k) for k in range(KINDS) if group[k] is member and strength[k] == level)
                for level in range(first + len(levels))
            )
            for member in Group
        ),
    )


TRUMPS: Final[tuple[Trump, ...]] = (*(SuitTrump(suit) for suit in Suit), NoTrump())
_ORDERS: Final[dict[Trump, Order]] = {trump: _build(trump) for trump in TRUMPS}


def order(trump: Trump) -> Order:
    """The tables of a trump choice. They are built once and shared by all deals."""
    return _ORDERS[trump]
