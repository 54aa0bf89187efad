"""Thinking: how long a strong player thinks about a decision, in milliseconds or in worlds."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Final, TypeAlias, final

from erqiwang_core.players import Budgets, worlds_each

from erqiwang_grpc.commands.arguments import between


@final
@dataclass(frozen=True, slots=True)
class Milliseconds:
    """A time for each decision. Decisions depend on how fast the machine is."""

    number: int


@final
@dataclass(frozen=True, slots=True)
class WorldsEach:
    """A number of worlds for each decision. The same worlds make the same decisions on every machine."""

    number: int


Thinking: TypeAlias = Milliseconds | WorldsEach

DEFAULT: Final = Milliseconds(200)
_LONGEST: Final = 60_000
_MOST_WORLDS: Final = 100_000


def add_thinking_options(parser: ArgumentParser) -> None:
    """Add `--think` and `--worlds`, of which one may be given."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--think",
        type=between(1, _LONGEST),
        metavar="MS",
        help=f"milliseconds that a strong player thinks about a decision (default: {DEFAULT.number})",
    )
    either.add_argument(
        "--worlds",
        type=between(1, _MOST_WORLDS),
        help="worlds that a strong player looks at for a decision, instead of a time: the same on every machine",
    )


def thinking(arguments: Namespace) -> Thinking:
    """What the options say."""
    if arguments.worlds is not None:
        return WorldsEach(arguments.worlds)
    return DEFAULT if arguments.think is None else Milliseconds(arguments.think)


def budgets(thinking: Thinking) -> Budgets:
    """The budgets of a strong player that thinks so long."""
    match thinking:
        case Milliseconds(number):
            return lambda: _until(perf_counter() + number / 1000)
        case WorldsEach(number):
            return worlds_each(number)


def _until(end: float) -> Callable[[int], bool]:
    return lambda _worlds: perf_counter() >= end
