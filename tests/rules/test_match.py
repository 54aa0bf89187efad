"""Seats, deals in a row, ready, disband and the account (rules §4, §13)."""

from dataclasses import replace

import pytest
from erqiwang_core import match as matches
from erqiwang_core.bidding import Bid, Bidding, Pass
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.hand import EMPTY
from erqiwang_core.kernel.trump import Trump
from erqiwang_core.match import (
    Account,
    Asker,
    Chair,
    DealStarted,
    Disband,
    Disbanding,
    DisbandReason,
    Gathering,
    LeaveSeat,
    Match,
    MatchEnded,
    Outside,
    Over,
    Player,
    Ready,
    Running,
    SeatLeft,
    SeatReady,
    SeatTaken,
    StartMatch,
    TakeSeat,
    administer,
    decide,
    evolve,
    phase,
    scores,
    to_act,
    totals,
)
from erqiwang_core.naming import Surrender
from erqiwang_core.notices import MatchOver, cause
from erqiwang_core.options import FourPlayer, Length, RoomOptions, Start, ThreePlayer
from erqiwang_core.parts import ReadyAdvice
from erqiwang_core.refusals import (
    NoSuchSeat,
    NotInThisRoom,
    Phase,
    Refusal,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    WrongPhase,
)
from erqiwang_core.scoring import Disbanded
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import DealSettled, Settled, next_first_bidder
from erqiwang_core.units import Chips, Seat
from erqiwang_core.view import table, view
from erqiwang_core.viewer import PUBLIC

from tests.rules.positions import EAST, SPADES
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
    suggested,
    surrendered_table,
)

ANNA, BELA, CHEN, DORA = PLAYERS
BY_PLATFORM = Disbanding(Outside.PLATFORM, DisbandReason.UNSAID, "")
FOUR = RoomOptions(game=FourPlayer())
TABLES = [RoomOptions(game, review=review) for game in (ThreePlayer(), FourPlayer()) for review in (True, False)]
DECKS = {options: shuffle(options)().order for options in TABLES}


def told(match: Match, command: matches.HouseCommand) -> tuple[matches.Event, ...] | Refusal:
    return administer(match, command, shuffle(match.options))


def asked(match: Match, number: int, command: matches.Command) -> tuple[matches.Event, ...] | Refusal:
    return decide(match, Seat(number), command, shuffle(match.options))


def test_a_seat_is_taken_and_left() -> None:
    match = open_table()
    assert told(match, TakeSeat(1, ANNA)) == (SeatTaken(Seat(1), ANNA),)
    taken = house(match, TakeSeat(1, ANNA))
    assert taken.chairs.values == (Chair(None, 0), Chair(ANNA, 1), Chair(None, 0))
    assert told(taken, LeaveSeat(1)) == (SeatLeft(Seat(1)),)
    assert house(taken, LeaveSeat(1)).chairs[Seat(1)] == Chair(None, 2)


@pytest.mark.parametrize(
    ("before", "command", "refusal"),
    [
        pytest.param((), TakeSeat(3, ANNA), NoSuchSeat(3, 3), id="there is no fourth seat"),
        pytest.param((), TakeSeat(-1, ANNA), NoSuchSeat(-1, 3), id="negative"),
        pytest.param((), LeaveSeat(10**9), NoSuchSeat(10**9, 3), id="huge"),
        pytest.param((), LeaveSeat(0), SeatFree(Seat(0)), id="nobody to leave"),
        pytest.param((TakeSeat(0, ANNA),), TakeSeat(0, BELA), SeatOccupied(Seat(0)), id="occupied"),
        pytest.param((TakeSeat(0, ANNA),), TakeSeat(2, ANNA), SeatedElsewhere(Seat(0)), id="sits on a lower seat"),
        pytest.param((TakeSeat(2, ANNA),), TakeSeat(0, ANNA), SeatedElsewhere(Seat(2)), id="sits on a higher seat"),
        pytest.param(
            (TakeSeat(1, BELA), TakeSeat(2, ANNA)),
            TakeSeat(0, ANNA),
            SeatedElsewhere(Seat(2)),
            id="sits past another player",
        ),
        pytest.param((TakeSeat(0, ANNA), LeaveSeat(0)), LeaveSeat(0), SeatFree(Seat(0)), id="left already"),
    ],
)
def test_refused_seatings(before: tuple[TakeSeat, ...], command: matches.HouseCommand, refusal: Refusal) -> None:
    assert told(house(open_table(), *before), command) == refusal


