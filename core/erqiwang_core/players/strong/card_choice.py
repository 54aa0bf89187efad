"""The card play of a strong player: each sensible choice is played out in many worlds."""

from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.awards import seat_awards
from erqiwang_core.kernel.hand import kinds, pairs
from erqiwang_core.kernel.shapes import Throw, component
from erqiwang_core.kernel.trump import groups_of
from erqiwang_core.players.cardplay import DECLARING, DEFENDING, follows, leads
from erqiwang_core.players.outlook import Outlook, outlook
from erqiwang_core.players.reading import agreed, rules_of
from erqiwang_core.players.sight import Sight
from erqiwang_core.players.strong.budget import Budget
from erqiwang_core.players.strong.choosing import compared
from erqiwang_core.players.strong.known_deal import KnownDeal
from erqiwang_core.players.strong.playout import play_out
from erqiwang_core.players.strong.stakes import Stakes, chips, stakes_of
from erqiwang_core.players.strong.worlds import Worlds
from erqiwang_core.units import CardSet

_MOST: Final = 8
"""The number of plays that are played out: those that a sensible player likes best."""
_SPREAD: Final = 10
"""How far the points of a playout are from those of a play, in points."""
_POINT: Final = 0.015
"""What a point that a sensible player expects of a play counts for, in base chips, beside the playouts."""


@final
@dataclass(frozen=True, slots=True)
class Considered:
    """A play that was considered."""

    cards: CardSet
    chips: float
    """The chips of the deal that it is expected to bring the seat."""
    worlds: int
    """The number of worlds that it was played out in; 0 if it was the only one."""


def considered(view: Sight, budget: Budget, random: Random) -> tuple[Considered, ...]:
    """The plays that the seat may choose from, best first; those that were given up early come last.

    `view` is that of a seat that must play.
    """
    seen = outlook(view)
    plays = _plays(seen)
    if len(plays) == 1:
        return (Considered(plays[0][0], 0.0, 0),)
    position = _Position(view, seen, [cards for cards, _ in plays], random)
    point = _POINT * agreed(view).base
    estimates = compared([point * value for _, value in plays], position.play_out, budget)
    return tuple(Considered(plays[found.choice][0], found.chips, found.worlds) for found in estimates)


def _plays(seen: Outlook) -> list[tuple[CardSet, float]]:
    """The plays that a sensible player likes best, with what it makes of them in points. Copies are not told apart."""
    weights = DECLARING if agreed(seen.view).declarer == seen.view.seat else DEFENDING
    found = leads(seen, weights) if seen.trick is None else follows(seen, seen.trick, weights)
    distinct = {(kinds(cards), pairs(cards)): (cards, value) for cards, value in found}
    return sorted(distinct.values(), key=lambda play: play[1], reverse=True)[:_MOST]


@final
class _Position:
    """The position that the plays are played out from, in one world after another."""

    def __init__(self, view: Sight, seen: Outlook, plays: list[CardSet], random: Random) -> None:
        self._worlds: Final = Worlds(view)
        self._random: Final = random
        self._seat: Final = view.seat
        self._captured: Final[int] = view.captured.points
        self._stakes: Final = _stakes(view)
        places = self._worlds.places
        self._rows: Final = [places.row(cards) for cards in plays]
        self._thrown: Final = [seen.trick is None and _is_throw(seen, cards) for cards in plays]
        self._trick: Final = [] if seen.trick is None else [places.row(played.cards) for played in seen.trick.plays]
        self._leader: Final[int] = view.seat if seen.trick is None else seen.trick.leader
        self._on_throw: Final = seen.trick is not None and isinstance(seen.trick.lead.shape, Throw)

    def play_out(self, choices: list[int]) -> list[float]:
        """Play these choices out in a new world; gives the chips of the seat for each."""
        world = self._worlds.draw(self._random)
        found = []
        for choice in choices:
            deal = KnownDeal(
                self._worlds.places, list(world.hands), self._worlds.declarer, self._leader, self._captured
            )
            self._play(deal, self._rows[choice], self._thrown[choice])
            found.append(chips(self._stakes, play_out(deal, world.buried)))
        return found

    def _play(self, deal: KnownDeal, row: int, thrown: bool) -> None:
        for place, played in enumerate(self._trick):
            if place:
                deal.follow(played)
            else:
                deal.lead(played, thrown=self._on_throw)
        if self._trick:
            deal.follow(row)
        else:
            deal.lead(row, thrown=thrown)


def _is_throw(seen: Outlook, cards: CardSet) -> bool:
    return component(seen.order, groups_of(seen.order, cards)[0], cards) is None


def _stakes(view: Sight) -> Stakes:
    rules, contract = rules_of(view), agreed(view)
    declares = contract.declarer == view.seat
    awards = _own_awards(view) if declares else 0
    return stakes_of(rules, rules.row(contract.bid), declares=declares, awards=awards, spread=_SPREAD)


def _own_awards(view: Sight) -> int:
    """The declarer's number of awards. In a no-review room only those that its cards in hand still show."""
    played = sum(play.cards for trick in view.history.tricks for play in trick.plays if play.seat == view.seat)
    return seat_awards(rules_of(view).awards, view.order, CardSet(view.hand.cards | played), declarer=True).total
