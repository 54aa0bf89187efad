"""Whoever is to act is told one whole legal action, and nobody else is told any."""

from random import Random

import pytest
from erqiwang_core.match import Match, Over, Player, Running, Shuffle, TakeSeat, begin
from erqiwang_core.options import Deck, FourPlayer, RoomOptions
from erqiwang_core.players import shuffles
from erqiwang_core.settlement import Settled
from erqiwang_core.units import Seat
from erqiwang_core.view import view
from hypothesis import given

from tests.deals.plans import Plan, examples, plans
from tests.deals.suggestions import suggested
from tests.deals.walk import Move, Sent, Step, advance, positions, turn


@examples(0.5)
@given(plan=plans())
def test_the_suggestion_is_legal(plan: Plan) -> None:
    for match in positions(plan, deals_played=2):
        for seat in match.chairs.seats():
            choice = view(match, seat).advice.choice
            assert (choice is not None) == (seat == turn(match) or is_waited_for(match, seat))
            if choice is not None:
                assert isinstance(advance(match, Sent(seat, suggested(choice)), shuffle(plan.options)), Step)


def is_waited_for(match: Match, seat: Seat) -> bool:
    return isinstance(match, Running) and isinstance(match.deal, Settled) and not match.deal.ready[seat]


@pytest.mark.parametrize("options", [RoomOptions(), RoomOptions(game=FourPlayer(Deck.FULL))], ids=["three", "four"])
def test_what_is_suggested_and_nothing_else_plays_a_match_to_its_end(options: RoomOptions) -> None:
    match = begin(options)
    for seat in match.chairs.seats():
        match = moved(match, TakeSeat(seat, Player(f"player {seat}")), options)
    while not isinstance(match, Over):
        advised = ((seat, view(match, seat).advice.choice) for seat in match.chairs.seats())
        seat, choice = next((seat, choice) for seat, choice in advised if choice is not None)
        match = moved(match, Sent(seat, suggested(choice)), options)
    assert len(match.account.deals) == options.deals
    assert match.account.disbanding is None
    assert all(view(match, seat).advice.choice is None for seat in match.chairs.seats())


def moved(match: Match, move: Move, options: RoomOptions) -> Match:
    step = advance(match, move, shuffle(options))
    assert isinstance(step, Step), f"refused: {step}"
    return step.after


def shuffle(options: RoomOptions) -> Shuffle:
    return shuffles(options, Random(7))
