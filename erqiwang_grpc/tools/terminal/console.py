"""The console that a match is shown on."""

import sys
from typing import Final

from rich.console import Console

_WIDTH: Final = 100
"""Of what is no terminal: a file or a pipe, which have none."""


def console() -> Console:
    """Standard output, which takes brackets and colons as they are; without any escape sequence where it is no terminal."""
    if sys.stdout.isatty():
        return Console(markup=False, emoji=False)
    return Console(width=_WIDTH, no_color=True, force_terminal=False, markup=False, emoji=False)
