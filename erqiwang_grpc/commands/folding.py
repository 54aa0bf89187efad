"""Prints lines that a terminal does not cut apart: it would break a line anywhere, also in the middle of a word."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Final
from unicodedata import east_asian_width

_WIDE: Final = ("W", "F")
"""The widths of characters that take two columns: Chinese ones, and most emoji."""


def say(lines: Iterable[str], indent: int = 0) -> None:
    """Print each line, folded between words to the width of the terminal. If the output is no terminal, lines stay whole.

    The rows after the first row of a line begin `indent` columns from the left.
    """
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines:
        print(line if columns is None else "\n".join(folded(line, columns, indent)))


def folded(line: str, columns: int, indent: int) -> Iterator[str]:
    """The rows of a line, each at most `columns` wide unless a single word is wider."""
    row = ""
    for number, word in enumerate(line.split(" ")):
        longer = f"{row} {word}" if number else word
        if row.strip() and width(longer) > columns:
            yield row.rstrip()
            row = " " * indent + word
        else:
            row = longer
    yield row


def width(text: str) -> int:
    """The columns that a text takes."""
    return sum(2 if east_asian_width(character) in _WIDE else 1 for character in text)
