"""The console that a match is printed on, and figures are."""

import sys
from typing import Final, NoReturn, final

from rich.console import Console as AnyConsole

_WIDTH: Final = 100
"""Columns of an output that is no terminal: a file or a pipe has no width of its own."""


@final
class Console(AnyConsole):
    """A console on standard output. If nobody reads it any more, the command ends as every other does."""

    def on_broken_pipe(self) -> NoReturn:
        """Rich would end the process with status 1. Raises `BrokenPipeError`."""
        raise BrokenPipeError


def console() -> Console:
    """A console for a match. It prints `[red]` and `:smile:` as they are, and colours only to a terminal."""
    if sys.stdout.isatty():
        return Console(markup=False, emoji=False)
    return Console(width=_WIDTH, no_color=True, force_terminal=False, markup=False, emoji=False)
