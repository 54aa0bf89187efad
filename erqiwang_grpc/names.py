"""Names of players: which characters one may hold, and how text that others have chosen is shown.

A name is shown on terminals, in logs and in lists. A control character in it could clear a screen, start a line of
its own, or turn the order of what stands beside it. So such a name is refused, and whatever is shown is made
printable all the same: a stored room may be older than this rule.
"""

import unicodedata
from typing import Final

MOST_BYTES: Final = 128
"""Of a name, in UTF-8."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: controls, invisible formats (bidi controls among them), surrogates, line and paragraph ends."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Invisible, but part of how words are written (Persian, Hindi) and of how one emoji is made from several."""
_TAGS: Final = range(0xE0020, 0xE0080)
"""Invisible, but what makes the flags of England, Scotland and Wales."""


def is_printable(text: str) -> bool:
    """Whether a text holds no character that a name may not hold."""
    return not any(_is_hidden(character) for character in text)


def fault(name: str) -> str | None:
    """Why nobody can be called so, as the end of a sentence that begins with the name; None where somebody can."""
    if not name:
        return "is empty"
    if not is_printable(name):
        return "holds a character that cannot be printed"
    if len(name.encode()) > MOST_BYTES:
        return f"is longer than {MOST_BYTES} bytes"
    return None


def printable(text: str) -> str:
    r"""The text with every such character written out, as in `\x1b` or `\u202e`. Printable text stays as it is."""
    return "".join(_written_out(character) if _is_hidden(character) else character for character in text)


def printable_json(text: str) -> str:
    r"""The same JSON with every such character as `\u` and four digits, which mean it: whoever reads it reads the same.

    `json.dumps` leaves some of them as they are, and U+0085 or U+2028 end a line for many programs. `text` is one line.
    """
    return "".join(_json_escape(character) if _is_hidden(character) else character for character in text)


def _is_hidden(character: str) -> bool:
    # Code points that Unicode has not assigned are no danger, and which they are depends on the version of Python.
    if character.isascii():
        return not character.isprintable()
    if character in _JOINERS or ord(character) in _TAGS:
        return False
    return unicodedata.category(character) in _HIDDEN or _is_noncharacter(ord(character))


def _is_noncharacter(number: int) -> bool:
    return 0xFDD0 <= number <= 0xFDEF or number & 0xFFFE == 0xFFFE


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