def test_the_same_player_again_gets_a_fresh_epoch() -> None:
    match = house(open_table(), TakeSeat(0, ANNA), TakeSeat(0, ANNA))
    assert match.chairs[EAST] == Chair(ANNA, 2)
    running = house(dealt_table(), TakeSeat(0, ANNA))
    assert isinstance(running, Running)
    assert running.chairs[EAST] == Chair(ANNA, 2)
    assert running.deal == dealt(dealt_table()).deal


def dealt(match: Match) -> Running:
    assert isinstance(match, Running)
    return match


def test_the_last_seat_taken_starts_the_first_deal() -> None:
    match = house(open_table(), TakeSeat(2, CHEN), TakeSeat(0, ANNA))
    assert phase(match) is Phase.OPEN
    events = told(match, TakeSeat(1, BELA))
    assert isinstance(events, tuple)
    taken, started = events
    assert taken == SeatTaken(Seat(1), BELA)
    assert isinstance(started, DealStarted)
    assert (started.number, started.first_bidder) == (1, EAST)
    after = dealt(house(match, TakeSeat(1, BELA)))
    assert isinstance(after.deal, Bidding)
    assert (phase(after), scores(after)) == (Phase.BIDDING, ())


LATER = [replace(options, start=Start.PLATFORM) for options in TABLES]
"""Tables that their platform starts."""


@pytest.mark.parametrize("options", LATER)
def test_a_room_that_its_platform_starts_waits_for_that(options: RoomOptions) -> None:
    match = open_table(options)
    seats = len(match.chairs)
    for number in range(seats):
        assert told(match, StartMatch()) == SeatFree(Seat(number)), "the first that is free"
        assert told(match, TakeSeat(number, PLAYERS[number])) == (SeatTaken(Seat(number), PLAYERS[number]),)
        match = house(match, TakeSeat(number, PLAYERS[number]))
    assert (phase(match), to_act(match)) == (Phase.OPEN, ())
    assert all(view(match, seat).advice.choice is None for seat in match.chairs.seats())
    left = house(match, LeaveSeat(1))
    assert told(left, StartMatch()) == SeatFree(Seat(1)), "who waits may leave"
    events = told(match, StartMatch())
    assert isinstance(events, tuple)
    (started,) = events
    assert isinstance(started, DealStarted)
    assert (started.number, started.first_bidder) == (1, EAST)
    after = house(match, StartMatch())
    assert (phase(after), to_act(after)) == (Phase.BIDDING, (EAST,))
    assert told(after, StartMatch()) == WrongPhase(Phase.BIDDING)
    assert told(house(after, Disband()), StartMatch()) == WrongPhase(Phase.OVER)
    assert told(house(match, Disband()), StartMatch()) == WrongPhase(Phase.OVER), "it may be disbanded while it waits"


@pytest.mark.parametrize("options", TABLES)
def test_a_room_that_starts_on_its_last_seat_is_started_by_nobody_else(options: RoomOptions) -> None:
    assert told(open_table(options), StartMatch()) == NotInThisRoom()
    assert told(dealt_table(options), StartMatch()) == WrongPhase(Phase.BIDDING)


def test_nobody_leaves_and_nobody_new_sits_down_once_it_runs() -> None:
    match = dealt_table()
    assert told(match, LeaveSeat(0)) == WrongPhase(Phase.BIDDING)
    assert told(match, TakeSeat(0, Player("Eva"))) == SeatOccupied(EAST)


def test_four_seats_start_with_the_fourth() -> None:
    match = house(open_table(FOUR), *(TakeSeat(number, PLAYERS[number]) for number in range(3)))
    assert isinstance(match, Gathering)
    assert isinstance(house(match, TakeSeat(3, DORA)), Running)


def test_a_settled_deal_waits_for_every_seat_to_be_ready() -> None:
    match = surrendered_table()
    assert phase(match) is Phase.SETTLED
    assert asked(match, 2, Ready()) == (SeatReady(Seat(2)),)
    match = ready_table(match, 2, 0)
    deal = dealt(match).deal
    assert isinstance(deal, Settled)
    assert deal.ready.values == (True, False, True)
    assert asked(match, 0, Ready()) == (), "accepted a second time, and nothing comes of it"
    assert ready_table(match, 0) == match


def test_the_last_ready_starts_the_next_deal() -> None:
    match = ready_table(surrendered_table(), 0, 1)
    events = asked(match, 2, Ready())
    assert isinstance(events, tuple)
    ready, started = events
    assert ready == SeatReady(Seat(2))
    assert isinstance(started, DealStarted)
    assert (started.number, started.first_bidder) == (2, Seat(1))
    after = dealt(ready_table(match, 2))
    assert after.deal.dealt.number == 2
    assert after.by_deal == (BySeat((Chips(-2), Chips(1), Chips(1))),)


