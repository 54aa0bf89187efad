"""What the rules tell a viewer of cards that it does not see, worked out from the hands, card by card.

This is the measure that the law of secrecy is held to, so nothing here asks the core what it tells: it is a plain second
reading of the rules (§6, §12 and part B), from the hands as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias, final

from erqiwang_core.kernel.cards import FACES, KINDS, Joker, Rank, Suited, kind
from erqiwang_core.kernel.hand import cards_of, ids
from erqiwang_core.kernel.shapes import Component, Pair, Single, Tractor, components
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.match import Running
from erqiwang_core.options import FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.playing import Play, Playing
from erqiwang_core.units import CardId, CardSet, Seat
from erqiwang_core.viewer import PUBLIC, Viewer

from tests.deals.walk import Sent, Step

HANDFUL_OF_FIXED_TRUMPS: Final = 10


class Kind(Enum):
    """A kind of thing that the rules of a game tell of hidden cards in play, beside who is void of trump."""

    COUNTS = auto()
    DISCLOSURE = auto()
    STATEMENTS = auto()


def kinds_told(game: Game) -> frozenset[Kind]:
    """The kinds that there are in a game."""
    match game:
        case ThreePlayer():
            return frozenset({Kind.COUNTS, Kind.DISCLOSURE})
        case FourPlayer():
            return frozenset({Kind.STATEMENTS})


def shows_kitty(game: Game, bid: int) -> bool:
    """Whether the kitty is shown to every seat at that bid."""
    match game:
        case ThreePlayer():
            return bid == 70
        case FourPlayer():
            return True


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a throw, and the card that was led instead where it failed."""

    stands: bool
    forced: CardId | None


@final
@dataclass(frozen=True, slots=True)
class Counters:
    """How many trumps and how many pairs of trumps a seat holds."""

    seat: Seat
    trumps: int
    pairs: int


@final
@dataclass(frozen=True, slots=True)
class Told:
    """What one step tells a viewer of hidden cards."""

    verdict: Verdict | None
    disclosure: tuple[int | None, ...]
    void: frozenset[Seat]
    counts: tuple[Counters, ...]
    statements: tuple[tuple[Seat, int, bool], ...]


NOTHING: Final = Told(None, (), frozenset(), (), ())
Hands: TypeAlias = dict[Seat, tuple[CardId, ...]]


def declassified(options: RoomOptions, steps: Sequence[Step], viewer: Viewer) -> Iterator[Told]:
    """What each step tells `viewer`, of steps that settle no deal."""
    announced: frozenset[Seat] = frozenset()
    for step in steps:
        deal = step.after.deal if isinstance(step.after, Running) else None
        if not isinstance(deal, Playing):
            announced = frozenset()
            yield NOTHING
            continue
        hands = {holder: ids(cards) for holder, cards in deal.hands.items()}
        void = _void(deal.order, hands) | announced
        first_lead_to_come = deal.trick is None
        yield Told(
            verdict=_verdict(step),
            disclosure=_disclosure(options, deal, hands, viewer) if first_lead_to_come else (),
            void=void,
            counts=_counts(options, deal.order, hands, viewer) if void else (),
            statements=_statements(options, deal.order, hands) if len(announced) < 2 <= len(void) else (),
        )
        announced = void


def trumps_of(tables: Order, hand: Sequence[CardId]) -> list[CardId]:
    """The trumps among those cards."""
    return [card for card in hand if tables.group[kind(card)] is Group.TRUMPS]


def _pairs(cards: Sequence[CardId]) -> list[int]:
    kinds = [card % KINDS for card in cards]
    return sorted({number for number in kinds if kinds.count(number) == 2})


def _void(tables: Order, hands: Hands) -> frozenset[Seat]:
    """The seats that hold no trump, except in the last trick."""
    if not all(hands.values()):
        return frozenset()
    return frozenset(seat for seat, hand in hands.items() if not trumps_of(tables, hand))


