"""Names that nobody should have, and what must never come of them."""

import unicodedata

NAMES = {
    "escape": "\x1b[2J\x1b[31mred",
    "control sequence of one character": "\x9b2Jred",
    "newline": "Anna\nerqiwang: the match is over",
    "carriage return": "Anna\rBao",
    "bell and backspace": "\a\b\b\bBao",
    "null": "\x00",
    "delete": "\x7f",
    "next line": "Anna\x85Bao",
    "line separator": "Anna\u2028Bao",
    "paragraph separator": "Anna\u2029Bao",
    "right to left": "Anna\u202egnillif",
    "isolate": "\u2066Anna\u2069",
    "mark": "\u200fAnna",
    "nothing to see": "\u200b\ufeff\u2060",
    "soft hyphen": "An\xadna",
    "interlinear": "\ufff9Anna\ufffb",
    "language tag": "\U000e0001Anna",
    "no character": "Anna\uffff",
}
"""By what is wrong with them. All are UTF-8 and short enough."""

GOOD = (
    "王小明",
    "Zoë",
    "Jürgen-Ødegård",
    "علی‌رضا",
    "क्‍ष",
    "👨‍👩‍👧‍👦",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "❤️",
    "O'Neil <3",
    "a b",
    "ﾊﾝﾀﾞ",
    "\U000f0000",
)
"""Names of people: Chinese, accents, joiners where a language or an emoji has them, a flag, private characters."""

_ALLOWED = {"\u200c", "\u200d", *map(chr, range(0xE0020, 0xE0080))}


def dangerous(text: str, *, lines: bool = True) -> set[str]:
    """The characters of an output that a terminal or a reader of lines would obey; line ends aside, where there are lines."""
    found = {each for each in text if unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp", "Cs"}} - _ALLOWED
    return found - {"\n"} if lines else found
