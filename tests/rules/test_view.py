"""What every seat sees of a deal as it goes on: turn, calls, contract, points and multiplier (rules §4, §10, §13)."""

import pytest
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.disclosure import Statement, TrumpCount
from erqiwang_core.kernel.trump import Group
from erqiwang_core.match import Disband, Match, Running, phase
from erqiwang_core.naming import Naming
from erqiwang_core.notation import write
from erqiwang_core.notices import fold, notice
from erqiwang_core.options import Countdowns, FourPlayer, Game, RoomOptions, ThreePlayer
from erqiwang_core.parts import (
    Agreed,
    Auction,
    Captured,
    CapturedCards,
    ContractPart,
    NameAdvice,
    Table,
    TrumpCounts,
    TrumpVoid,
    Turn,
)
from erqiwang_core.playing import Playing
from erqiwang_core.refusals import Phase
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import Settled
from erqiwang_core.units import CardSet, Chips, Points, Seat
from erqiwang_core.view import captured, captured_cards, inference, table, trump_counts, trump_void, turn, view

from tests.rules.positions import EAST, NORTH, SOUTH, SPADES, WEST, after, endgame, in_play, play
from tests.rules.table import (
    burying_table,
    dealt_table,
    disbanded_table,
    house,
    named_table,
    open_table,
    played_table,
    ready_table,
    seat,
    suggested,
    surrendered_table,
)
from tests.rules.written import cards, sign

CLIMB = RoomOptions(ThreePlayer(climb=True))
FOUR = RoomOptions(FourPlayer())
HURRIED = RoomOptions(countdowns=Countdowns(bid=1, trump=2, bury=3, play=4))
NOBODY = Turn(None, 0, 0)


@pytest.mark.parametrize(
    ("match", "acting"),
    [
        pytest.param(open_table(HURRIED), NOBODY, id="before the first deal: nobody"),
        pytest.param(dealt_table(HURRIED), Turn(EAST, 1, 1), id="the first bidder"),
        pytest.param(seat(dealt_table(HURRIED), 0, Bid(70)), Turn(SOUTH, 1, 2), id="the next bidder"),
        pytest.param(named_table(HURRIED), Turn(EAST, 2, 4), id="the declarer names trump"),
        pytest.param(burying_table(HURRIED), Turn(EAST, 3, 5), id="the declarer buries, a turn of its own"),
        pytest.param(played_table(HURRIED), Turn(EAST, 4, 6), id="the declarer leads, a turn of its own again"),
        pytest.param(played_table(HURRIED, plays=1), Turn(SOUTH, 4, 7), id="the next seat follows"),
        pytest.param(surrendered_table(HURRIED), NOBODY, id="between deals: all, so nobody in turn"),
        pytest.param(
            ready_table(surrendered_table(HURRIED), 0, 1, 2), Turn(SOUTH, 1, 1), id="the next deal counts anew"
        ),
        pytest.param(disbanded_table(HURRIED), NOBODY, id="after the end: nobody"),
    ],
)
def test_whose_turn_it_is_and_the_seconds_shown(match: Match, acting: Turn) -> None:
    assert turn(match) == acting


def test_every_play_is_a_turn_of_its_own_past_the_end_of_a_trick() -> None:
    match = played_table()
    for number in range(6, 18):
        assert turn(match).number == number
        match = suggested(match)


@pytest.mark.parametrize(
    ("options", "calls", "told"),
    [
        pytest.param(RoomOptions(), (), Auction((), None, None, Chips(0)), id="no bid: base 0"),
        pytest.param(
            RoomOptions(),
            (Bid(65),),
            Auction((BidMade(EAST, Points(65)),), EAST, Points(65), Chips(2)),
            id="the base chips of the standing bid",
        ),
        pytest.param(
            RoomOptions(),
            (Bid(60), Pass(), Bid(45)),
            Auction(
                (BidMade(EAST, Points(60)), BidPassed(SOUTH), BidMade(WEST, Points(45))), WEST, Points(45), Chips(6)
            ),
            id="the lowest bid stands, passes are told beside it",
        ),
        pytest.param(
            CLIMB, (Bid(45),), Auction((BidMade(EAST, Points(45)),), EAST, Points(45), Chips(7)), id="base with climb"
        ),
        pytest.param(
            FOUR, (Bid(40),), Auction((BidMade(EAST, Points(40)),), EAST, Points(40), Chips(4)), id="four players: unit"
        ),
    ],
)
def test_the_calls_so_far_are_seen_by_all(options: RoomOptions, calls: tuple[Bid | Pass, ...], told: Auction) -> None:
    match = dealt_table(options)
    for number, call in enumerate(calls):
        match = seat(match, number, call)
    assert {view(match, each).auction for each in match.chairs.seats()} == {told}


