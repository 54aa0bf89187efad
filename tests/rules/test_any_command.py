"""Any command, at any moment, from any seat, with any parameters: events or a refusal, and nothing else (rules §15)."""

from copy import deepcopy

from erqiwang_core import deal as deals, match as matches
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import (
    Disband,
    DisbandReason,
    LeaveSeat,
    Match,
    Outside,
    Player,
    Ready,
    Running,
    StartMatch,
    TakeSeat,
)
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import Deck, FourPlayer, RoomOptions
from erqiwang_core.playing import Play, Playing, ShowTrumps, Signal, Signalled, TrumpsShown
from erqiwang_core.refusals import Code, NotInThisRoom, code
from erqiwang_core.units import Seat
from erqiwang_core.view import view
from hypothesis import given, settings, strategies as st

from tests.rules.table import (
    PLAYERS,
    burying_table,
    dealt_table,
    disbanded_table,
    house,
    named_table,
    open_table,
    played_table,
    ready_table,
    seat,
    shuffle,
    surrendered_table,
)

THREE = RoomOptions()
FOUR = RoomOptions(game=FourPlayer(Deck.FULL))


def moments(options: RoomOptions, opening: int) -> tuple[Match, ...]:
    """A match at each of its moments."""
    return (
        open_table(options),
        house(open_table(options), TakeSeat(1, PLAYERS[0])),
        dealt_table(options),
        seat(dealt_table(options), 0, Bid(opening - 5)),
        named_table(options, bid=opening),
        burying_table(options, bid=opening),
        *(played_table(options, plays=plays, bid=opening) for plays in range(1, 40, 3)),
        surrendered_table(options),
        ready_table(surrendered_table(options), 0, 1),
        disbanded_table(options),
    )


MOMENTS = (*moments(THREE, 70), *moments(RoomOptions(review=False), 70), *moments(FOUR, 120))
UNTOUCHED = deepcopy(MOMENTS)
"""The same, to compare with: whatever is decided, the match it was decided upon stays as it was."""

places = st.sampled_from(range(len(MOMENTS)))

numbers = st.one_of(
    st.integers(-2, 8),
    st.sampled_from(range(0, 125, 5)),
    st.sampled_from([True, False, -1, 108, 1 << 63, -(1 << 63), 10**40]),
)
cards = st.one_of(
    st.lists(st.integers(-1, 109), max_size=10),
    st.lists(st.sampled_from([0, 1, 54, 55]), max_size=4),
    st.lists(st.integers(0, 107), max_size=120),
    st.lists(numbers, max_size=5),
).map(tuple)


@st.composite
def of_a_hand(draw: st.DrawFn, match: Match) -> tuple[int, ...]:
    """Cards that whoever's turn it is holds: enough for a play now and then."""
    if not isinstance(match, Running) or not isinstance(match.deal, Playing):
        return draw(cards)
    held = ids(match.deal.hands[match.deal.turn])
    return tuple(draw(st.lists(st.sampled_from(held or (0,)), max_size=8)))


@st.composite
def commands(draw: st.DrawFn, match: Match) -> matches.Command:
    """Any command of a seat."""
    chosen = st.one_of(cards, of_a_hand(match))
    any_command: st.SearchStrategy[matches.Command] = st.one_of(
        st.builds(Bid, numbers),
        st.just(Pass()),
        st.builds(NameTrump, numbers),
        st.just(Surrender()),
        st.builds(Bury, chosen),
        st.builds(Play, chosen),
        st.builds(Play, chosen),
        st.just(Ready()),
    )
    return draw(any_command)


seats = st.one_of(st.integers(0, 3), numbers).map(Seat)


@settings(max_examples=400)
@given(data=st.data(), place=places, by=seats)
def test_any_command_of_a_seat(data: st.DataObject, place: int, by: Seat) -> None:
    match = MOMENTS[place]
    command = data.draw(commands(match))
    decided = matches.decide(match, by, command, shuffle(match.options))
    assert match == UNTOUCHED[place]
    if isinstance(decided, tuple):
        after = match
        for event in decided:
            after = matches.evolve(after, event)
        assert after != match or isinstance(command, Ready)
        assert all(view(after, each).seat == each for each in after.chairs.seats())
    else:
        assert code(decided) in {Code.STEP, Code.SEAT, Code.PARAM, Code.RULE}


@given(place=places, by=seats, asked=st.one_of(st.builds(Signal, numbers), st.just(ShowTrumps())))
def test_any_request_of_a_seat(place: int, by: Seat, asked: Signal | ShowTrumps) -> None:
    answered = matches.answer(MOMENTS[place], by, asked)
    assert MOMENTS[place] == UNTOUCHED[place]
    if isinstance(answered, Signalled):
        assert by not in answered.to
    elif isinstance(answered, TrumpsShown):
        assert answered.to == by
    else:
        assert code(answered) in {Code.STEP, Code.SEAT, Code.PARAM, Code.RULE}


players = st.sampled_from([*PLAYERS, Player("")])


@given(
    place=places,
    command=st.one_of(
        st.builds(TakeSeat, numbers, players),
        st.builds(LeaveSeat, numbers),
        st.just(StartMatch()),
        st.builds(Disband, numbers | st.sampled_from(Outside), st.sampled_from(DisbandReason), st.text()),
    ),
)
def test_any_command_of_the_house(place: int, command: matches.HouseCommand) -> None:
    match = MOMENTS[place]
    decided = matches.administer(match, command, shuffle(match.options))
    assert match == UNTOUCHED[place]
    if isinstance(decided, tuple):
        for event in decided:
            match = matches.evolve(match, event)
        assert match != MOMENTS[place]
    else:
        assert code(decided) in {Code.STEP, Code.SEAT} or (command, decided) == (StartMatch(), NotInThisRoom())


@settings(max_examples=200)
@given(data=st.data(), match=st.sampled_from([each for each in MOMENTS if isinstance(each, Running)]))
def test_cards_named_in_any_order_are_judged_alike(data: st.DataObject, match: Match) -> None:
    turn = deals.turn(match.deal) if isinstance(match, Running) else None
    chosen = data.draw(st.lists(st.sampled_from(data.draw(of_a_hand(match)) or (0,)), unique=True))
    shuffled = data.draw(st.permutations(chosen))
    for command in (Play, Bury):
        one, other = (
            matches.decide(match, turn or Seat(0), command(tuple(order)), shuffle(match.options))
            for order in (chosen, shuffled)
        )
        if isinstance(one, tuple) or code(one) is Code.RULE:
            assert one == other
        else:
            # Which of several faulty cards is named goes by the order given; the code does not.
            assert not isinstance(other, tuple)
            assert code(one) is code(other)
