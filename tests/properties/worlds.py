"""Other worlds: the same deal as far as a viewer may know, with cards exchanged that it does not see.

A world is a deck and the moves that were made. The other world has the same moves, except for what is hidden in them:
what the declarer buried, and what a failed throw held. An exchange is kept only where every move stays legal and the
rules tell the viewer the same of the hidden cards (see `declassified`); nothing here looks at what the core tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, final

from erqiwang_core.bidding import Bidding
from erqiwang_core.burying import Bury, Burying
from erqiwang_core.deal import Deal
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.hand import EMPTY, count, ids, without
from erqiwang_core.match import DealStarted, Match, Running, begin
from erqiwang_core.naming import Naming
from erqiwang_core.options import RoomOptions
from erqiwang_core.playing import CardsLed, Play, Playing
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import Settled
from erqiwang_core.units import CardId, CardSet
from erqiwang_core.viewer import Viewer

from tests.deals.decks import COMMITMENT
from tests.deals.plans import Plan
from tests.deals.walk import Move, Sent, Step, advance, steps
from tests.properties.declassified import declassified

TRIES: Final = 12
"""How often exchanges are tried for one other world."""
AT_ONCE: Final = (1, 1, 2, 4)
"""How many are tried together: early on nearly all may stand, later hardly any."""


@final
@dataclass(frozen=True, slots=True)
class World:
    """A deal: the match before it, its deck, and all moves from the one that starts it."""

    options: RoomOptions
    start: Match
    order: tuple[CardId, ...]
    moves: tuple[Move, ...]


@final
@dataclass(frozen=True, slots=True)
class Twin:
    """Another world that looks the same to a viewer, as far as the rules tell it anything."""

    world: World
    moved: int
    """How many cards lie elsewhere than in the first world, among the places that the viewer does not see."""


def recorded(plan: Plan, deal: int) -> World:
    """The world of that deal of a walk, up to the move that settles it and without it."""
    start: Match = begin(plan.options)
    order: tuple[CardId, ...] = ()
    moves: list[Move] = []
    for step in steps(plan, deals_played=deal):
        started = step.changes[-1].event
        if isinstance(started, DealStarted):
            start, order, moves = step.before, started.shuffled.order, []
        moves.append(step.move)
    return World(plan.options, start, order, tuple(moves[:-1]))


def run(world: World) -> tuple[Step, ...] | None:
    """The steps of a world; None where the rules refuse one of its moves."""
    shuffled = Shuffled(world.order, salt=bytes(world.order), commitment=COMMITMENT)
    match = world.start
    taken: list[Step] = []
    for move in world.moves:
        step = advance(match, move, lambda: shuffled)
        if not isinstance(step, Step):
            return None
        taken.append(step)
        match = step.after
    return tuple(taken)


def twin(world: World, viewer: Viewer, chance: Random) -> Twin:
    """Another world for `viewer`, as different from `world` as some exchanges make it."""
    taken = run(world)
    assert taken is not None, "a recorded world is legal"
    told = list(declassified(world.options, taken, viewer))
    other, other_taken = world, taken
    for _ in range(TRIES):
        candidate = other
        for _ in range(chance.choice(AT_ONCE)):
            candidate = _candidate(candidate, other_taken, viewer, chance)
        candidate_taken = run(candidate)
        if candidate_taken is not None and list(declassified(world.options, candidate_taken, viewer)) == told:
            other, other_taken = candidate, candidate_taken
    places = zip(hidden(taken, viewer), hidden(other_taken, viewer), strict=True)
    return Twin(other, sum(count(without(here, there)) for here, there in places))


def hidden(taken: Sequence[Step], viewer: Viewer) -> list[CardSet]:
    """The cards at each place that `viewer` does not see, as the last step leaves them."""
    deal = _deal(taken)
    match deal:
        case Bidding(dealt=dealt):
            return [*_others(dealt.hands, viewer), dealt.kitty]
        case Naming(hands=hands) | Burying(hands=hands):
            return _others(hands, viewer)
        case Playing(hands=hands, buried=buried, contract=contract):
            return [*_others(hands, viewer), *([buried] if contract.declarer != viewer else [])]
        case Settled():
            raise AssertionError("a world ends before the settlement, which opens everything")


def _deal(taken: Sequence[Step]) -> Deal:
    after = taken[-1].after
    assert isinstance(after, Running), "a world is a deal that runs"
    return after.deal


def _others(hands: BySeat[CardSet], viewer: Viewer) -> list[CardSet]:
    return [cards for holder, cards in hands.items() if holder != viewer]


def _candidate(world: World, taken: Sequence[Step], viewer: Viewer, chance: Random) -> World:
    """A world with one thing exchanged; whether it may stand is for the caller to see."""
    deal = _deal(taken)
    ways = [_exchanged(world, deal, hidden(taken, viewer), chance)]
    if isinstance(deal, Playing):
        if deal.contract.declarer != viewer:
            ways.append(_otherwise_buried(world, deal, chance))
        failed = _failed_throws(taken, viewer)
        if failed:
            ways.append(_otherwise_thrown(world, chance.choice(failed), chance))
    return chance.choice(ways)


def _exchanged(world: World, deal: Deal, places: list[CardSet], chance: Random) -> World:
    """Two cards at different places change their places from the deal on."""
    if len(places) < 2:
        return world
    one_place, other_place = chance.sample(places, 2)
    known = deal.dealt.kitty if not isinstance(deal, Bidding) and _kitty_is_shown(deal) else EMPTY
    ones, others = ids(without(one_place, known)), ids(without(other_place, known))
    if not ones or not others:
        return world
    one, other = chance.choice(ones), chance.choice(others)
    return replace(
        world,
        order=tuple(_swap(card, one, other) for card in world.order),
        moves=tuple(_with_swapped(move, one, other) for move in world.moves),
    )


def _kitty_is_shown(deal: Naming | Burying | Playing | Settled) -> bool:
    return not isinstance(deal, Settled) and deal.contract.row.kitty_shown


def _otherwise_buried(world: World, deal: Playing, chance: Random) -> World:
    """The declarer buries a card that was kept, and keeps one that was buried."""
    kept = ids(deal.hands[deal.contract.declarer])
    if not kept:
        return world
    one, other = chance.choice(ids(deal.buried)), chance.choice(kept)
    return replace(world, moves=tuple(_with_swapped(move, one, other) for move in world.moves))


def _failed_throws(taken: Sequence[Step], viewer: Viewer) -> list[int]:
    """The moves by which somebody else threw and failed."""
    events = [step.changes[0].event for step in taken]
    return [
        number
        for number, event in enumerate(events)
        if isinstance(event, CardsLed) and event.attempted is not None and event.seat != viewer
    ]


def _otherwise_thrown(world: World, number: int, chance: Random) -> World:
    """A throw that failed was attempted with a card less."""
    move = world.moves[number]
    assert isinstance(move, Sent), "a seat threw"
    assert isinstance(move.command, Play), "it threw cards"
    if len(move.command.cards) <= 2:
        return world
    left_out = chance.choice(move.command.cards)
    thrown = tuple(card for card in move.command.cards if card != left_out)
    return replace(world, moves=(*world.moves[:number], Sent(move.seat, Play(thrown)), *world.moves[number + 1 :]))


def _swap(card: CardId, one: CardId, other: CardId) -> CardId:
    return other if card == one else one if card == other else card


def _with_swapped(move: Move, one: CardId, other: CardId) -> Move:
    if not isinstance(move, Sent):
        return move
    command = move.command
    if not isinstance(command, Bury | Play):
        return move
    cards = tuple(_swap(CardId(card), one, other) for card in command.cards)
    return Sent(move.seat, Bury(cards) if isinstance(command, Bury) else Play(cards))
