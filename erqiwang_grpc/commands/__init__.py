"""The subcommands of `erqiwang`: a table of their names, and the modules of those that run a service.

A subcommand's module is loaded only when the subcommand is asked for, so that a server loads no tools. The module has
`add_arguments(parser)`, which sets the parser's default for `run`. `run` takes the parsed arguments and returns the exit
status. A subcommand with actions sets both `run` and `parser` in the parser of each, so that an error shows its usage.
"""

import importlib
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

_EXTRAS: Final = {"psutil": "tools", "rich": "tools", "aiohttp": "edge"}
"""The extras of subcommands by their libraries, which have the names that they are imported by."""


class ExtraMissing(Exception):
    """A subcommand needs a library that is not installed. The text is for the user."""


@final
@dataclass(frozen=True, slots=True)
class Subcommand:
    """One line of `erqiwang --help`, and the module of the subcommand."""

    name: str
    help: str
    module: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Load the module and let it add the subcommand's arguments. Raises `ExtraMissing`."""
        try:
            module = importlib.import_module(self.module)
        except ModuleNotFoundError as missing:
            what = (missing.name or "").partition(".")[0]
            if what not in _EXTRAS:
                raise
            raise ExtraMissing(
                f"{self.name} needs {what}, which is not installed: pip install 'erqiwang-grpc[{_EXTRAS[what]}]'"
            ) from missing
        add_arguments: Callable[[ArgumentParser], None] = module.add_arguments
        parser.set_defaults(parser=parser)
        add_arguments(parser)


SUBCOMMANDS: Final = (
    Subcommand(
        "simulate",
        "play many deals between policies, count what happens, and compare them",
        "erqiwang_grpc.tools.simulate.command",
    ),
    Subcommand("explain", "say which plays are legal and why", "erqiwang_grpc.tools.explain"),
    Subcommand("serve", "serve rooms on a port", "erqiwang_grpc.commands.serve"),
    Subcommand("edge", "let browsers and old clients in, beside a running server", "erqiwang_grpc.commands.edge"),
    Subcommand(
        "config",
        "show what a server or an edge would run with, and where it comes from",
        "erqiwang_grpc.commands.config",
    ),
    Subcommand("table", "play in a browser, against players of our own", "erqiwang_grpc.tools.table"),
    Subcommand("demo", "watch sensible players play a match over real streams", "erqiwang_grpc.tools.demo"),
    Subcommand("play", "play at the terminal", "erqiwang_grpc.tools.play"),
    Subcommand("bots", "play seats of a running server, many at once", "erqiwang_grpc.tools.bots.command"),
    Subcommand("verify", "check the deck of a deal against its commitment", "erqiwang_grpc.tools.verify"),
    Subcommand(
        "bench", "measure the server beside a bare relay of the same messages", "erqiwang_grpc.tools.bench.command"
    ),
    Subcommand("replay", "show a stored match step by step", "erqiwang_grpc.tools.replay"),
    Subcommand("export", "write the records of matches as lines of JSON", "erqiwang_grpc.commands.export"),
    Subcommand("compact", "give the space of deleted rooms back to the disk", "erqiwang_grpc.commands.compact"),
    Subcommand("backup", "copy a data folder, also while a server writes it", "erqiwang_grpc.commands.backup"),
    Subcommand(
        "move", "move a store to another engine or place, and compare every event", "erqiwang_grpc.commands.move"
    ),
    Subcommand("keys", "add, list, remove or exchange keys", "erqiwang_grpc.commands.keys"),
    Subcommand("rooms", "list, show or disband the rooms of a running server", "erqiwang_grpc.commands.rooms"),
    Subcommand("health", "ask a server whether it serves", "erqiwang_grpc.commands.health"),
    Subcommand("store", "show or renew a store's identity, or rebuild its summaries", "erqiwang_grpc.commands.store"),
    Subcommand(
        "torture",
        "kill a server again and again under load, and check what is left",
        "erqiwang_grpc.tools.torture.command",
    ),
)
