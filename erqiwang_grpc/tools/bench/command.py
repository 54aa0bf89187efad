"""`erqiwang bench`: what a turn costs the server, beside a relay that passes on the same messages and knows no game."""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress, TaskID

from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.commands.arguments import BadArguments, between
from erqiwang_grpc.tools.bench.figures import shown
from erqiwang_grpc.tools.bench.measuring import Plan, Tell, measure
from erqiwang_grpc.tools.bench.processes import BenchFailed
from erqiwang_grpc.tools.table_arguments import add_room_options, room_options

_MOST_SECONDS: Final = 600


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `bench`."""
    parser.description = (
        "Rooms of scripted seats on real streams, in processes of their own. Bounded in time and count."
    )
    parser.add_argument("--rooms", type=between(1, 2_000), default=100, help="rooms that play (default: 100)")
    parser.add_argument(
        "--seconds", type=between(1, _MOST_SECONDS), help="how long each measurement plays (default: 10)"
    )
    parser.add_argument(
        "--deals", type=between(1, 1_000), help="deals in every room; the measurement ends with the last"
    )
    parser.add_argument(
        "--rate",
        type=between(0, 100_000),
        default=500,
        help="turns a second of all rooms together; 0 for as many as they can (default: 500)",
    )
    parser.add_argument("--idle-streams", type=between(0, 12_000), default=0, help="silent streams beside (default: 0)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="measure with the rooms on disk there, too")
    parser.add_argument(
        "--processes", type=between(1, 64), default=_processes(), help="load processes (default: all cores but one)"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    add_room_options(parser)
    parser.set_defaults(run=run)


def _processes() -> int:
    return max(1, (os.cpu_count() or 2) - 1)


def run(arguments: Namespace) -> int:
    """Measure and print; 1 where a stream or a command failed, 2 where nothing could be measured."""
    try:
        plan = _plan(arguments)
    except BadArguments as bad:
        print(f"erqiwang bench: {bad}", file=sys.stderr)
        return 2
    quiet = arguments.json or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        try:
            result = interrupts.run(measure(plan, _teller(progress)))
        except BenchFailed as failed:
            print(f"erqiwang bench: {failed}", file=sys.stderr)
            return 2
    if arguments.json:
        print(json.dumps(result.json(), indent=2))
    else:
        Console().print(shown(result))
    return 1 if any(figures.failed for figures in (result.relay, *result.servers)) else 0


def _plan(arguments: Namespace) -> Plan:
    seconds = arguments.seconds or (10 if arguments.deals is None else _MOST_SECONDS)
    return Plan(
        rooms=arguments.rooms,
        seconds=seconds,
        deals=arguments.deals,
        rate=arguments.rate or None,
        idle_streams=arguments.idle_streams,
        load_processes=min(arguments.processes, arguments.rooms),
        data=arguments.data,
        options=room_options(arguments),
    )


def _teller(progress: Progress) -> Tell:
    """Shows a bar for every measurement."""
    bars: dict[str, TaskID] = {}

    def tell(name: str, part: float) -> None:
        if name not in bars:
            bars[name] = progress.add_task(name, total=1.0)
        progress.update(bars[name], completed=part)

    return tell
