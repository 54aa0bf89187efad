"""The subcommand: its arguments, and what it prints."""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from erqiwang_core.options import RoomOptions
from rich.console import Console
from rich.progress import Progress

from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.commands.arguments import BadArguments, at_least
from erqiwang_grpc.tools.simulate.gains import Comparison
from erqiwang_grpc.tools.simulate.record import csv_file
from erqiwang_grpc.tools.simulate.shown import show
from erqiwang_grpc.tools.simulate.simulation import Share, Simulation, compared, played, whole_matches
from erqiwang_grpc.tools.simulate.tally import Tally
from erqiwang_grpc.tools.table_arguments import (
    POLICIES,
    add_room_options,
    names_by_seat,
    policy_names,
    room_options,
    seats_of,
)
from erqiwang_grpc.tools.thinking import add_thinking_options, thinking
from erqiwang_grpc.tools.workers import WorkerEnded


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `simulate`."""
    parser.add_argument(
        "--deals",
        type=at_least(1),
        default=600,
        help="deals to play, rounded up to whole matches; with --against, deals that every table plays (default: 600)",
    )
    parser.add_argument("--seed", default="1", help="the same seed brings the same decks and luck (default: 1)")
    parser.add_argument(
        "--policy",
        type=policy_names,
        default=("sensible",),
        metavar="NAME[,NAME…]",
        help=f"who plays, for all seats or by seat; with --against, who is compared: {', '.join(POLICIES)} "
        "(default: sensible)",
    )
    comparing = parser.add_mutually_exclusive_group()
    comparing.add_argument(
        "--rotate",
        action="store_true",
        help="play each match again with the same decks until every policy has had every seat",
    )
    comparing.add_argument(
        "--against",
        choices=tuple(POLICIES),
        metavar="NAME",
        help="compare each policy with this one on the same decks: it has all seats, then each policy has one seat "
        "after the other and it has the rest. Single deals are played, not matches, and seat 0 bids first in each. "
        "The interval takes each deck for one independent difference",
    )
    parser.add_argument(
        "--processes",
        type=at_least(1),
        default=len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1,
        help="processes to play in, at most (default: one a core)",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, without times")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write one row a deal to this file, which is replaced if it exists"
    )
    add_thinking_options(parser)
    add_room_options(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Play, and print the counts. Gives 2 if the arguments do not fit together, the file cannot be written, or a process is killed."""
    interrupts.pass_while_python_exits()
    tally, start = Tally(), perf_counter()
    try:
        options = room_options(arguments)
        comparison = _comparison(arguments, options)
        simulation = _simulation(arguments, options, comparison)
        with csv_file(arguments.csv, seats_of(options)) as write:
            for share in _watched(simulation, arguments):
                tally.add_all(share.tally)
                write(share.records)
                if comparison is not None:
                    comparison.add_all(share.records)
    except BrokenPipeError:
        raise  # nobody reads the rows any more
    except (BadArguments, WorkerEnded, OSError) as error:
        print(f"erqiwang simulate: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        against = {} if comparison is None else {"against": comparison.json()}
        print(json.dumps(tally.json() | against, indent=2))
    else:
        show(tally, comparison, perf_counter() - start)
    return 0


def _comparison(arguments: Namespace, options: RoomOptions) -> Comparison | None:
    if arguments.against is None:
        return None
    return Comparison(arguments.against, tuple(dict.fromkeys(arguments.policy)), seats_of(options))


def _simulation(arguments: Namespace, options: RoomOptions, comparison: Comparison | None) -> Simulation:
    if comparison is not None:
        return compared(options, comparison, arguments.seed, arguments.deals, thinking(arguments))
    names = names_by_seat(arguments.policy, options)
    return whole_matches(options, names, arguments.seed, arguments.deals, thinking(arguments), rotate=arguments.rotate)


def _watched(simulation: Simulation, arguments: Namespace) -> Iterator[Share]:
    """The shares as they are played, with a progress bar on a terminal."""
    quiet = arguments.json or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        bar = progress.add_task("deals" if simulation.first_deal_only else "matches", total=simulation.matches)
        for share in played(simulation, arguments.processes):
            progress.advance(bar, share.matches)
            yield share
