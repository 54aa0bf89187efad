"""Levels: how well a player plays, and in which style. A new one is a row here."""

from collections.abc import Callable
from typing import Final

from erqiwang_core.players import BOLD, CAREFUL, Budgets, Policy, RandomLegal, Sensible, Strong

PLAIN: Final = "plain"
"""The style of a level that has no other."""

LEVELS: Final[dict[str, dict[str, Callable[[Budgets], Policy]]]] = {
    "easy": {PLAIN: lambda _: RandomLegal()},
    "sensible": {"careful": lambda _: Sensible(CAREFUL), "bold": lambda _: Sensible(BOLD)},
    "strong": {"careful": lambda budgets: Strong(budgets, CAREFUL), "bold": lambda budgets: Strong(budgets, BOLD)},
}
"""The policies by level and style, the style that a level has by default first. Only strong players use their budgets.

Each seat gets a policy of its own, so that one may remember what its seat was told.
"""

DEFAULT_LEVEL: Final = "sensible"


def default_style(level: str) -> str:
    """The style that a level has if none is asked for."""
    return next(iter(LEVELS[level]))