@pytest.mark.parametrize("match", [open_table(), dealt_table(), named_table(), burying_table(), played_table()])
def test_nobody_is_ready_before_a_first_settlement(match: Match) -> None:
    assert asked(match, 0, Ready()) == WrongPhase(phase(match))
    assert all(view(match, seat).advice.choice != ReadyAdvice() for seat in match.chairs.seats())


def test_a_ready_that_comes_after_its_deal_has_begun_has_no_effect() -> None:
    match = ready_table(surrendered_table(), 0, 1, 2)
    opener = dealt(match).deal.dealt.first_bidder
    later = (match, seat(match, opener, Bid(70)))
    assert [asked(each, late, Ready()) for each in later for late in range(3)] == [()] * 6


def test_each_seat_is_advised_to_be_ready_until_it_is() -> None:
    match = surrendered_table()
    assert [view(match, each).advice.choice for each in match.chairs.seats()] == [ReadyAdvice()] * 3
    match = ready_table(match, 1)
    assert [view(match, each).advice.choice for each in match.chairs.seats()] == [ReadyAdvice(), None, ReadyAdvice()]


def test_nobody_is_advised_to_be_ready_once_the_last_deal_is_settled() -> None:
    """The settlement and the end of the match are two events: a seat told of the first only must not be misled."""
    match = replace(dealt(named_table()), by_deal=(BySeat((Chips(0),) * 3),) * 5)
    (settled, _) = asked_for(match, Surrender())
    after = evolve(match, settled)
    assert phase(after) is Phase.SETTLED
    assert [view(after, each).advice.choice for each in after.chairs.seats()] == [None] * 3


def asked_for(match: Match, command: matches.Command) -> tuple[matches.Event, ...]:
    events = asked(match, 0, command)
    assert isinstance(events, tuple)
    return events


@pytest.mark.parametrize("options", [RoomOptions(), RoomOptions(length=Length.TWELVE), FOUR])
def test_a_match_of_surrenders_from_beginning_to_end(options: RoomOptions) -> None:
    """Every deal goes to the highest bid and is given up, so each next seat opens in its turn."""
    match: Match = dealt_table(options)
    seats = len(match.chairs)
    for number in range(options.deals):
        first = number % seats
        match = surrender(match, first, seats)
        if number + 1 < options.deals:
            assert isinstance(match, Running)
            match = ready_table(match, *range(seats))
    assert isinstance(match, Over)
    assert phase(match) is Phase.OVER
    assert len(match.account.deals) == options.deals
    assert match.account.disbanding is None
    assert match.account.totals == totals(seats, match.account.deals)
    assert sum(match.account.totals) == 0
    assert match.last is not None
    assert match.last.dealt.number == options.deals


def surrender(match: Match, first: int, seats: int) -> Match:
    match = seat(match, first, Bid(120 if seats == 4 else 70))
    for step in range(1, seats):
        match = seat(match, (first + step) % seats, Pass())
    return seat(match, first, Surrender())


def test_the_last_deal_ends_the_match_with_the_same_command() -> None:
    match = named_table()
    full = replace(dealt(match), by_deal=(BySeat((Chips(0),) * 3),) * 5)
    events = asked(full, 0, Surrender())
    assert isinstance(events, tuple)
    settled, ended = events
    assert isinstance(settled, DealSettled)
    assert isinstance(ended, MatchEnded)
    assert ended.cut_short is None
    assert len(ended.account.deals) == 6
    assert ended.account.totals.values == (-2, 1, 1)


def test_a_declarer_who_wins_opens_again() -> None:
    match = played_table(bid=70)
    while not isinstance(dealt(match).deal, Settled):
        match = suggested(match)
    deal = dealt(match).deal
    assert isinstance(deal, Settled)
    first = next_first_bidder(deal)
    match = ready_table(match, 0, 1, 2)
    assert dealt(match).deal.dealt.first_bidder == first


NOTHING = BySeat((Chips(0),) * 3)
SURRENDERED = BySeat((Chips(-2), Chips(1), Chips(1)))


