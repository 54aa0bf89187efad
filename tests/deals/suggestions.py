"""Suggestions: the command that an advice suggests, in the core's words."""

from erqiwang_core.burying import Bury
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Command, Ready
from erqiwang_core.naming import NameTrump, number
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice
from erqiwang_core.playing import Play


def suggested(choice: Choice) -> Command:
    """The suggestion as the command it suggests."""
    match choice:
        case CallAdvice(suggestion=call):
            return call
        case NameAdvice(suggestion=trump):
            return NameTrump(number(trump))
        case BuryAdvice(suggestion=cards):
            return Bury(ids(cards))
        case LeadAdvice(suggestion=cards) | FollowAdvice(suggestion=cards):
            return Play(ids(cards))
        case ReadyAdvice():
            return Ready()
