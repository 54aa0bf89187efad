"""Players: policies that choose commands from a view, and matches between policies.

A policy knows only the view it is given. Its random source is given to it too: the core never makes one.
"""

from erqiwang_core.players.contest import Step, contest, shuffles
from erqiwang_core.players.policy import Policy
from erqiwang_core.players.random_legal import RandomLegal
from erqiwang_core.players.sensible import Sensible
from erqiwang_core.players.sight import Glance, Sight

__all__ = ["Glance", "Policy", "RandomLegal", "Sensible", "Sight", "Step", "contest", "shuffles"]