@pytest.mark.parametrize(
    ("match", "agreed"),
    [
        pytest.param(dealt_table(), None, id="in bidding: nothing"),
        pytest.param(named_table(), Agreed(EAST, Points(70), Chips(2), True, None), id="at 70 surrender is open"),
        pytest.param(named_table(bid=65), Agreed(EAST, Points(65), Chips(2), False, None), id="at 65 it is not"),
        pytest.param(
            named_table(FOUR, bid=85), Agreed(EAST, Points(85), Chips(1), True, None), id="four players: open at 85"
        ),
        pytest.param(burying_table(), Agreed(EAST, Points(70), Chips(2), False, SPADES), id="not once trump is named"),
        pytest.param(played_table(), Agreed(EAST, Points(70), Chips(2), False, SPADES), id="in play"),
        pytest.param(surrendered_table(), None, id="after the settlement, which holds it"),
        pytest.param(disbanded_table(), None, id="after the end"),
    ],
)
def test_the_contract_is_seen_by_all(match: Match, agreed: Agreed | None) -> None:
    assert {view(match, each).contract for each in match.chairs.seats()} == {ContractPart(agreed)}


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        pytest.param(
            RoomOptions(), {"♦": 0, "♣": 1, "♥": 1, "♠": 2}, id="three players: the suit's own, its 7s among them"
        ),
        pytest.param(
            FOUR, {"♦": 0, "♣": 1, "♥": 1, "♠": 2, "none": 2}, id="four players: no trump counts jokers, 7s and 2s"
        ),
    ],
)
def test_each_choice_of_trump_comes_with_the_pairs_of_its_suit(options: RoomOptions, choices: dict[str, int]) -> None:
    match = named_table(options)
    assert isinstance(match, Running)
    assert isinstance(match.deal, Naming)
    hand = cards("BJ BJ ♥7 ♥7 ♦7 ♠2 ♣5 ♣5 ♠A ♠A ♠K ♠K ♥A ♥K")
    held = Naming(match.deal.dealt, match.deal.contract, match.deal.hands.put(EAST, hand))
    advised = view(Running(match.options, match.chairs, held, match.by_deal), EAST).advice.choice
    assert isinstance(advised, NameAdvice)
    assert {sign(trump): pairs for trump, pairs in advised.trumps} == choices


def at_table(deal: Playing | Settled) -> Running:
    """A match that has come to that deal."""
    game = FourPlayer() if len(deal.dealt.hands) == 4 else ThreePlayer()
    begun = dealt_table(RoomOptions(game, review=deal.dealt.rules.review))
    return Running(begun.options, begun.chairs, deal, ())


@pytest.mark.parametrize(
    "match",
    [open_table(), dealt_table(), surrendered_table(), disbanded_table()],
    ids=["open", "bidding", "settled", "over"],
)
def test_without_a_declarer_in_a_deal_the_running_multiplier_is_0(match: Match) -> None:
    assert captured(match) == Captured(Points(0), 0)


@pytest.mark.parametrize("match", [named_table(), burying_table(), played_table(), seat(dealt_table(FOUR), 0, Bid(0))])
def test_from_the_declarer_on_it_is_3_while_nothing_is_captured(match: Match) -> None:
    assert captured(match) == Captured(Points(0), 3)


@pytest.mark.parametrize(
    ("bid", "points", "times"),
    [
        pytest.param(70, 5, 2, id="near shutout"),
        pytest.param(70, 40, 1, id="made"),
        pytest.param(70, 70, 1, id="one upgrade, without a sign"),
        pytest.param(70, 110, 2, id="two upgrades"),
        pytest.param(5, 125, 4, id="four upgrades at 5"),
    ],
)
def test_the_running_multiplier_is_of_the_points_so_far(bid: int, points: int, times: int) -> None:
    match = at_table(endgame("♣6", "♣8", "♣9", bid=bid, captured=points))
    assert captured(match).multiplier == times


def test_the_running_multiplier_counts_no_kitty_capture() -> None:
    before = endgame(
        "♠6 ♥5", "♠5 ♣6", "♣8 ♣9", declarer=SOUTH, leader=EAST, bid=70, buried="♥K ♥K ♥10 ♥10", captured=35
    )
    deal = after(before, "♠6", "♠5", "♣8")
    assert isinstance(deal, Playing)
    assert captured(at_table(deal)) == Captured(Points(40), 1)
    assert {captured_cards(at_table(deal), each) for each in (EAST, WEST)} == {CapturedCards(deal.captured)}
    assert captured_cards(at_table(deal), SOUTH) == CapturedCards(CardSet(0))


