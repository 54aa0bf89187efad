"""The strong player."""

from random import Random
from typing import Final, final

from erqiwang_core.burying import Bury
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Command, Ready
from erqiwang_core.parts import BuryAdvice, CallAdvice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice
from erqiwang_core.players.policy import Heard, nothing_heard
from erqiwang_core.players.sensible import Sensible
from erqiwang_core.players.sight import Sight
from erqiwang_core.players.strong.budget import Budgets
from erqiwang_core.players.strong.card_choice import considered
from erqiwang_core.players.strong.declaring import strong_burial, strong_call, strong_name
from erqiwang_core.players.style import CAREFUL, Style
from erqiwang_core.playing import Play, Signal


@final
class Strong:
    """Plays its choices out in many worlds. The same view, budget of worlds and random source give the same command."""

    def __init__(self, budgets: Budgets, style: Style = CAREFUL) -> None:
        """`budgets` gives the budget of each decision."""
        self._budgets: Final = budgets
        self._style: Final = style
        self._signals: Final = Sensible()

    def act(self, view: Sight, random: Random, heard: Heard = nothing_heard) -> Command | None:
        """The command of most chips; None if the seat has nothing to do."""
        # The advice to a seat that must play holds a suggestion, for which this player has no use.
        if view.is_to_play:
            return self._play(view, random, heard)
        choice = view.advice.choice
        match choice:
            case CallAdvice():
                return strong_call(view, choice, self._style, self._budgets(), random)
            case NameAdvice():
                return strong_name(view, choice, self._style, self._budgets(), random)
            case BuryAdvice(size):
                return Bury(ids(strong_burial(view, size, self._budgets(), random)))
            case LeadAdvice() | FollowAdvice():
                return self._play(view, random, heard)
            case ReadyAdvice():
                return Ready()
            case None:
                return None

    def signal(self, view: Sight, random: Random) -> Signal | None:
        """The signal of a sensible player."""
        return self._signals.signal(view, random)

    def _play(self, view: Sight, random: Random, heard: Heard) -> Play:
        return Play(ids(considered(view, self._budgets(), random, heard())[0].cards))
