"""The policy: the interface of a player."""

from collections.abc import Callable
from random import Random
from typing import Protocol, TypeAlias

from erqiwang_core.match import Command
from erqiwang_core.players.sight import Sight
from erqiwang_core.playing import Signal, Signalled

Heard: TypeAlias = Callable[[], tuple[Signalled, ...]]
"""Gives the signals that the seat has been told since the trick began. They are in no view (rules §13)."""


def nothing_heard() -> tuple[Signalled, ...]:
    """No signals."""
    return ()


class Policy(Protocol):
    """A way to play. It knows only the view it is given, whole or in glances, and keeps nothing of earlier views."""

    def act(self, view: Sight, random: Random, heard: Heard = nothing_heard) -> Command | None:
        """A legal command for the view's seat; None if the seat has nothing to do now.

        Signals are asked for with `heard` only by a policy that makes something of them, since it takes time to give
        them.
        """

    def signal(self, view: Sight, random: Random) -> Signal | None:
        """A signal to the other defenders; None to send none. None too if the seat is no defender in play."""
