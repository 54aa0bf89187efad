"""A match between policies, played out step by step."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import final

from erqiwang_core import match as matches
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Command, Event, Match, Over, Player, Shuffle, TakeSeat
from erqiwang_core.options import RoomOptions
from erqiwang_core.players.policy import Policy
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import BySeat
from erqiwang_core.units import Seat
from erqiwang_core.view import turn, view


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One command and what it brought about."""

    before: Match
    seat: Seat
    command: Command
    events: tuple[Event, ...]
    after: Match


def shuffles(options: RoomOptions, random: Random) -> Shuffle:
    """The decks of a match, each shuffled by `random` when its deal starts."""
    deck = game_rules(options.game, options.review).deck
    return lambda: Shuffled(tuple(random.sample(deck, len(deck))))


def begun(options: RoomOptions, shuffle: Shuffle) -> Match:
    """A match whose seats are all taken and whose first deal is dealt."""
    match = matches.begin(options)
    for seat in match.chairs.seats():
        events = matches.administer(match, TakeSeat(seat, Player(f"player {seat}")), shuffle)
        assert isinstance(events, tuple), "the seat is free"
        match = evolved(match, events)
    return match


def evolved(match: Match, events: tuple[Event, ...]) -> Match:
    """The match after all of `events`."""
    for event in events:
        match = matches.evolve(match, event)
    return match


def contest(options: RoomOptions, policies: BySeat[Policy], random: Random, shuffle: Shuffle) -> Iterator[Step]:
    """A whole match: each seat acts by its policy, in turn, until the account is made.

    `random` is what the policies draw from. A policy whose command is refused is wrong, and the contest fails.
    """
    match = begun(options, shuffle)
    while not isinstance(match, Over):
        for seat in _asked(match):
            command = policies[seat].act(view(match, seat), random)
            assert command is not None, f"seat {seat} has something to do"
            events = matches.decide(match, seat, command, shuffle)
            assert isinstance(events, tuple), f"{command} of seat {seat} was refused: {events}"
            after = evolved(match, events)
            yield Step(match, seat, command, events, after)
            match = after


def _asked(match: Match) -> tuple[Seat, ...]:
    """Whose turn it is, or every seat where all are to say that they are ready."""
    acting = turn(match).seat
    return match.chairs.seats() if acting is None else (acting,)