@pytest.mark.parametrize(
    ("match", "deals", "trump"),
    [
        pytest.param(open_table(), (), None, id="before the first deal: no deal counts"),
        pytest.param(dealt_table(), (NOTHING,), None, id="in bidding: 0 for all"),
        pytest.param(named_table(), (NOTHING,), None, id="before trump is named"),
        pytest.param(burying_table(), (NOTHING,), SPADES, id="before burying"),
        pytest.param(played_table(), (NOTHING,), SPADES, id="before the first lead"),
        pytest.param(played_table(plays=2), (NOTHING,), SPADES, id="within a trick"),
        pytest.param(played_table(plays=6), (NOTHING,), SPADES, id="after two tricks"),
        pytest.param(surrendered_table(), (SURRENDERED,), None, id="after a settlement: it counts"),
        pytest.param(ready_table(surrendered_table(), 0, 1, 2), (SURRENDERED, NOTHING), None, id="in the second deal"),
    ],
)
def test_disband_at_any_moment(match: Match, deals: tuple[BySeat[Chips], ...], trump: Trump | None) -> None:
    events = told(match, Disband())
    assert isinstance(events, tuple)
    (ended,) = events
    assert isinstance(ended, MatchEnded)
    assert ended.account == Account(BY_PLATFORM, deals, totals(3, deals))
    over = house(match, Disband())
    assert isinstance(over, Over)
    assert scores(over) == deals
    if ended.cut_short is not None:
        assert (ended.cut_short.outcome, ended.cut_short.trump) == (Disbanded(), trump)
        assert (ended.cut_short.grade, ended.cut_short.stake) == (0, 0)
        assert over.last is not None
        assert over.last.settlement == ended.cut_short


@pytest.mark.parametrize("asker", [EAST, Seat(2), *Outside])
def test_who_asked_for_the_end_and_why_is_kept_and_told_alike(asker: Asker) -> None:
    match = dealt_table()
    over = house(match, Disband(asker, DisbandReason.ABSENT, "two of us wait"))
    assert isinstance(over, Over)
    asked = Disbanding(asker, DisbandReason.ABSENT, "two of us wait")
    assert over.account.disbanding == asked
    (ended,) = events if isinstance(events := told(match, Disband(asker, asked.reason, asked.text)), tuple) else ()
    for viewer in (EAST, Seat(1), Seat(2)):
        assert cause(match, ended, viewer) == MatchOver(asked)
        assert view(over, viewer).account.account == over.account
    assert cause(match, ended, PUBLIC) == MatchOver(asked)


@pytest.mark.parametrize(
    ("match", "asker", "refusal"),
    [
        pytest.param(dealt_table(), 3, NoSuchSeat(3, 3), id="no such seat"),
        pytest.param(dealt_table(), -1, NoSuchSeat(-1, 3), id="negative"),
        pytest.param(house(open_table(), TakeSeat(1, ANNA)), 0, SeatFree(EAST), id="nobody sits there"),
        pytest.param(disbanded_table(), 3, NoSuchSeat(3, 3), id="seat before phase"),
        pytest.param(disbanded_table(), 0, WrongPhase(Phase.OVER), id="over"),
    ],
)
def test_who_asks_for_the_end_sits_at_the_table(match: Match, asker: int, refusal: Refusal) -> None:
    assert told(match, Disband(asker)) == refusal


@pytest.mark.parametrize("options", TABLES)
@pytest.mark.parametrize("plays", [0, 1, 2, 4, 5, 8])
def test_a_deal_cut_short_keeps_what_was_played_and_opens_the_deck_but_not_what_was_buried(
    options: RoomOptions, plays: int
) -> None:
    match = played_table(options, plays=plays)
    over = house(match, Disband())
    assert isinstance(over, Over)
    assert over.last is not None
    assert over.last.finished == matches.finished(dealt(match).deal)
    assert len(over.last.finished) == plays // len(match.chairs)
    assert over.last.settlement.buried == EMPTY
    assert table(over) == table(match), "the trick on the table stays as it lies, finished or not"
    for each in match.chairs.seats():
        result = view(over, each).settlement.result
        assert result is not None
        assert (result.settlement.buried, result.deck, result.salt) == (EMPTY, DECKS[options], b"salt")
        assert view(over, each).buried.cards == EMPTY


def test_a_match_that_never_began_has_no_last_deal() -> None:
    over = house(open_table(), Disband())
    assert isinstance(over, Over)
    assert over.last is None


@pytest.mark.parametrize("command", [Disband(), StartMatch(), TakeSeat(0, ANNA), LeaveSeat(0)])
def test_nothing_happens_after_the_end(command: matches.HouseCommand) -> None:
    assert told(disbanded_table(), command) == WrongPhase(Phase.OVER)


@pytest.mark.parametrize("command", [Ready(), Bid(70), Pass()])
def test_no_seat_acts_after_the_end(command: matches.Command) -> None:
    assert asked(disbanded_table(), 0, command) == WrongPhase(Phase.OVER)


def test_a_shuffle_is_asked_for_only_when_a_deal_starts() -> None:
    def never() -> Shuffled:
        raise AssertionError("no deal starts")

    assert isinstance(administer(open_table(), TakeSeat(0, ANNA), never), tuple)
    assert isinstance(decide(dealt_table(), EAST, Bid(70), never), tuple)
    assert isinstance(decide(surrendered_table(), EAST, Ready(), never), tuple)
