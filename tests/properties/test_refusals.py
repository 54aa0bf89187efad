"""Whatever anybody sends, at any moment: it is accepted by the rules, or refused with a reason and changes nothing."""

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.cards import CARDS
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import Command, Disband, HouseCommand, LeaveSeat, Player, Ready, TakeSeat, answer
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.notices import fold, notice
from erqiwang_core.playing import Play, Request, ShowTrumps, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import Code, code
from erqiwang_core.rules import rules
from erqiwang_core.units import Seat
from erqiwang_core.view import view
from hypothesis import given, strategies as st

from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import Sent, Step, advance, positions

numbers = st.integers(-3, CARDS + 3) | st.integers() | st.sampled_from((2**31, 2**63, 2**64, -(2**63)))
card_lists = st.lists(numbers, max_size=12).map(tuple) | st.just(tuple(range(CARDS))) | st.just((0,) * 1_000)
commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Bid, numbers),
    st.just(Pass()),
    st.builds(NameTrump, numbers),
    st.just(Surrender()),
    st.builds(Bury, card_lists),
    st.builds(Play, card_lists),
    st.just(Ready()),
)
requests: st.SearchStrategy[Request] = st.builds(Signal, numbers) | st.just(ShowTrumps())
house: st.SearchStrategy[HouseCommand] = st.one_of(
    st.builds(TakeSeat, numbers, st.sampled_from(("player 0", "player 1", "stranger", "")).map(Player)),
    st.builds(LeaveSeat, numbers),
    st.just(Disband()),
)
seats = numbers.map(Seat) | st.integers(0, 3).map(Seat)


@examples(0.3)
@given(
    plan=plans(),
    moves=st.lists(st.builds(Sent, seats, commands) | house, min_size=1, max_size=6),
    asked=st.lists(st.tuples(seats, requests), min_size=1, max_size=4),
)
def test_anything_from_anybody_at_any_moment(
    plan: Plan, moves: list[Sent | HouseCommand], asked: list[tuple[Seat, Request]]
) -> None:
    deck = rules(plan.options.game, plan.options.review).deck
    for match in positions(plan):
        before = repr(match)
        for move in moves:
            done = advance(match, move, lambda: Shuffled(deck))
            if isinstance(done, Step):
                check_told(done)
            else:
                assert code(done) in (Code.STEP, Code.SEAT, Code.PARAM, Code.RULE)
        for seat, request in asked:
            answered = answer(match, seat, request)
            assert isinstance(answered, Signalled | TrumpsShown) or code(answered) >= Code.STEP
        assert repr(match) == before


def check_told(step: Step) -> None:
    """Every seat can be told of what was accepted."""
    for change in step.changes:
        for seat in change.after.chairs.seats():
            told = notice(change.before, change.event, change.after, seat)
            assert fold(view(change.before, seat), told) == view(change.after, seat)
