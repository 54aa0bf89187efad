"""The policy: the interface of a player."""

from random import Random
from typing import Protocol

from erqiwang_core.match import Command
from erqiwang_core.players.sight import Sight
from erqiwang_core.playing import Signal


class Policy(Protocol):
    """A way to play. It knows only the view it is given, whole or in glances, and keeps nothing of earlier views."""

    def act(self, view: Sight, random: Random) -> Command | None:
        """A legal command for the view's seat; None if the seat has nothing to do now."""

    def signal(self, view: Sight, random: Random) -> Signal | None:
        """A signal to the other defenders; None to send none. None too if the seat is no defender in play."""
