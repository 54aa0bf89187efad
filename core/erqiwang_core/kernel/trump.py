"""Trump: the groups a card belongs to, how strong it is there, and what is next to what (rules §3, part B).

Strength and adjacency are two tables of each trump choice. `Order.strength` tells what beats what. A *ladder* tells what
makes a tractor: the pairs of one group as a row of levels, neighbours in neighbouring bits, with one plane of bits for
the first pair of a level, one for the second and so on (three off-suit 7s share a level, and without a trump suit four
7s do). Taking a tractor off a ladder and finding the next are then shifts and masks.
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
    """A suit is trump, and every joker, 7 and 2 with it."""

    suit: Suit


@final
@dataclass(frozen=True, slots=True)
class NoTrump:
    """No suit is trump (全常主): jokers, 7s and 2s alone are (part B)."""


Trump: TypeAlias = SuitTrump | NoTrump


class Group(IntEnum):
    """What must be followed: all trumps together, or one side suit; a suit's group has its number."""

    TRUMPS = 0
    DIAMONDS = 1
    CLUBS = 2
    HEARTS = 3
    SPADES = 4


Ladder = NewType("Ladder", int)
"""The pairs of one group, level by level: bit `PLANE * i + level` is set where the level has more than `i` pairs."""

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
"""A suit from low to high. Its 7 and 2 are trumps, so 8 and 6 are neighbours; a short deck just has no 3 and 4."""

ACE_LEVEL: Final = Level(_SUIT_LEVELS[Rank.ACE])
"""The highest level of a suit by itself."""


def _suit_ladders() -> tuple[int, ...]:
    """The ladder of every set of ranks: with each rank, every set of lower ones once more, its level added to them."""
    found = [0]
    for rank in Rank:
        level = 1 << _SUIT_LEVELS[rank] if rank in _SUIT_LEVELS else 0
        found += [lower | level for lower in found]
    return tuple(found)


_SUIT_LADDERS: Final = _suit_ladders()
"""The levels of every set of ranks of one suit, so that a hand's are looked up and not counted out."""


@final
@dataclass(frozen=True, slots=True)
class Order:
    """The tables of one trump choice."""

    trump: Trump
    group: tuple[Group, ...]
    """The group of every kind."""
    strength: tuple[Level, ...]
    """How strong every kind is within its group: the higher beats the lower, equals do not beat one another."""
    cards: tuple[CardSet, ...]
    """All cards of every group, by the group's number; nothing for the suit that is trump."""
    above: tuple[tuple[KindSet, int], ...]
    """The levels of the trumps that no suit order covers: their kinds, and their place on the ladder."""
    fixed: KindSet
    """All kinds of `above`."""
    suit_shift: int
    """Where the trump suit's kinds start; past the last kind where there is no trump suit."""
    rungs: tuple[tuple[KindSet, ...], ...]
    """Of every group, the kinds that share each level of its ladder."""

    def ladder(self, group: Group, chosen: KindSet) -> Ladder:
        """Those kinds of `group` as a ladder; kinds of other groups are passed over."""
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
        """The pairs of `group` among those cards, as a ladder."""
        return self.ladder(group, pairs(cards))

    def top(self, group: Group, cards: CardSet) -> Level:
        """The level of the highest card of `group` among those cards; -1 where there is none."""
        return Level((self.ladder(group, kinds(cards)) & BOTTOM_PLANE).bit_length() - 1)

    def trumps(self, cards: CardSet) -> CardSet:
        """The trumps among those cards."""
        return CardSet(cards & self.cards[Group.TRUMPS])


def groups_of(order: Order, cards: CardSet) -> tuple[Group, ...]:
    """The groups of which those cards hold any."""
    return tuple(group for group in Group if cards & order.cards[group])


def _levels_above(trump: Trump) -> tuple[tuple[Kind, ...], ...]:
    """The trumps above the trump suit's A, from low to high, a tuple a level."""
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
    """The tables of that trump choice; built once, shared by all deals."""
    return _ORDERS[trump]
