"""Names of players: which characters a name may hold, and how text chosen by others is shown.

Names are shown on terminals, in logs and in lists. A control character in a name could clear the screen, start a new
line, or reverse the order of the text next to it. So such a name is refused. All text is still made printable before it
is shown, since a stored room may be older than this rule.
"""

import unicodedata
from typing import Final

MOST_BYTES: Final = 128
"""Most bytes of a name, in UTF-8."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: controls, invisible formats (bidi controls too), surrogates, line and paragraph separators."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Allowed although invisible: Persian and Hindi words need them, and emoji that are made from several."""
_TAGS: Final = range(0xE0020, 0xE0080)
"""Allowed although invisible: the flags of England, Scotland and Wales are made with them."""


def is_printable(text: str) -> bool:
    """Whether a text holds only characters that a name may hold."""
    return not any(_is_hidden(character) for character in text)


def fault(name: str) -> str | None:
    """Why a name is refused, as the end of a sentence that begins with the name; None if it is good."""
    if not name:
        return "is empty"
    if not is_printable(name):
        return "holds a character that cannot be printed"
    if len(name.encode()) > MOST_BYTES:
        return f"is longer than {MOST_BYTES} bytes"
    return None


def printable(text: str) -> str:
    r"""The text with each character that a name may not hold escaped, as in `\x1b` or `\u202e`."""
    return "".join(_written_out(character) if _is_hidden(character) else character for character in text)


def printable_json(text: str) -> str:
    r"""The same JSON with each such character escaped as `\u` and four digits, so that parsing it gives the same value.

    `json.dumps` leaves some of them as they are, and U+0085 or U+2028 end a line in many programs. `text` is one line.
    """
    return "".join(_json_escape(character) if _is_hidden(character) else character for character in text)


def _is_hidden(character: str) -> bool:
    # Unassigned code points are allowed: they do no harm, and which they are depends on the version of Python.
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