def _counts(options: RoomOptions, tables: Order, hands: Hands, viewer: Viewer) -> tuple[Counters, ...]:
    if not options.review or Kind.COUNTS not in kinds_told(options.game) or viewer is PUBLIC:
        return ()
    others = {other: trumps_of(tables, hand) for other, hand in hands.items() if other != viewer}
    return tuple(Counters(other, len(trumps), len(_pairs(trumps))) for other, trumps in others.items())


def _statements(options: RoomOptions, tables: Order, hands: Hands) -> tuple[tuple[Seat, int, bool], ...]:
    if Kind.STATEMENTS not in kinds_told(options.game):
        return ()
    held = {seat: trumps_of(tables, hand) for seat, hand in hands.items()}
    return tuple((seat, len(trumps), bool(_pairs(trumps))) for seat, trumps in held.items() if trumps)


def _disclosure(options: RoomOptions, deal: Playing, hands: Hands, viewer: Viewer) -> tuple[int | None, ...]:
    """Numbers of trumps, trump pairs and trump tractors, of jokers, of 7s and of 2s, each where it is told."""
    declarer = deal.contract.declarer
    if not options.review or Kind.DISCLOSURE not in kinds_told(options.game) or viewer in (declarer, PUBLIC):
        return ()
    kept = hands[declarer]
    faces = [FACES[kind(card)] for card in kept]
    jokers = sum(isinstance(face, Joker) for face in faces)
    sevens, twos = (
        sum(isinstance(face, Suited) and face.rank is rank for face in faces) for rank in (Rank.SEVEN, Rank.TWO)
    )
    numbers: tuple[int | None, ...] = (None, None, None)
    if jokers + sevens + twos >= HANDFUL_OF_FIXED_TRUMPS:
        trumps = trumps_of(deal.order, kept)
        numbers = (len(trumps), len(_pairs(trumps)), _runs(_pair_levels(deal.order, trumps)))
    return (*numbers, _if_at_least(3, jokers), _if_at_least(6, sevens), _if_at_least(6, twos))


def _if_at_least(enough: int, number: int) -> int | None:
    return number if number >= enough else None


def _pair_levels(tables: Order, trumps: Sequence[CardId]) -> set[int]:
    return {tables.strength[number] for number in _pairs(trumps)}


def _runs(levels: set[int]) -> int:
    """How many maximal runs of two or more neighbouring levels there are."""
    return sum(level - 1 not in levels and level + 1 in levels for level in levels)


def _verdict(step: Step) -> Verdict | None:
    """Whether a throw stood, where the step was one."""
    before = step.before.deal if isinstance(step.before, Running) else None
    if not (isinstance(before, Playing) and isinstance(step.move, Sent) and isinstance(step.move.command, Play)):
        return None
    thrown = cards_of(CardId(card) for card in step.move.command.cards)
    parts = components(before.order, thrown)
    if before.to_follow is not None or len(parts) == 1 or not _all_trumps(before.order, thrown):
        return None
    others = [trumps_of(before.order, ids(hand)) for seat, hand in before.hands.items() if seat != step.move.seat]
    if not any(_has_higher(before.order, trumps, part) for trumps in others for part in parts):
        return Verdict(stands=True, forced=None)
    return Verdict(stands=False, forced=min(ids(thrown), key=lambda card: (before.order.strength[kind(card)], card)))


def _all_trumps(tables: Order, cards: CardSet) -> bool:
    return len(trumps_of(tables, ids(cards))) == len(ids(cards))


def _has_higher(tables: Order, trumps: Sequence[CardId], part: Component) -> bool:
    levels = _pair_levels(tables, trumps)
    match part:
        case Single(level):
            return any(tables.strength[kind(card)] > level for card in trumps)
        case Pair(level):
            return any(held > level for held in levels)
        case Tractor(length, level):
            return any(top > level and {top - step for step in range(length)} <= levels for top in levels)
