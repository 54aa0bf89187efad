"""The subcommands of `erqiwang`, one a module: `add_parser` says what it is given, `run` does it."""

from typing import Final, Protocol

from erqiwang_grpc.commands import backup, compact, export, keys, serve, store
from erqiwang_grpc.commands.arguments import Subparsers
from erqiwang_grpc.tools import demo, explain, play, replay, simulate, verify
from erqiwang_grpc.tools.bench import command as bench
from erqiwang_grpc.tools.torture import command as torture


class Subcommand(Protocol):
    """A module of this package that is a subcommand."""

    def add_parser(self, subparsers: Subparsers) -> None:
        """Add the subcommand's parser, whose default for `run` takes what was parsed and returns the exit status."""


SUBCOMMANDS: Final[tuple[Subcommand, ...]] = (
    simulate,
    explain,
    serve,
    demo,
    play,
    verify,
    bench,
    replay,
    export,
    compact,
    backup,
    keys,
    store,
    torture,
)
