"""The card play of a strong player: each sensible choice is played out in many worlds."""

from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.awards import seat_awards
from erqiwang_core.kernel.hand import kinds, pairs
from erqiwang_core.kernel.shapes import Component, Throw, component, components
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
from erqiwang_core.players.strong.throws import led_if_it_fails, likely_throw, stands
from erqiwang_core.players.strong.worlds import World, Worlds
from erqiwang_core.playing import SignalKind, Signalled
from erqiwang_core.units import CardSet

_MOST: Final = 8
"""The number of plays that are played out: those that a sensible player likes best."""
_SPREAD: Final = 10
"""How far the points of a playout are from those of a play, in points."""
_POINT: Final = 0.015
"""What a point that a sensible player expects of a play counts for, in base chips, beside the playouts."""

_REDRAWN: Final = 4
"""How often a world is drawn again that does not agree with a signal."""
_AWARDS: Final = 1
"""The number of awards that the card play reckons with, at the most."""


@final
@dataclass(frozen=True, slots=True)
class Considered:
    """A play that was considered."""

    cards: CardSet
    chips: float
    """The chips of the deal that it is expected to bring the seat."""
    worlds: int
    """The number of worlds that it was played out in; 0 if it was the only one."""


def considered(
    view: Sight, budget: Budget, random: Random, signals: tuple[Signalled, ...] = ()
) -> tuple[Considered, ...]:
    """The plays that the seat may choose from, best first; those that were given up early come last.

    `view` is that of a seat that must play, `signals` are those that it was told in this trick.
    """
    seen = outlook(view, signals)
    plays = _plays(seen)
    if len(plays) == 1:
        return (Considered(plays[0][0], 0.0, 0),)
    position = _Position(view, seen, [cards for cards, _ in plays], signals, random)
    point = _POINT * agreed(view).base
    estimates = compared([point * value for _, value in plays], position.play_out, budget)
    return tuple(Considered(plays[found.choice][0], found.chips, found.worlds) for found in estimates)


def _plays(seen: Outlook) -> list[tuple[CardSet, float]]:
    """The plays that a sensible player likes best, with what it makes of them in points. Copies are not told apart."""
    weights = DECLARING if agreed(seen.view).declarer == seen.view.seat else DEFENDING
    found = leads(seen, weights) if seen.trick is None else follows(seen, seen.trick, weights)
    distinct = {(kinds(cards), pairs(cards)): (cards, value) for cards, value in found}
    best = sorted(distinct.values(), key=lambda play: play[1], reverse=True)[:_MOST]
    likely = likely_throw(seen) if seen.trick is None else None
    # A sensible player never throws what may fail, so it has no opinion: the playouts alone decide.
    return best if likely is None else [*best, (likely, best[-1][1])]


@final
class _Position:
    """The position that the plays are played out from, in one world after another."""

    def __init__(
        self, view: Sight, seen: Outlook, plays: list[CardSet], signals: tuple[Signalled, ...], random: Random
    ) -> None:
        self._worlds: Final = Worlds(view)
        self._random: Final = random
        still_to_play = (*seen.partners, *seen.foes) if seen.trick is not None else ()
        self._signals: Final = [signalled for signalled in signals if signalled.sender in still_to_play]
        self._captured: Final[int] = view.captured.points
        self._stakes: Final = _stakes(view)
        places = self._worlds.places
        self._rows: Final = [places.row(cards) for cards in plays]
        self._throws: Final = [_thrown(seen, cards) for cards in plays]
        self._if_failed: Final = [led_if_it_fails(places, cards) for cards in plays]
        self._trick: Final = [] if seen.trick is None else [places.row(played.cards) for played in seen.trick.plays]
        self._leader: Final[int] = view.seat if seen.trick is None else seen.trick.leader
        self._on_throw: Final = seen.trick is not None and isinstance(seen.trick.lead.shape, Throw)

    def play_out(self, choices: list[int]) -> list[float]:
        """Play these choices out in a new world; gives the chips of the seat for each."""
        world = self._drawn()
        found = []
        for choice in choices:
            deal = self._deal(world)
            if self._trick:
                deal.follow(self._rows[choice])
            else:
                self._lead(deal, choice)
            found.append(chips(self._stakes, play_out(deal, world.buried)))
        return found

    def _lead(self, deal: KnownDeal, choice: int) -> None:
        parts = self._throws[choice]
        if parts and not stands(deal, parts):
            deal.lead(self._if_failed[choice])
        else:
            deal.lead(self._rows[choice], thrown=bool(parts))

    def _drawn(self) -> World:
        """A new world, if possible one that agrees with what partners have signalled."""
        world = self._worlds.draw(self._random)
        for _ in range(_REDRAWN if self._signals else 0):
            if self._agrees(world):
                break
            world = self._worlds.draw(self._random)
        return world

    def _agrees(self, world: World) -> bool:
        deal = self._deal(world)
        return all(
            deal.may_take(signalled.sender) == (signalled.signal is SignalKind.CAN_BEAT) for signalled in self._signals
        )

    def _deal(self, world: World) -> KnownDeal:
        """The position in that world: the hands, and what lies on the table."""
        # A hand of a world lacks the cards on the table, which `lead` and `follow` take out of it.
        deal = KnownDeal(self._worlds.places, list(world.hands), self._worlds.declarer, self._leader, self._captured)
        for place, played in enumerate(self._trick):
            if place:
                deal.follow(played)
            else:
                deal.lead(played, thrown=self._on_throw)
        return deal


def _thrown(seen: Outlook, cards: CardSet) -> tuple[Component, ...]:
    """The components of a throw; empty for any other lead, and for the answer to one."""
    if seen.trick is not None or component(seen.order, groups_of(seen.order, cards)[0], cards) is not None:
        return ()
    return components(seen.order, cards)


def _stakes(view: Sight) -> Stakes:
    rules, contract = rules_of(view), agreed(view)
    declares = contract.declarer == view.seat
    awards = _own_awards(view) if declares else 0
    return stakes_of(rules, rules.row(contract.bid), declares=declares, awards=awards, spread=_SPREAD)


def _own_awards(view: Sight) -> int:
    """The declarer's number of awards. In a no-review room only those that its cards in hand still show."""
    played = sum(play.cards for trick in view.history.tricks for play in trick.plays if play.seat == view.seat)
    awards = seat_awards(rules_of(view).awards, view.order, CardSet(view.hand.cards | played), declarer=True).total
    # With two awards a deal that is lost by much pays as well. To play for that costs more than it brings.
    return min(awards, _AWARDS)
