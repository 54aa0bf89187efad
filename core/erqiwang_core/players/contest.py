"""A match between policies, played step by step."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import final

from erqiwang_core import match as matches, playing
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Command, Event, Match, Over, Player, Running, Shuffle, TakeSeat
from erqiwang_core.options import RoomOptions
from erqiwang_core.players.policy import Policy
from erqiwang_core.players.sight import Glance
from erqiwang_core.playing import Playing, Signalled
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import BySeat
from erqiwang_core.units import Seat


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One command, its events, and the match before and after."""

    before: Match
    seat: Seat
    command: Command
    events: tuple[Event, ...]
    after: Match


def shuffles(options: RoomOptions, random: Random) -> Shuffle:
    """A shuffle for a match with these options: each call gives a deck shuffled with `random`."""
    deck = game_rules(options.game, options.review).deck
    return lambda: Shuffled(tuple(random.sample(deck, len(deck))))


def begun(options: RoomOptions, shuffle: Shuffle) -> Match:
    """A match with all seats taken and the first deal dealt."""
    match = matches.begin(options)
    for seat in match.chairs.seats():
        events = matches.administer(match, TakeSeat(seat, Player(f"player {seat}")), shuffle)
        assert isinstance(events, tuple), "the seat is free"
        match = evolved(match, events)
    return match


def evolved(match: Match, events: tuple[Event, ...]) -> Match:
    """The match after all of `events`, in order."""
    for event in events:
        match = matches.evolve(match, event)
    return match


def contest(options: RoomOptions, policies: BySeat[Policy], random: Random, shuffle: Shuffle) -> Iterator[Step]:
    """Plays a whole match between `policies` and gives each step as it happens.

    `random` is the random source of the policies. A refused command is a bug in its policy and fails an assert.
    """
    match = begun(options, shuffle)
    while not isinstance(match, Over):
        for seat in matches.to_act(match):
            command = policies[seat].act(
                Glance(match, seat), random, partial(signals_to, match, seat, policies, random)
            )
            assert command is not None, f"seat {seat} has something to do"
            events = matches.decide(match, seat, command, shuffle)
            assert isinstance(events, tuple), f"{command} of seat {seat} was refused: {events}"
            after = evolved(match, events)
            yield Step(match, seat, command, events, after)
            match = after


def signals_to(match: Match, seat: Seat, policies: BySeat[Policy], random: Random) -> tuple[Signalled, ...]:
    """What the other defenders signal to the seat whose turn it is; nothing if it is no defender in play."""
    if not isinstance(match, Running) or not isinstance(match.deal, Playing):
        return ()
    deal, found = match.deal, list[Signalled]()
    if seat == deal.contract.declarer:
        return ()
    for other in match.chairs.seats():
        signal = None if other == seat else policies[other].signal(Glance(match, other), random)
        reply = None if signal is None else playing.answer(deal, other, signal)
        if isinstance(reply, Signalled):
            found.append(reply)
    return tuple(found)
