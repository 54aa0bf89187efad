"""The console that a match is printed on."""

import sys
from typing import Final

from rich.console import Console

_WIDTH: Final = 100
"""Columns of an output that is no terminal: a file or a pipe has no width of its own."""


def console() -> Console:
    """A console on standard output. It prints `[red]` and `:smile:` as they are, and colours only to a terminal."""
    if sys.stdout.isatty():
        return Console(markup=False, emoji=False)
    return Console(width=_WIDTH, no_color=True, force_terminal=False, markup=False, emoji=False)
