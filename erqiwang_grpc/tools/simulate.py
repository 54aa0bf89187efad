"""`erqiwang simulate`: plays whole matches between policies, and counts what happened.

The matches are independent of one another, so they are shared among processes. What is counted depends on the seed
alone, not on the number of processes.
"""

import json
import multiprocessing
import os
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from time import perf_counter
from typing import Final, final

from erqiwang_core.options import RoomOptions
from erqiwang_core.players import contest, shuffles
from erqiwang_core.seats import BySeat, by_seat
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table

from erqiwang_grpc.commands.arguments import BadArguments, at_least
from erqiwang_grpc.tools.table_arguments import POLICIES, add_room_options, names_by_seat, policy_names, room_options
from erqiwang_grpc.tools.tally import OUTCOMES, Tally

_SHARE: Final = 8
"""Matches in a share, the work that a process takes at a time. One share takes as long as starting a process."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `simulate`."""
    parser.add_argument(
        "--deals", type=at_least(1), default=600, help="deals to play, rounded up to whole matches (default: 600)"
    )
    parser.add_argument("--seed", default="1", help="the same seed brings the same matches (default: 1)")
    parser.add_argument(
        "--policy",
        type=policy_names,
        default=("sensible",),
        metavar="NAME[,NAME…]",
        help=f"who plays, for all seats or by seat: {', '.join(POLICIES)} (default: sensible)",
    )
    parser.add_argument(
        "--rotate",
        action="store_true",
        help="play each match again with the same decks until every policy has had every seat",
    )
    parser.add_argument(
        "--processes",
        type=at_least(1),
        default=len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1,
        help="processes to play in, at most (default: one a core)",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, without times")
    add_room_options(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Play, and print the counts. Gives 2 if the arguments do not fit together."""
    try:
        options = room_options(arguments)
        names = names_by_seat(arguments.policy, options)
    except BadArguments as bad:
        print(f"erqiwang simulate: {bad}", file=sys.stderr)
        return 2
    simulation = Simulation(options, names, arguments.seed, arguments.deals, rotate=arguments.rotate)
    tally, start = Tally(), perf_counter()
    quiet = arguments.json or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        bar = progress.add_task("matches", total=simulation.matches)
        for matches, counted in played(simulation, arguments.processes):
            tally.add_all(counted)
            progress.advance(bar, matches)
    seconds = perf_counter() - start
    if arguments.json:
        print(json.dumps(tally.json(), indent=2))
    else:
        _print(tally, seconds)
    return 0


@final
@dataclass(frozen=True, slots=True)
class Simulation:
    """The matches to play."""

    options: RoomOptions
    names: BySeat[str]
    """The policy of each seat, in the first rotation."""
    seed: str
    deals: int
    """The least number of deals. Every match is played to its end."""
    rotate: bool

    @property
    def matches(self) -> int:
        """The number of matches."""
        tables = len(self.names) if self.rotate else 1
        return tables * -(-self.deals // (self.options.deals * tables))

    def seating(self, number: int) -> BySeat[str]:
        """The policy on each seat in match `number`, counted from 0."""
        if not self.rotate:
            return self.names
        seats = len(self.names)
        return by_seat(seats, lambda seat: self.names.values[(seat + number) % seats])

    def block(self, number: int) -> int:
        """The number of the decks of match `number`. If seats rotate, each rotation has the same decks."""
        return number // len(self.names) if self.rotate else number

    def decks(self, number: int) -> Random:
        """The random source of a match's decks. If seats rotate, each rotation gets the same decks."""
        return Random(f"{self.seed}/{self.block(number)}/decks")

    def luck(self, number: int) -> Random:
        """The random source of the players in a match."""
        return Random(f"{self.seed}/{number}/players")


def played(simulation: Simulation, processes: int) -> Iterator[tuple[int, Tally]]:
    """Play the matches in that number of processes at most; gives the number of matches of each share, and its counts."""
    shares = [range(first, min(first + _SHARE, simulation.matches)) for first in range(0, simulation.matches, _SHARE)]
    workers = min(processes, len(shares))
    if workers == 1:
        for share in shares:
            yield play(simulation, share)
        return
    # Not forked: a fork copies no threads, and some program that calls this may have some.
    with _without_ctrl_c():
        pool = multiprocessing.get_context("spawn").Pool(workers)
    with pool:
        yield from pool.imap_unordered(partial(play, simulation), shares)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Hold Ctrl-C back. Processes that are started meanwhile never see it: this process ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def play(simulation: Simulation, share: range) -> tuple[int, Tally]:
    """Play the matches with the numbers in `share`; gives how many they are, and what was counted."""
    tally = Tally()
    for number in share:
        names = simulation.seating(number)
        policies = names.map(lambda name: POLICIES[name])
        decks = shuffles(simulation.options, simulation.decks(number))
        for step in contest(simulation.options, policies, simulation.luck(number), decks):
            tally.add(step, names.values, simulation.block(number))
    return len(share), tally


def _print(tally: Tally, seconds: float) -> None:
    console = Console()
    console.print(_outcomes(tally))
    console.print(_counts(tally))
    console.print(_chips(tally))
    console.print(
        f"{tally.deals:,} deals in {seconds:.1f} s: {tally.deals / seconds:,.0f} deals "
        f"and {tally.decisions / seconds:,.0f} decisions a second"
    )


def _outcomes(tally: Tally) -> Table:
    table = Table(Column("bid", justify="right"), *(_outcome_column(name) for name in OUTCOMES))
    for bid in tally.bids():
        table.add_row(str(bid), *(f"{tally.outcomes[bid, name] or '':}" for name in OUTCOMES))
    return table


def _outcome_column(name: str) -> Column:
    """A column as wide as the longest word of its name, so that all of them fit into 80 columns."""
    return Column(name, justify="right", width=max(len(word) for word in name.split()))


def _counts(tally: Tally) -> Table:
    table = Table("", Column("in all", justify="right"), Column("a deal", justify="right"))
    rows = {
        "tricks": tally.tricks,
        "captured points": tally.captured,
        "throws": tally.throws,
        "failed throws": tally.failed_throws,
        "ruffs": tally.ruffs,
    }
    rows |= {f"kitty captured ×{times}": number for times, number in sorted(tally.kitty_captures.items())}
    for name, number in rows.items():
        table.add_row(name, f"{number:,}", f"{number / tally.deals:.2f}")
    return table


def _chips(tally: Tally) -> Table:
    table = Table(
        "policy",
        Column("chips", justify="right"),
        Column("a deal and seat", justify="right"),
        Column("95 %", justify="right"),
    )
    for name in sorted(tally.seats):
        margin = tally.margin(name)
        interval = "" if margin is None else f"±{margin:.2f}"
        table.add_row(name, f"{tally.chips[name]:+,}", f"{tally.chips_per_deal(name):+.2f}", interval)
    return table
