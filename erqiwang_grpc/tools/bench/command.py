"""`erqiwang bench`: measures the server under load, beside a relay that sends the same messages and knows no game.

The figure to read first is how often the CPU time of a relayed turn a turn of the server takes, as fast as they can.
"""

import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress, TaskID

from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.commands.arguments import BadArguments, between
from erqiwang_grpc.tools.bench.failure import BenchFailed
from erqiwang_grpc.tools.bench.measuring import Plan, Report, measure
from erqiwang_grpc.tools.bench.orders import Way
from erqiwang_grpc.tools.bench.shown import shown
from erqiwang_grpc.tools.table_arguments import add_room_options, room_options
from erqiwang_grpc.tools.terminal.console import Console as Figures

_MOST_SECONDS: Final = 600
_WAYS: Final[tuple[Way, ...]] = ("streams", "gateway")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `bench`."""
    parser.description = (
        "Measure the server under load, over streams of seats and through a gateway, and beside it a relay that sends "
        "the same messages and knows no game: as fast as they can, and at a rate. Scripted seats play on real streams. "
        "Server, relay and seats run in separate processes."
    )
    parser.add_argument("--rooms", type=between(1, 2_000), default=100, help="number of rooms that play (default: 100)")
    parser.add_argument(
        "--seconds",
        type=between(1, _MOST_SECONDS),
        help=f"longest time that each measurement plays, in seconds (default: 5; with --deals {_MOST_SECONDS})",
    )
    parser.add_argument("--rounds", type=between(1, 100), default=5, help="rounds whose medians are given (default: 5)")
    parser.add_argument(
        "--ways",
        type=_ways,
        default=_WAYS,
        metavar="WAYS",
        help=f"how seats reach the server: {' or '.join(_WAYS)}, or both with a comma between (default: both)",
    )
    parser.add_argument(
        "--deals",
        type=between(1, 1_000),
        help="deals to play in each room, one match after another; a measurement then ends (default: no limit)",
    )
    parser.add_argument(
        "--rate",
        type=between(0, 100_000),
        default=500,
        help="turns a second in all rooms together, beside as fast as they can; 0 for that alone (default: 500)",
    )
    parser.add_argument(
        "--idle-streams",
        type=between(0, 30_000),
        default=0,
        help="attached seats that send nothing, rounded down to whole rooms (default: 0)",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="also measure the server with its rooms stored in DIR, where they stay"
    )
    parser.add_argument(
        "--processes",
        type=between(1, 64),
        default=_all_cores_but_one(),
        help="processes that play the rooms (default: one for each core but one)",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_room_options(parser)
    parser.set_defaults(run=run)


def _ways(text: str) -> tuple[Way, ...]:
    """The ways of a list with commas, in the order in which they are measured."""
    named = {each.strip() for each in text.split(",")}
    if not named <= set(_WAYS):
        raise ArgumentTypeError(f"name {' or '.join(_WAYS)}, or both with a comma between")
    return tuple(way for way in _WAYS if way in named)


def _all_cores_but_one() -> int:
    return max(1, (os.cpu_count() or 2) - 1)


def run(arguments: Namespace) -> int:
    """Measure, and print the figures. Gives 1 if a stream or a command failed, and 2 if nothing could be measured."""
    try:
        plan = _plan(arguments)
    except BadArguments as bad:
        print(f"erqiwang bench: {bad}", file=sys.stderr)
        return 2
    quiet = arguments.json or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        try:
            result = interrupts.run(measure(plan, _bars(progress)))
            found = json.dumps(result.json(), indent=2) if arguments.json else shown(result)
        except BenchFailed as failed:
            print(f"erqiwang bench: {failed}", file=sys.stderr)
            return 2
    if isinstance(found, str):
        print(found)
    else:
        Figures().print(found)
    return 1 if result.failed else 0


def _plan(arguments: Namespace) -> Plan:
    seconds = arguments.seconds or (5 if arguments.deals is None else _MOST_SECONDS)
    return Plan(
        rooms=arguments.rooms,
        seconds=seconds,
        deals=arguments.deals,
        rate=arguments.rate or None,
        rounds=arguments.rounds,
        ways=arguments.ways,
        idle_seats=arguments.idle_streams,
        load_processes=min(arguments.processes, arguments.rooms),
        data=arguments.data,
        options=room_options(arguments),
    )


def _bars(progress: Progress) -> Report:
    """A report that shows one bar for each measurement."""
    bars: dict[str, TaskID] = {}

    def report(name: str, done: float) -> None:
        if name not in bars:
            bars[name] = progress.add_task(name, total=1.0)
        progress.update(bars[name], completed=done)

    return report
