"""Points and chips are neither made nor lost."""

from erqiwang_core.kernel.hand import cards_of, points
from erqiwang_core.match import Match, Running
from erqiwang_core.scoring import Surrendered
from erqiwang_core.settlement import Settled, Settlement
from erqiwang_core.units import Chips
from erqiwang_core.view import view
from hypothesis import given

from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import positions, steps


def settlement_of(match: Match) -> Settlement | None:
    """The settlement that a match stands at, if at any."""
    result = view(match, match.chairs.seats()[0]).settlement.result
    return None if result is None else result.settlement


@examples(0.5)
@given(plan=plans())
def test_after_the_last_trick_captured_lost_and_buried_points_are_all_points(plan: Plan) -> None:
    *_, match = positions(plan)
    assert isinstance(match, Running)
    assert isinstance(match.deal, Settled)
    settlement = match.deal.settlement
    if isinstance(settlement.outcome, Surrendered):
        assert settlement.trick_points == 0
        assert match.deal.finished == ()
        return
    contract = settlement.contract
    assert contract is not None
    lost = sum(points(trick.cards()) for trick in match.deal.finished if trick.ahead == contract.declarer)
    assert settlement.trick_points + lost + points(settlement.buried) == points(cards_of(match.deal.dealt.rules.deck))


@examples(0.5)
@given(plan=plans())
def test_captured_points_are_those_of_the_captured_cards(plan: Plan) -> None:
    for match in positions(plan):
        for seat in match.chairs.seats():
            seen = view(match, seat)
            if seen.contract.agreed is not None and seen.contract.agreed.declarer != seat:
                assert seen.captured.points == points(seen.captured_cards.cards)


@examples(0.1)
@given(plan=plans())
def test_the_scores_of_every_deal_sum_to_nothing_and_totals_are_sums(plan: Plan) -> None:
    scores: list[tuple[Chips, ...]] = []
    for step in steps(plan, deals_played=plan.options.deals):
        settlement = settlement_of(step.after)
        if settlement is not None and settlement_of(step.before) is None:
            scores.append(settlement.scores.values)
            assert sum(settlement.scores) == 0
            assert sum(part.award_chips for part in settlement.seats) == 0
            assert sum(part.base_chips for part in settlement.seats) == 0
        totals = [sum(column) for column in zip(*scores, strict=True)] or [0] * len(step.after.chairs)
        for seat in step.after.chairs.seats():
            assert list(view(step.after, seat).progress.totals) == totals
    assert len(scores) == plan.options.deals
