"""Walks: matches played by legal commands, step by step."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TypeAlias, final

from erqiwang_core import deal as deals
from erqiwang_core.match import (
    Command,
    Event,
    HouseCommand,
    Match,
    Over,
    Player,
    Running,
    Shuffle,
    StartMatch,
    TakeSeat,
    administer,
    begin,
    decide,
    evolve,
)
from erqiwang_core.refusals import Refusal
from erqiwang_core.rules import game_rules
from erqiwang_core.settlement import Settled
from erqiwang_core.units import Seat
from erqiwang_core.view import view

from tests.deals.decks import shuffled
from tests.deals.manners import choose
from tests.deals.plans import Plan


@final
@dataclass(frozen=True, slots=True)
class Sent:
    """A command by a seat."""

    seat: Seat
    command: Command


Move: TypeAlias = Sent | HouseCommand


@final
@dataclass(frozen=True, slots=True)
class Change:
    """One event, between the match before and after it."""

    before: Match
    event: Event
    after: Match


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One accepted move and everything it brought about, in order; nothing, for a seat that was ready already."""

    move: Move
    before: Match
    """The match that the move was made in."""
    changes: tuple[Change, ...]

    @property
    def after(self) -> Match:
        """The match that the move led to."""
        return self.changes[-1].after if self.changes else self.before


def ask(match: Match, move: Move, shuffle: Shuffle) -> tuple[Event, ...] | Refusal:
    """What the core says to a move."""
    return (
        decide(match, move.seat, move.command, shuffle) if isinstance(move, Sent) else administer(match, move, shuffle)
    )


def advance(match: Match, move: Move, shuffle: Shuffle) -> Step | Refusal:
    """The step that a move makes, or why it may not."""
    events = ask(match, move, shuffle)
    if not isinstance(events, tuple):
        return events
    changes: list[Change] = []
    after = match
    for event in events:
        changes.append(Change(after, event, evolve(after, event)))
        after = changes[-1].after
    return Step(move, match, tuple(changes))


def steps(plan: Plan, deals_played: int = 1) -> Iterator[Step]:
    """A match from its first seat on, until so many deals are settled or the match is over."""
    chance = Random(plan.seed)
    deck = game_rules(plan.options.game, plan.options.review).deck
    match: Match = begin(plan.options)
    while not finished(match, deals_played):
        step = advance(match, _next_move(plan, chance, match), lambda: shuffled(deck, plan.stack, chance))
        assert isinstance(step, Step), f"refused: {step}"
        yield step
        match = step.after


def turn(match: Match) -> Seat | None:
    """Who is to bid, name, bury or play; None where nobody is."""
    return deals.turn(match.deal) if isinstance(match, Running) else None


def finished(match: Match, deals_played: int) -> bool:
    """Whether the match is over or so many of its deals are settled."""
    if isinstance(match, Running):
        return isinstance(match.deal, Settled) and match.deal.dealt.number >= deals_played
    return isinstance(match, Over)


def _next_move(plan: Plan, chance: Random, match: Match) -> Move:
    if not isinstance(match, Running):
        seat = next((seat for seat, chair in match.chairs.items() if chair.player is None), None)
        return StartMatch() if seat is None else TakeSeat(seat, Player(f"player {seat}"))
    if isinstance(match.deal, Settled):
        seat = chance.choice([seat for seat, ready in match.deal.ready.items() if not ready])
    else:
        acting = turn(match)
        assert acting is not None, "somebody is to act in an unfinished deal"
        seat = acting
    return Sent(seat, choose(plan.manners, chance, view(match, seat)))


def positions(plan: Plan, deals_played: int = 1) -> Iterator[Match]:
    """Every match that a walk passes between two moves."""
    match: Match = begin(plan.options)
    yield match
    for step in steps(plan, deals_played):
        yield step.after
