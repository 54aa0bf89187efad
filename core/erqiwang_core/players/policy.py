"""What a player is: somebody who sees a view and acts."""

from random import Random
from typing import Protocol

from erqiwang_core.match import Command
from erqiwang_core.parts import View
from erqiwang_core.playing import Signal


class Policy(Protocol):
    """A way to play. It knows the view it is given and nothing else, not even the views before."""

    def act(self, view: View, random: Random) -> Command | None:
        """What the seat does now, which is always legal; None where it has nothing to do."""

    def signal(self, view: View, random: Random) -> Signal | None:
        """What a defender in play tells the other defenders now; None where it tells nothing."""
