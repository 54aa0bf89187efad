"""A player that follows simple rules: it bids by the strength of its hand and chooses the play of highest value."""

from random import Random
from typing import final

from erqiwang_core.burying import Bury
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Command, Ready
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice
from erqiwang_core.players.cardplay import DECLARING, DEFENDING, Weights, best_follow, best_lead, best_signal
from erqiwang_core.players.declaring import best_burial, best_call, best_name
from erqiwang_core.players.outlook import outlook
from erqiwang_core.players.reading import agreed, may_signal
from erqiwang_core.players.sight import Sight
from erqiwang_core.playing import Play, Signal
from erqiwang_core.units import CardSet


@final
class Sensible:
    """Bids by strength, buries to make voids, counts unseen cards, and signals. It never uses its random source."""

    def act(self, view: Sight, random: Random) -> Command | None:  # noqa: ARG002 (a policy is handed a random source)
        """The command of highest value; None if the seat has nothing to do."""
        # The advice to a seat that must play holds a suggestion, for which this player has no use.
        if view.is_to_play:
            return Play(ids(_play(view)))
        choice = view.advice.choice
        return None if choice is None else _choose(choice, view)

    def signal(self, view: Sight, random: Random) -> Signal | None:  # noqa: ARG002 (as above)
        """The signal to a partner whose turn it is, before this seat has played; None at any other time."""
        trick = view.trick_under_way
        if trick is None or not may_signal(view):
            return None
        found = best_signal(outlook(view), trick)
        return None if found is None else Signal(found)


def _choose(choice: Choice, view: Sight) -> Command:
    match choice:
        case CallAdvice():
            return best_call(view, choice)
        case NameAdvice():
            return best_name(view, choice)
        case BuryAdvice(size):
            return Bury(ids(best_burial(view.order, view.hand.cards, size)))
        case LeadAdvice() | FollowAdvice():
            return Play(ids(_play(view)))
        case ReadyAdvice():
            return Ready()


def _play(view: Sight) -> CardSet:
    seen = outlook(view)
    if seen.trick is None:
        return best_lead(seen, _weights(view))
    return best_follow(seen, seen.trick, _weights(view))


def _weights(view: Sight) -> Weights:
    return DECLARING if agreed(view).declarer == view.seat else DEFENDING
