"""What seats are told about hidden hands: the declarer's disclosure, and trump counts and voids (rules §12)."""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.hand import FIXED_TRUMPS, JOKERS, SEVENS, TWOS, count, count_pairs, shared
from erqiwang_core.kernel.trump import BOTTOM_PLANE, Group, Order
from erqiwang_core.rules import Rules, VoidNotice
from erqiwang_core.seats import BySeat
from erqiwang_core.units import CardSet, Seat

_MANY_FIXED_TRUMPS: Final = 10
_MANY_JOKERS: Final = 3
_MANY_OF_A_RANK: Final = 6


@final
@dataclass(frozen=True, slots=True)
class TrumpHolding:
    """The numbers of trumps, of trump pairs, and of runs of two or more levels with a pair."""

    trumps: int
    pairs: int
    tractors: int


@final
@dataclass(frozen=True, slots=True)
class Disclosure:
    """The declarer's disclosure (亮牌): numbers of cards, each None if there are too few to be told (rules §12)."""

    holding: TrumpHolding | None
    jokers: int | None
    sevens: int | None
    twos: int | None


@final
@dataclass(frozen=True, slots=True)
class TrumpCount:
    """How many trumps a seat holds, and how many pairs of trumps."""

    trumps: int
    pairs: int


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """What a seat tells once two others are void of trump: its number of trumps, and if it holds a pair (part B)."""

    seat: Seat
    trumps: int
    has_pair: bool


def disclosure(rules: Rules, order: Order, hand: CardSet) -> Disclosure | None:
    """What the defenders are told about `hand`, the declarer's after burying; None if there is nothing to tell."""
    if not (rules.disclosure and rules.review):
        return None
    told = Disclosure(
        holding=_holding(order, hand) if count(shared(hand, FIXED_TRUMPS)) >= _MANY_FIXED_TRUMPS else None,
        jokers=_at_least(_MANY_JOKERS, hand, JOKERS),
        sevens=_at_least(_MANY_OF_A_RANK, hand, SEVENS),
        twos=_at_least(_MANY_OF_A_RANK, hand, TWOS),
    )
    return None if told == _SILENT else told


_SILENT: Final = Disclosure(None, None, None, None)


def _at_least(number: int, hand: CardSet, of: CardSet) -> int | None:
    held = count(shared(hand, of))
    return held if held >= number else None


def _holding(order: Order, hand: CardSet) -> TrumpHolding:
    trumps = order.trumps(hand)
    row = order.pair_ladder(Group.TRUMPS, hand) & BOTTOM_PLANE
    # Count each run of two or more levels once, at its lowest level, which has a neighbour above and none below.
    tractors = (row & row >> 1 & ~(row << 1)).bit_count()
    return TrumpHolding(count(trumps), count_pairs(trumps), tractors)


def trump_count(order: Order, hand: CardSet) -> TrumpCount:
    """The numbers of trumps and of trump pairs in a hand."""
    trumps = order.trumps(hand)
    return TrumpCount(count(trumps), count_pairs(trumps))


def newly_void(order: Order, hands: BySeat[CardSet], announced: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """The seats to announce as void of trump (报无主, rules §12). Not to be called for the last trick."""
    return tuple(seat for seat, hand in hands.items() if seat not in announced and not order.trumps(hand))


def statements(
    rules: Rules, order: Order, hands: BySeat[CardSet], announced: tuple[Seat, ...], void: tuple[Seat, ...]
) -> tuple[Statement, ...]:
    """What the seats with trumps tell when the second seat is announced void (part B); empty at any other time."""
    match rules.void_notice:
        case VoidNotice.COUNTS:
            return ()
        case VoidNotice.STATEMENTS:
            if len(announced) >= 2 or len(announced) + len(void) < 2:
                return ()
            return tuple(
                Statement(seat, held.trumps, held.pairs > 0)
                for seat, hand in hands.items()
                if (held := trump_count(order, hand)).trumps
            )