@pytest.mark.parametrize(
    ("game", "texts", "plays"),
    [
        pytest.param(ThreePlayer(), ("♥A ♥5", "♥6 ♣6", "♥8 ♣9"), "♥A ♥6 ♥8 ♥5 ♣6 ♣9", id="three players"),
        pytest.param(FourPlayer(), ("♥A ♥5", "♥6 ♣6", "♥8 ♣9", "♥9 ♣J"), "♥A ♥6 ♥8 ♥9 ♥5 ♣6 ♣9 ♣J", id="four players"),
    ],
)
@pytest.mark.parametrize("review", [True, False])
def test_a_finished_trick_lies_on_the_table_until_the_next_lead_and_the_last_after_the_settlement(
    game: Game, texts: tuple[str, ...], plays: str, review: bool
) -> None:
    deal, words, seats = endgame(*texts, game=game, review=review), plays.split(), len(texts)
    assert table(at_table(deal)) == Table(0, None)
    for number in range(len(words)):
        deal_now = after(deal, *words[: number + 1])
        assert isinstance(deal_now, Playing | Settled)
        seen = table(at_table(deal_now))
        assert seen.trick is not None
        assert (seen.number, len(seen.trick.plays)) == (1 + number // seats, 1 + number % seats)
        assert isinstance(deal_now, Settled) == (number + 1 == len(words))


@pytest.mark.parametrize(
    "options", [RoomOptions(), RoomOptions(review=False), FOUR, RoomOptions(FourPlayer(), review=False)]
)
def test_the_last_trick_of_a_deal_lies_there_until_the_next_deal(options: RoomOptions) -> None:
    match = played_table(options)
    while phase(match) is not Phase.SETTLED:
        match = suggested(match)
    last = table(match)
    assert last.trick is not None
    assert len(last.trick.plays) == len(match.chairs)
    *first, latest = match.chairs.seats()
    assert table(ready_table(match, *first)) == last
    assert table(house(ready_table(match, *first), Disband())) == last
    assert table(ready_table(match, *first, latest)) == Table(0, None)


@pytest.mark.parametrize("review", [True, False])
@pytest.mark.parametrize("seats", [3, 4])
def test_captured_cards_are_the_defenders_to_see_in_every_room_and_what_is_proven_in_review_rooms(
    seats: int, review: bool
) -> None:
    game = FourPlayer() if seats == 4 else ThreePlayer()
    texts, plays = ("♥K ♥5", "♥A ♣6", "♣8 ♣9", "♥9 ♣J")[:seats], ("♥K", "♥A", "♣8", "♥9")[:seats]
    match = at_table(in_play(after(endgame(*texts, game=game, review=review), *plays)))
    for each in match.chairs.seats():
        assert write(captured_cards(match, each).cards) == ("" if each == EAST else "♥K")
    proven = inference(match).proven
    assert (proven is not None) == review
    assert proven is None or Group.HEARTS in proven[WEST].void


VOID = ("♠A ♥5", "♠5 ♥6", "♠6 ♥8", "♠8 ♥9")


@pytest.mark.parametrize("review", [True, False])
@pytest.mark.parametrize("seats", [3, 4])
def test_what_is_seen_of_seats_void_of_trump(seats: int, review: bool) -> None:
    """In every room who is, and what four players tell; in a review room of three players the counts."""
    game = FourPlayer() if seats == 4 else ThreePlayer()
    deal = after(endgame(*VOID[:seats], game=game, review=review), "♠A", "♠5")
    assert isinstance(deal, Playing)
    stated = (Statement(WEST, 1, False), Statement(NORTH, 1, False)) if seats == 4 else ()
    for each in deal.hands.seats():
        counts = tuple(
            (other, TrumpCount(int(other not in (EAST, SOUTH)), 0))
            for other in deal.hands.seats()
            if other != each and review and seats == 3
        )
        assert trump_void(at_table(deal)) == TrumpVoid((EAST, SOUTH), stated)
        assert trump_counts(at_table(deal), each) == TrumpCounts(counts)
        before = in_play(after(endgame(*VOID[:seats], game=game, review=review), "♠A"))
        told = notice(at_table(before), play(before, "♠5")[0], at_table(deal), each)
        assert fold(view(at_table(before), each), told) == view(at_table(deal), each)


def test_a_settlement_stays_in_view_of_all_whoever_is_ready() -> None:
    match = ready_table(surrendered_table(), 0)
    results = [view(match, each).settlement.result for each in match.chairs.seats()]
    assert results[0] is not None
    assert results[0].ready == BySeat((True, False, False))
    assert results == results[:1] * 3
    assert view(ready_table(match, 1, 2), Seat(0)).settlement.result is None
