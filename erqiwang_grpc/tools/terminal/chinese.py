"""Chinese at the keyboard: commands and numbers. The core's notation reads cards and trumps in Chinese itself."""

import re
import unicodedata
from typing import Final

WORDS: Final = {
    "帮助": "help",
    "手牌": "hand",
    "桌面": "table",
    "桌上": "table",
    "历史": "history",
    "查牌": "history",
    "捡分": "captured",
    "退出": "quit",
    "离开": "quit",
    "准备": "ready",
    "明牌": "trumps",
    "支招": "hint",
    "提示": "signal",
    "不叫": "pass",
    "过": "pass",
    "投降": "surrender",
    "踩": "signal 1",
    "没分": "signal 2",
    "有分": "signal 3",
}
"""Each Chinese command, and the English one that means the same."""

_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_DIGIT: Final = f"[{''.join(_DIGITS)}]"
_NUMBER: Final = re.compile(rf"(?:(?P<hundreds>{_DIGIT})百零?)?(?:(?P<tens>{_DIGIT})?(?P<ten>十))?(?P<ones>{_DIGIT})?")
_LONGEST: Final = 8
"""Most digits of a number. `int` raises an error for thousands of digits, and no bid has so many."""


def in_english(line: str) -> str:
    """The line with a Chinese command translated, and full-width characters made ASCII. All else stays as it is."""
    narrow = unicodedata.normalize("NFKC", line).strip()
    first, _, second = narrow.removeprefix("提示").strip().partition(" ")
    if not second and first in WORDS:
        return WORDS[first]
    return f"signal {first}" if narrow.startswith("提示") else narrow


def number(text: str) -> int | None:
    """The points that a text names, as in `70`, `七十` or `叫七十分`; None if it names none."""
    text = text.removeprefix("叫").removesuffix("分").strip()
    if text.isascii() and text.isdecimal() and len(text) <= _LONGEST:
        return int(text)
    found = _NUMBER.fullmatch(text) if text else None
    if found is None:
        return None
    tens = _DIGITS[found["tens"] or "一"] if found["ten"] else 0
    return 100 * _DIGITS[found["hundreds"] or "零"] + 10 * tens + _DIGITS[found["ones"] or "零"]
