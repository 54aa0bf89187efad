"""Players: policies that choose commands from a view, and matches between policies.

A policy knows only the view it is given. Its random source is given to it too: the core never makes one.
"""

from erqiwang_core.players.contest import Step, contest, shuffles, signals_to
from erqiwang_core.players.policy import Heard, Policy, nothing_heard
from erqiwang_core.players.random_legal import RandomLegal
from erqiwang_core.players.sensible import Sensible
from erqiwang_core.players.sight import Glance, Sight
from erqiwang_core.players.strong.budget import Budgets, worlds_each
from erqiwang_core.players.strong.player import Strong
from erqiwang_core.players.style import BOLD, CAREFUL, STYLES, Style

__all__ = [
    "BOLD",
    "CAREFUL",
    "STYLES",
    "Budgets",
    "Glance",
    "Heard",
    "Policy",
    "RandomLegal",
    "Sensible",
    "Sight",
    "Step",
    "Strong",
    "Style",
    "contest",
    "nothing_heard",
    "shuffles",
    "signals_to",
    "worlds_each",
]
