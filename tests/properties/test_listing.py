"""What a seat is told it may do is what it may do, and nothing else."""

from random import Random

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.kernel.cards import KINDS
from erqiwang_core.kernel.hand import cards_of, ids
from erqiwang_core.kernel.shapes import all_components
from erqiwang_core.kernel.trump import Group
from erqiwang_core.match import Command, Match, Running
from erqiwang_core.naming import NameTrump, Surrender, number
from erqiwang_core.parts import CallAdvice, LeadAdvice, NameAdvice
from erqiwang_core.playing import Play, Playing
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.view import view
from hypothesis import given, strategies as st

from tests.deals.decks import never_shuffled
from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import Sent, Step, advance, positions, turn


def is_legal(match: Match, seat: Seat, command: Command) -> bool:
    return isinstance(advance(match, Sent(seat, command), never_shuffled), Step)


@examples(0.5)
@given(plan=plans())
def test_the_bids_and_passes_listed_are_the_legal_ones(plan: Plan) -> None:
    for match in positions(plan):
        seat = turn(match)
        choice = None if seat is None else view(match, seat).advice.choice
        if seat is not None and isinstance(choice, CallAdvice):
            legal = [points for points in range(130, -12, -1) if is_legal(match, seat, Bid(points))]
            assert list(choice.bids) == legal
            assert choice.may_pass == is_legal(match, seat, Pass())


@examples(0.5)
@given(plan=plans())
def test_the_trumps_and_the_surrender_listed_are_the_legal_ones(plan: Plan) -> None:
    for match in positions(plan):
        seat = turn(match)
        choice = None if seat is None else view(match, seat).advice.choice
        if seat is not None and isinstance(choice, NameAdvice):
            legal = [raw for raw in range(-2, 9) if is_legal(match, seat, NameTrump(raw))]
            assert sorted(number(trump) for trump, _ in choice.trumps) == legal
            assert choice.may_surrender == is_legal(match, seat, Surrender())


@examples(0.3)
@given(plan=plans(), seed=st.integers(0, 2**32 - 1))
def test_a_lead_that_is_no_throw_is_legal_where_it_is_a_component(plan: Plan, seed: int) -> None:
    chance = Random(seed)
    for match in positions(plan):
        seat, playing = leading(match)
        if seat is None or playing is None:
            continue
        components = set(all_components(playing.order, playing.hands[seat]))
        for cards in components:
            assert is_legal(match, seat, Play(ids(cards)))
        for cards in some_sets(chance, playing.hands[seat]):
            throwable = not cards & ~playing.order.cards[Group.TRUMPS]
            assert is_legal(match, seat, Play(ids(cards))) == (cards in components or throwable)


def leading(match: Match) -> tuple[Seat, Playing] | tuple[None, None]:
    """Who is to lead, and the play it leads to, where a seat is to lead."""
    seat = turn(match)
    if seat is None or not isinstance(view(match, seat).advice.choice, LeadAdvice):
        return None, None
    assert isinstance(match, Running), "somebody leads in a match that runs"
    assert isinstance(match.deal, Playing), "somebody leads in play"
    return seat, match.deal


def some_sets(chance: Random, hand: CardSet) -> list[CardSet]:
    """A few sets of cards that lie together when the hand is sorted: what one might think may be led."""
    held = sorted(ids(hand), key=lambda card: (card % KINDS, card))
    sets = []
    for _ in range(6):
        low = chance.randrange(len(held))
        sets.append(cards_of(held[low : low + chance.randint(1, 6)]))
    return sets
