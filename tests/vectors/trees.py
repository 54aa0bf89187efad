"""Counted trees of endgames: every legal play to the end of a deal, counted twice, by the core and by the plain twin.

A tree that counts right has every legal play in it and none that is not, every trick won by the right seat, and every
kitty capture right: the sum of the grades at its ends tells.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import final

from erqiwang_core import playing
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.trump import SuitTrump
from erqiwang_core.notation import write_trump
from erqiwang_core.playing import Play, Playing
from erqiwang_core.settlement import Settled

from tests.oracle.faces import NO_TRUMP, Cards, points
from tests.oracle.following import legal_plays
from tests.oracle.shapes import Part, led
from tests.oracle.tricks import capture_multiplier, forced, stands, winner


@final
@dataclass(frozen=True, slots=True)
class Tree:
    """What a tree of plays holds."""

    plays: int
    """All plays in it."""
    ends: int
    """The ways in which the deal may end."""
    grades: int
    """The sum of the captured points, kitty captures with them, over all ends."""


def _joined(trees: Iterator[Tree]) -> Tree:
    found = list(trees)
    return Tree(
        plays=len(found) + sum(tree.plays for tree in found),
        ends=sum(tree.ends for tree in found),
        grades=sum(tree.grades for tree in found),
    )


def counted(deal: Playing | Settled) -> Tree:
    """The tree of a deal, by the core."""
    if isinstance(deal, Settled):
        return Tree(0, 1, deal.settlement.grade)
    return _joined(counted(after) for after in _after_each_play(deal))


def _after_each_play(deal: Playing) -> Iterator[Playing | Settled]:
    held = ids(deal.hands[deal.turn])
    sizes = range(1, len(held) + 1) if deal.to_follow is None else (deal.to_follow.count,)
    for cards in (cards for size in sizes for cards in combinations(held, size)):
        events = playing.decide(deal, deal.turn, Play(cards))
        if isinstance(events, tuple):
            after: Playing | Settled = deal
            for event in events:
                assert isinstance(after, Playing), "a settlement is the last event"
                after = playing.evolve(after, event)
            yield after


@final
@dataclass(frozen=True, slots=True)
class Endgame:
    """A deal between two tricks, as the twin knows it."""

    trump: str
    declarer: int
    buried: Cards
    hands: tuple[Cards, ...]
    leader: int
    captured: int


def endgame(deal: Playing) -> Endgame:
    """The endgame of a deal that is between two tricks."""
    assert deal.to_follow is None, "between two tricks"
    trump = deal.order.trump
    return Endgame(
        trump=write_trump(trump) if isinstance(trump, SuitTrump) else NO_TRUMP,
        declarer=deal.contract.declarer,
        buried=frozenset(ids(deal.buried)),
        hands=tuple(frozenset(ids(hand)) for hand in deal.hands),
        leader=deal.turn,
        captured=deal.points,
    )


def twin_counted(game: Endgame) -> Tree:
    """The tree of an endgame, by the twin."""
    return _joined(_followed(game, [lead]) for lead in _leads(game))


def _leads(game: Endgame) -> Iterator[Cards]:
    """What each set of cards that may be led comes to: a failed throw to one card."""
    hand = game.hands[game.leader]
    others = [held for seat, held in enumerate(game.hands) if seat != game.leader]
    for cards in (frozenset(cards) for size in range(1, len(hand) + 1) for cards in combinations(hand, size)):
        shape = led(cards, game.trump)
        if shape is not None:
            failed = not isinstance(shape, Part) and not stands(cards, others, game.trump)
            yield frozenset({forced(cards, game.trump)}) if failed else cards


def _followed(game: Endgame, plays: list[Cards]) -> Tree:
    seats = len(game.hands)
    if len(plays) == seats:
        return _after_trick(game, plays)
    hand = game.hands[(game.leader + len(plays)) % seats]
    return _joined(_followed(game, [*plays, play]) for play in legal_plays(plays[0], hand, game.trump))


def _after_trick(game: Endgame, plays: list[Cards]) -> Tree:
    seats, best = len(game.hands), winner(plays, game.trump)
    taker = (game.leader + best) % seats
    hands = tuple(game.hands[seat] - plays[(seat - game.leader) % seats] for seat in range(seats))
    defended = taker != game.declarer
    captured = game.captured + (points(frozenset().union(*plays)) if defended else 0)
    if not any(hands):
        capture = points(game.buried) * capture_multiplier(plays[best], game.trump) if defended else 0
        return Tree(0, 1, captured + capture)
    return twin_counted(Endgame(game.trump, game.declarer, game.buried, hands, taker, captured))
