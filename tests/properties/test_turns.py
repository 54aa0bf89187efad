"""No state of a match waits for nobody, and none for two seats at once."""

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Command, Disband, Match, Ready, Running, TakeSeat, to_act
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.playing import Play
from erqiwang_core.refusals import NotYourTurn, Phase, Refusal, WrongPhase
from erqiwang_core.rules import game_rules
from erqiwang_core.settlement import Settled
from erqiwang_core.view import view
from hypothesis import given

from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import Sent, Step, advance, positions, steps, turn


def refusals(plan: Plan, match: Match, command: Command) -> list[Refusal | None]:
    """What each seat would be answered; None where the command is accepted."""
    deck = game_rules(plan.options.game, plan.options.review).deck
    answers = [advance(match, Sent(seat, command), lambda: Shuffled(deck)) for seat in match.chairs.seats()]
    return [None if isinstance(answer, Step) else answer for answer in answers]


@examples(0.5)
@given(plan=plans())
def test_exactly_one_seat_acts_in_an_unfinished_deal(plan: Plan) -> None:
    for step in steps(plan):
        if isinstance(step.move, Sent):
            acting = step.move.seat
            answers = refusals(plan, step.before, step.move.command)
            assert answers.pop(acting) is None
            assert answers == [NotYourTurn(acting)] * len(answers)
            assert {view(step.before, seat).turn.seat for seat in step.before.chairs.seats()} == {acting}


@examples(0.1)
@given(plan=plans())
def test_between_deals_every_seat_may_say_ready_and_some_seat_has_not(plan: Plan) -> None:
    for match in positions(plan, deals_played=2):
        if isinstance(match, Running) and isinstance(match.deal, Settled):
            assert turn(match) is None
            assert not all(match.deal.ready)
            assert refusals(plan, match, Ready()) == [None] * len(match.chairs)


@examples(0.1)
@given(plan=plans())
def test_a_match_waits_for_exactly_the_seats_with_advice(plan: Plan) -> None:
    for match in positions(plan, deals_played=2):
        advised = tuple(seat for seat in match.chairs.seats() if view(match, seat).advice.choice is not None)
        assert to_act(match) == advised


@examples(0.2)
@given(plan=plans())
def test_before_the_first_deal_and_after_the_end_nobody_acts(plan: Plan) -> None:
    commands = (Bid(70), Pass(), NameTrump(1), Surrender(), Bury(()), Play((0,)), Ready())
    for step in steps(plan):
        disbanded = advance(step.after, Disband(), lambda: Shuffled(()))
        assert isinstance(disbanded, Step), "a match may be disbanded at any moment"
        idle = {Phase.OVER: disbanded.after} | ({Phase.OPEN: step.before} if isinstance(step.move, TakeSeat) else {})
        for phase, match in idle.items():
            assert turn(match) is None
            for command in commands:
                assert refusals(plan, match, command) == [WrongPhase(phase)] * len(match.chairs)
