"""A player that follows simple rules: it bids by the strength of its hand and chooses the play of highest value."""

from random import Random
from typing import Final, final

from erqiwang_core.burying import Bury
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Command, Ready
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice
from erqiwang_core.players.cardplay import DECLARING, DEFENDING, Weights, best_follow, best_lead, best_signal
from erqiwang_core.players.declaring import best_burial, best_call, best_name
from erqiwang_core.players.outlook import outlook
from erqiwang_core.players.policy import Heard, nothing_heard
from erqiwang_core.players.reading import agreed, may_signal
from erqiwang_core.players.sight import Sight
from erqiwang_core.players.style import CAREFUL, Style
from erqiwang_core.playing import Play, Signal


@final
class Sensible:
    """Bids by strength, buries to make voids, counts unseen cards, and signals. It never uses its random source."""

    def __init__(
        self, style: Style = CAREFUL, *, declaring: Weights = DECLARING, defending: Weights = DEFENDING
    ) -> None:
        """`declaring` and `defending` are the weights of its card play on either side."""
        self._style: Final = style
        self._declaring: Final = declaring
        self._defending: Final = defending

    def act(self, view: Sight, random: Random, heard: Heard = nothing_heard) -> Command | None:  # noqa: ARG002 (a policy is handed a random source)
        """The command of highest value; None if the seat has nothing to do."""
        # The advice to a seat that must play holds a suggestion, for which this player has no use.
        if view.is_to_play:
            return self._play(view, heard)
        choice = view.advice.choice
        return None if choice is None else self._choose(choice, view, heard)

    def signal(self, view: Sight, random: Random) -> Signal | None:  # noqa: ARG002 (as above)
        """The signal to a partner whose turn it is, before this seat has played; None at any other time."""
        trick = view.trick_under_way
        if trick is None or not may_signal(view):
            return None
        found = best_signal(outlook(view), trick)
        return None if found is None else Signal(found)

    def _choose(self, choice: Choice, view: Sight, heard: Heard) -> Command:
        match choice:
            case CallAdvice():
                return best_call(view, choice, self._style)
            case NameAdvice():
                return best_name(view, choice, self._style)
            case BuryAdvice(size):
                return Bury(ids(best_burial(view.order, view.hand.cards, size)))
            case LeadAdvice() | FollowAdvice():
                return self._play(view, heard)
            case ReadyAdvice():
                return Ready()

    def _play(self, view: Sight, heard: Heard) -> Play:
        weights = self._declaring if agreed(view).declarer == view.seat else self._defending
        trick = view.trick_under_way
        if trick is None:
            return Play(ids(best_lead(outlook(view), weights)))
        # Only a defender who follows before a partner has use for what that one signals.
        return Play(ids(best_follow(outlook(view, heard()), trick, weights)))
