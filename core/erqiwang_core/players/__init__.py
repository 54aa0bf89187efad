"""Players: policies that see a view and act, and matches between them.

A policy knows the view it is given and nothing else, and draws on the random source it is handed; the core makes none.
"""

from erqiwang_core.players.contest import Step, contest, shuffles
from erqiwang_core.players.policy import Policy
from erqiwang_core.players.random_legal import RandomLegal
from erqiwang_core.players.sensible import Sensible

__all__ = ["Policy", "RandomLegal", "Sensible", "Step", "contest", "shuffles"]
