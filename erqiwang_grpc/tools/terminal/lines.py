"""Lines on a console, broken between words, so that the edge of a terminal cuts no card, number or word in two."""

import re
from collections.abc import Iterator
from typing import Final, final

from rich.console import Console
from rich.text import Text

_INDENT: Final = 5
"""Columns by which the second and later rows of a line are indented."""
_WORD: Final = re.compile(r" *[^ ]+| +$")


@final
class Lines:
    """Writes whole lines, or a line piece by piece. A file or a pipe has no edge, so each line is one row there."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._column = 0

    @property
    def in_line(self) -> bool:
        """Whether a line was begun and is not ended."""
        return self._column > 0

    def say(self, text: Text) -> None:
        """End the line that was begun, and write the text as a line, or as several if it holds line ends."""
        self.end()
        for line in text.split("\n", allow_blank=True) or [Text()]:
            for word in _words(line):
                self._put(word)
            self._break()

    def go_on(self, piece: Text) -> None:
        """Add a piece to the line. If it fits in a row but not in the rest of this one, it begins a new row."""
        if self._column and piece.cell_len > self._room and piece.cell_len + _INDENT <= self.console.width:
            self._next_row()
            piece = _without_leading_spaces(piece)
        for word in _words(piece):
            self._put(word)

    def end(self) -> None:
        """End the line, if one was begun."""
        if self.in_line:
            self._break()

    @property
    def _room(self) -> int:
        """The columns left in the row."""
        return self.console.width - self._column if self.console.is_terminal else 1_000_000

    def _put(self, word: Text) -> None:
        if self._column > _INDENT and word.cell_len > self._room:
            self._next_row()
            word = _without_leading_spaces(word)
        self._write(word)

    def _next_row(self) -> None:
        self._break()
        self._write(Text(" " * _INDENT))

    def _write(self, text: Text) -> None:
        self.console.print(text, end="", soft_wrap=True, highlight=False)
        self._column += text.cell_len

    def _break(self) -> None:
        self.console.print()
        self._column = 0


def _words(text: Text) -> Iterator[Text]:
    """The words of a text, each with the spaces before it."""
    for found in _WORD.finditer(text.plain):
        yield text[found.start() : found.end()]


def _without_leading_spaces(text: Text) -> Text:
    return text[len(text.plain) - len(text.plain.lstrip(" ")) :]
