"""Simulation: which policies play, with which decks, and how often. It is played in one process or in several.

The matches are independent of one another, so they are shared among processes. What happens in them depends on the seed
alone, not on the number of processes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from random import Random
from time import perf_counter
from typing import Final, final

from erqiwang_core.match import Command
from erqiwang_core.options import RoomOptions
from erqiwang_core.players import Heard, Policy, Sight, contest, nothing_heard, shuffles
from erqiwang_core.playing import Signal
from erqiwang_core.seats import BySeat, by_seat

from erqiwang_grpc.tools.simulate.gains import Comparison
from erqiwang_grpc.tools.simulate.record import DealRecord, Place, recorded
from erqiwang_grpc.tools.simulate.tally import Tally
from erqiwang_grpc.tools.table_arguments import POLICIES
from erqiwang_grpc.tools.thinking import DEFAULT, Thinking, budgets
from erqiwang_grpc.tools.workers import shared_out

_SHARE: Final = 8
"""Matches in a share, the work that a process takes at a time. One share takes as long as starting a process."""


@final
@dataclass(frozen=True, slots=True)
class Simulation:
    """The matches to play. They come in blocks: the matches of a block have the same decks."""

    options: RoomOptions
    tables: tuple[BySeat[str], ...]
    """The policies by seat in each match of a block."""
    blocks: int
    seed: str
    thinking: Thinking = DEFAULT
    """How long strong players think."""
    first_deal_only: bool = False
    """Whether each match ends with its first deal, which seat 0 bids first in."""

    @property
    def matches(self) -> int:
        """The number of matches."""
        return self.blocks * len(self.tables)

    def place(self, match: int) -> Place:
        """The block, the table and the policies of match number `match`, counted from 0."""
        block, table = divmod(match, len(self.tables))
        return Place(match, block, table, self.tables[table].values)

    def decks(self, place: Place) -> Random:
        """The random source of a match's decks."""
        return Random(f"{self.seed}/{place.block}/decks")

    def player(self, place: Place, seat: int) -> "Player":
        """Somebody who plays the policy of that seat in a match.

        Its luck is the same at every table of the block, so that tables differ by their policies alone.
        """
        return Player(
            POLICIES[place.policies[seat]](budgets(self.thinking)), Random(f"{self.seed}/{place.block}/{seat}/players")
        )


def whole_matches(
    options: RoomOptions, names: BySeat[str], seed: str, deals: int, thinking: Thinking = DEFAULT, *, rotate: bool
) -> Simulation:
    """Whole matches between the policies `names`, with `deals` deals at least.

    With `rotate`, each block has as many matches as there are seats, and every policy has every seat once.
    """
    tables = tuple(_turned(names, by) for by in range(len(names))) if rotate else (names,)
    return Simulation(options, tables, -(-deals // (options.deals * len(tables))), seed, thinking)


def _turned(names: BySeat[str], by: int) -> BySeat[str]:
    """Everybody `by` seats back: seat 0 has what was on seat `by`."""
    return by_seat(len(names), lambda seat: names.values[(seat + by) % len(names)])


def compared(
    options: RoomOptions, comparison: Comparison, seed: str, deals: int, thinking: Thinking = DEFAULT
) -> Simulation:
    """`deals` single deals, each of which all tables of the comparison play.

    They are no whole matches. In a match the first bidder of a later deal depends on who won the deal before. Tables
    would then play one deck with different first bidders, and only whole matches would be independent (measured: the
    same gains, with intervals up to an eighth wider). Here seat 0 always bids first. Every seat gets the same cards on
    average, so seats differ only by their turn in the bidding.
    """
    return Simulation(options, comparison.tables(), deals, seed, thinking, first_deal_only=True)


@final
@dataclass(slots=True)
class Player:
    """A policy on a seat. It has luck of its own, and its decisions are counted and timed."""

    policy: Policy
    luck: Random
    decisions: int = 0
    seconds: float = 0.0

    def act(self, view: Sight, random: Random, heard: Heard = nothing_heard) -> Command | None:
        """What the policy decides. `random` is not used: nobody's luck depends on how much of it others need."""
        start = perf_counter()
        command = self.policy.act(view, self.luck, heard)
        self.seconds += perf_counter() - start
        self.decisions += 1
        return command

    def signal(self, view: Sight, random: Random) -> Signal | None:
        """The signal that the policy sends."""
        return self.policy.signal(view, self.luck)


@final
@dataclass
class Share:
    """What came of some matches."""

    matches: int
    tally: Tally = field(default_factory=Tally)
    records: list[DealRecord] = field(default_factory=list)
    """All deals, in the order of matches and deals."""


def played(simulation: Simulation, processes: int) -> Iterator[Share]:
    """Play the matches in that number of processes at most; gives the shares in the order of their matches.

    Raises `WorkerEnded`.
    """
    shares = [range(first, min(first + _SHARE, simulation.matches)) for first in range(0, simulation.matches, _SHARE)]
    return shared_out(partial(play, simulation), shares, processes)


def play(simulation: Simulation, matches: range) -> Share:
    """Play the matches with these numbers."""
    share = Share(len(matches))
    for match in matches:
        _play(simulation, simulation.place(match), share)
    return share


def _play(simulation: Simulation, place: Place, share: Share) -> None:
    players = tuple(simulation.player(place, seat) for seat in range(len(place.policies)))
    decks = shuffles(simulation.options, simulation.decks(place))
    for step in contest(simulation.options, BySeat[Policy](players), Random(0), decks):
        share.tally.add(step, place.policies, place.block)
        record = recorded(step, place)
        if record is not None:
            share.records.append(record)
            if simulation.first_deal_only:
                break
    for name, player in zip(place.policies, players, strict=True):
        share.tally.add_pace(name, player.decisions, player.seconds)
