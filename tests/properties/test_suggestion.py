"""Whoever is to act is told one whole legal action, and nobody else is told any."""

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Command
from erqiwang_core.naming import NameTrump, number
from erqiwang_core.parts import BuryAdvice, CallAdvice, Choice, FollowAdvice, LeadAdvice, NameAdvice
from erqiwang_core.playing import Play
from erqiwang_core.view import view
from hypothesis import given

from tests.deals.decks import never_shuffled
from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import Sent, Step, advance, positions, turn


def suggested(choice: Choice) -> Command:
    """The suggestion as the command it suggests."""
    match choice:
        case CallAdvice(suggestion=Bid() | Pass() as call):
            return call
        case NameAdvice(suggestion=trump):
            return NameTrump(number(trump))
        case BuryAdvice(suggestion=cards):
            return Bury(ids(cards))
        case LeadAdvice(suggestion=cards) | FollowAdvice(suggestion=cards):
            return Play(ids(cards))


@examples(0.5)
@given(plan=plans())
def test_the_suggestion_is_legal(plan: Plan) -> None:
    for match in positions(plan):
        for seat in match.chairs.seats():
            choice = view(match, seat).advice.choice
            assert (choice is None) == (seat != turn(match))
            if choice is not None:
                assert isinstance(advance(match, Sent(seat, suggested(choice)), never_shuffled), Step)
