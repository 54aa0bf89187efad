"""Levels: how well a bot plays, and in which style. A new one is a row here."""

from collections.abc import Callable
from typing import Final

from erqiwang_core.players import Policy, RandomLegal, Sensible

PLAIN: Final = "plain"
"""The style of a level that has no other."""

LEVELS: Final[dict[str, dict[str, Callable[[], Policy]]]] = {
    "easy": {PLAIN: RandomLegal},
    "sensible": {PLAIN: Sensible},
}
"""The policies by level and style. Each bot gets one of its own, so that a policy may remember what its seat was told."""

DEFAULT_LEVEL: Final = "sensible"
