"""Every refusal, its code, what it carries, and which of several faults is named (rules §15)."""

from typing import get_args

import pytest
from erqiwang_core import deal as deals, match as matches
from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.kernel.following import GroupNotFollowed, PairsNotPlayed, TractorNotPlayed, WholeGroupNotPlayed
from erqiwang_core.kernel.hand import count, ids
from erqiwang_core.kernel.shapes import SeveralGroups, SideSuitThrow
from erqiwang_core.kernel.trump import Group
from erqiwang_core.match import HouseCommand, LeaveSeat, Match, Player, Ready, TakeSeat
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.options import FourPlayer, RoomOptions
from erqiwang_core.playing import Play, Request, ShowTrumps, Signal, SignalKind, Signalled, answer
from erqiwang_core.refusals import (
    BidNotLower,
    CardNotHeld,
    Code,
    DeclarerMayNotSignal,
    FirstBidderMustBid,
    IllegalFollow,
    IllegalLead,
    NobodyIsVoid,
    NoSuchSeat,
    NotABid,
    NotACard,
    NotASignal,
    NotATrump,
    NotInThisRoom,
    NotYourTurn,
    Phase,
    Refusal,
    RepeatedCard,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    SurrenderNotAllowed,
    WrongNumberOfCards,
    WrongPhase,
    code,
)
from erqiwang_core.units import CardSet, Points, Seat

from tests.rules.positions import EAST, NORTH, SOUTH, WEST, after, endgame, in_play
from tests.rules.table import (
    burying_table,
    dealt_table,
    disbanded_table,
    house,
    named_table,
    open_table,
    played_table,
    seat,
    shuffle,
    surrendered_table,
)
from tests.rules.written import cards, picked, raw

ONE_EACH = (
    (WrongPhase(Phase.OPEN), Code.STEP),
    (NoSuchSeat(9, 3), Code.SEAT),
    (NotYourTurn(EAST), Code.SEAT),
    (SeatOccupied(EAST), Code.SEAT),
    (SeatFree(EAST), Code.SEAT),
    (SeatedElsewhere(EAST), Code.SEAT),
    (NotABid(1, (Points(70),)), Code.PARAM),
    (NotATrump(9, (1, 2, 3, 4)), Code.PARAM),
    (NotASignal(9), Code.PARAM),
    (NotACard(-1), Code.PARAM),
    (RepeatedCard(1), Code.PARAM),
    (CardNotHeld(1), Code.PARAM),
    (WrongNumberOfCards(8, 7), Code.PARAM),
    (FirstBidderMustBid(Points(70)), Code.RULE),
    (BidNotLower(Points(70)), Code.RULE),
    (SurrenderNotAllowed(Points(65)), Code.RULE),
    (IllegalLead(SideSuitThrow(Group.HEARTS), CardSet(1)), Code.RULE),
    (IllegalFollow(PairsNotPlayed(1), CardSet(0), CardSet(3)), Code.RULE),
    (DeclarerMayNotSignal(), Code.RULE),
    (NotInThisRoom(), Code.RULE),
    (NobodyIsVoid(), Code.RULE),
)


@pytest.mark.parametrize(("refusal", "expected"), [pytest.param(*row, id=type(row[0]).__name__) for row in ONE_EACH])
def test_code(refusal: Refusal, expected: Code) -> None:
    assert code(refusal) is expected


def test_every_refusal_has_a_row_and_the_service_s_codes_are_left_to_it() -> None:
    assert {type(refusal) for refusal, _ in ONE_EACH} == set(get_args(Refusal))
    assert {expected for _, expected in ONE_EACH} == set(Code) - {Code.PLAYER, Code.NODESK}
    assert [each.value for each in Code] == [1, 2, 3, 4, 5, 6]


NO_SEAT = 9
ILLEGAL_CARDS = (0, 0)


@pytest.mark.parametrize(
    ("match", "number", "command", "refusal"),
    [
        pytest.param(open_table(), NO_SEAT, Bid(1), NoSuchSeat(NO_SEAT, 3), id="seat before phase"),
        pytest.param(open_table(), -1, Ready(), NoSuchSeat(-1, 3), id="a negative seat is no seat"),
        pytest.param(open_table(), 0, Bid(70), WrongPhase(Phase.OPEN), id="no command before the first deal"),
        pytest.param(dealt_table(), 1, Play(()), WrongPhase(Phase.BIDDING), id="phase before turn: play while bidding"),
        pytest.param(dealt_table(), 1, Bury(()), WrongPhase(Phase.BIDDING), id="phase before turn: bury while bidding"),
        pytest.param(dealt_table(), 0, NameTrump(9), WrongPhase(Phase.BIDDING), id="phase before parameters"),
        pytest.param(dealt_table(), 0, Surrender(), WrongPhase(Phase.BIDDING), id="phase before rule"),
        pytest.param(dealt_table(), 1, Bid(1), NotYourTurn(EAST), id="turn before parameters: bid"),
        pytest.param(dealt_table(), 1, Pass(), NotYourTurn(EAST), id="turn before rule: pass"),
        pytest.param(
            seat(dealt_table(), 0, Bid(40)),
            1,
            Bid(42),
            NotABid(42, tuple(Points(bid) for bid in range(70, 0, -5))),
            id="parameters before rule: a bid not lower",
        ),
        pytest.param(named_table(), 0, Bid(70), WrongPhase(Phase.NAMING), id="bidding is over"),
        pytest.param(named_table(), 1, NameTrump(9), NotYourTurn(EAST), id="turn before parameters: trump"),
        pytest.param(named_table(bid=65), 1, Surrender(), NotYourTurn(EAST), id="turn before rule: surrender"),
        pytest.param(burying_table(), 0, NameTrump(4), WrongPhase(Phase.BURYING), id="trump is named once"),
        pytest.param(burying_table(), 1, Bury(ILLEGAL_CARDS), NotYourTurn(EAST), id="turn before parameters: bury"),
        pytest.param(played_table(), 1, Play(ILLEGAL_CARDS), NotYourTurn(EAST), id="turn before parameters: play"),
        pytest.param(played_table(), 0, Bury(()), WrongPhase(Phase.PLAYING), id="burying is over"),
        pytest.param(played_table(), 0, Ready(), WrongPhase(Phase.PLAYING), id="ready during play"),
        pytest.param(surrendered_table(), 0, Play(()), WrongPhase(Phase.SETTLED), id="play after the settlement"),
        pytest.param(surrendered_table(), 2, Pass(), WrongPhase(Phase.SETTLED), id="bid after the settlement"),
        pytest.param(disbanded_table(), 0, Play(()), WrongPhase(Phase.OVER), id="play after the end"),
        pytest.param(disbanded_table(), NO_SEAT, Play(()), NoSuchSeat(NO_SEAT, 3), id="seat before phase at the end"),
    ],
)
def test_which_fault_is_named(match: Match, number: int, command: matches.Command, refusal: Refusal) -> None:
    assert matches.decide(match, Seat(number), command, shuffle(match.options)) == refusal


@pytest.mark.parametrize(
    ("match", "number", "request_", "refusal"),
    [
        pytest.param(open_table(), NO_SEAT, Signal(9), NoSuchSeat(NO_SEAT, 3), id="seat before phase"),
        pytest.param(open_table(), 0, ShowTrumps(), WrongPhase(Phase.OPEN), id="before the first deal"),
        pytest.param(dealt_table(), 1, Signal(9), WrongPhase(Phase.BIDDING), id="phase before parameters: signal"),
        pytest.param(surrendered_table(), 1, Signal(1), WrongPhase(Phase.SETTLED), id="after the settlement"),
        pytest.param(burying_table(), 1, ShowTrumps(), WrongPhase(Phase.BURYING), id="before play"),
        pytest.param(played_table(), 0, Signal(9), NotASignal(9), id="parameters before rule: the declarer's signal"),
        pytest.param(played_table(), 0, Signal(1), DeclarerMayNotSignal(), id="the declarer may not signal"),
        pytest.param(played_table(), 1, Signal(0), NotASignal(0), id="no such signal"),
        pytest.param(played_table(), 1, Signal(-1), NotASignal(-1), id="a negative signal"),
        pytest.param(played_table(), 1, ShowTrumps(), NobodyIsVoid(), id="nobody is void yet"),
        pytest.param(
            played_table(RoomOptions(review=False)), 1, ShowTrumps(), NotInThisRoom(), id="not in a no-review room"
        ),
        pytest.param(
            played_table(RoomOptions(game=FourPlayer()), bid=80), 1, ShowTrumps(), NotInThisRoom(), id="not with four"
        ),
        pytest.param(disbanded_table(), 1, Signal(1), WrongPhase(Phase.OVER), id="after the end"),
    ],
)
def test_refused_requests(match: Match, number: int, request_: Request, refusal: Refusal) -> None:
    assert matches.answer(match, Seat(number), request_) == refusal


@pytest.mark.parametrize(
    ("raw_signal", "kind"),
    [(1, SignalKind.CAN_BEAT), (2, SignalKind.NO_POINTS), (3, SignalKind.HAS_POINTS)],
)
def test_a_signal_goes_to_the_other_defenders_whosever_turn_it_is(raw_signal: int, kind: SignalKind) -> None:
    three = in_play(endgame("♣5", "♣6", "♣8", declarer=SOUTH))
    assert answer(three, WEST, Signal(raw_signal)) == Signalled(WEST, kind, (EAST,))
    four = in_play(endgame("♣5", "♣6", "♣8", "♣9", declarer=SOUTH, game=FourPlayer()))
    assert answer(four, WEST, Signal(raw_signal)) == Signalled(WEST, kind, (EAST, NORTH))


@pytest.mark.parametrize(
    ("match", "command", "refusal"),
    [
        pytest.param(open_table(), TakeSeat(NO_SEAT, Player("A")), NoSuchSeat(NO_SEAT, 3), id="seat before all"),
        pytest.param(disbanded_table(), TakeSeat(NO_SEAT, Player("A")), NoSuchSeat(NO_SEAT, 3), id="at the end too"),
        pytest.param(dealt_table(), LeaveSeat(NO_SEAT), NoSuchSeat(NO_SEAT, 3), id="seat before phase"),
        pytest.param(
            house(open_table(), TakeSeat(0, Player("A")), TakeSeat(1, Player("B"))),
            TakeSeat(1, Player("A")),
            SeatOccupied(SOUTH),
            id="occupied before seated elsewhere",
        ),
    ],
)
def test_which_fault_the_house_is_told(match: Match, command: HouseCommand, refusal: Refusal) -> None:
    assert matches.administer(match, command, shuffle(match.options)) == refusal


DEAL = endgame("♥5 ♥5 ♥6 ♦K ♠A", "♥8 ♥8 ♥9 ♥9 ♣A", "♥10 ♣6 ♣8 ♣9 ♣J")


def played(deal: deals.Deal, numbers: tuple[int, ...]) -> tuple[deals.Event, ...] | Refusal:
    return deals.decide(deal, in_play(deal).turn, Play(numbers))


@pytest.mark.parametrize(
    ("numbers", "refusal"),
    [
        pytest.param((), WrongNumberOfCards(0, 0), id="nothing"),
        pytest.param((108,), NotACard(108), id="past the last id"),
        pytest.param((-1,), NotACard(-1), id="negative"),
        pytest.param((10**30,), NotACard(10**30), id="huge"),
        pytest.param(raw(cards("♠A")) * 2, RepeatedCard(raw(cards("♠A"))[0]), id="twice"),
        pytest.param(raw(cards("BJ")), CardNotHeld(53), id="not held"),
        pytest.param((53, 53), CardNotHeld(53), id="the first fault in the order given: not held"),
        pytest.param((*raw(cards("♠A")), 200, 53), NotACard(200), id="the first fault in the order given: no card"),
    ],
)
def test_refused_cards(numbers: tuple[int, ...], refusal: Refusal) -> None:
    assert played(DEAL, numbers) == refusal


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("♥5 ♥6", SideSuitThrow(Group.HEARTS), id="a side suit may not be thrown"),
        pytest.param("♥5 ♦K", SeveralGroups((Group.DIAMONDS, Group.HEARTS)), id="two side suits"),
        pytest.param("♥5 ♠A", SeveralGroups((Group.TRUMPS, Group.HEARTS)), id="trump and side suit"),
    ],
)
def test_an_illegal_lead_comes_with_a_legal_one(text: str, fault: SeveralGroups | SideSuitThrow) -> None:
    refusal = played(DEAL, raw(picked(DEAL.hands[EAST], text)))
    assert isinstance(refusal, IllegalLead)
    assert refusal.fault == fault
    assert isinstance(played(DEAL, raw(refusal.legal)), tuple)


TRACTOR = endgame("♥J ♥J ♥Q ♥Q", "♥8 ♥8 ♥9 ♥9 ♥5 ♥5", "♥10 ♣6 ♣8 ♣9 ♣J ♣Q")
WITH_PAIR = endgame("♥K ♥K", "♥8 ♥8 ♥9 ♣5", "♣5 ♣6 ♣8 ♣9")


@pytest.mark.parametrize(
    ("deal", "plays", "text", "broken", "compulsory"),
    [
        pytest.param(WITH_PAIR, ("♥K ♥K",), "♥8 ♥9", PairsNotPlayed(1), "♥8 ♥8", id="a pair is called for"),
        pytest.param(WITH_PAIR, ("♥K ♥K",), "♥8 ♣5", GroupNotFollowed(Group.HEARTS), "♥8 ♥8", id="the suit is held"),
        pytest.param(
            TRACTOR,
            ("♥J ♥J ♥Q ♥Q",),
            "♥8 ♥8 ♥5 ♥5",
            TractorNotPlayed(2),
            "♥8 ♥8 ♥9 ♥9",
            id="a tractor is called for",
        ),
        pytest.param(
            TRACTOR,
            ("♥J ♥J ♥Q ♥Q", "♥8 ♥8 ♥9 ♥9"),
            "♣6 ♣8 ♣9 ♣J",
            WholeGroupNotPlayed(Group.HEARTS),
            "♥10",
            id="the last of the suit is called for",
        ),
    ],
)
def test_an_illegal_follow_comes_with_what_was_compulsory_and_a_legal_play(
    deal: deals.Deal,
    plays: tuple[str, ...],
    text: str,
    broken: PairsNotPlayed | GroupNotFollowed | TractorNotPlayed | WholeGroupNotPlayed,
    compulsory: str,
) -> None:
    before = in_play(after(deal, *plays))
    hand = before.hands[before.turn]
    refusal = played(before, raw(picked(hand, text)))
    assert isinstance(refusal, IllegalFollow)
    assert refusal.breach == broken
    assert refusal.compulsory == picked(hand, compulsory)
    assert not refusal.compulsory & ~refusal.legal
    assert isinstance(played(before, raw(refusal.legal)), tuple)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        pytest.param("♥8", WrongNumberOfCards(2, 1), id="too few, before the rule"),
        pytest.param("♥8 ♥9 ♣5", WrongNumberOfCards(2, 3), id="too many, before the rule"),
        pytest.param("", WrongNumberOfCards(2, 0), id="none"),
    ],
)
def test_a_wrong_number_of_cards(text: str, refusal: Refusal) -> None:
    before = in_play(after(WITH_PAIR, "♥K ♥K"))
    assert played(before, raw(picked(before.hands[SOUTH], text))) == refusal


def test_a_card_played_before_is_not_held_any_more() -> None:
    deal = in_play(after(endgame("♠A ♥5", "♠5 ♥6", "♠6 ♥8"), "♠A", "♠5", "♠6"))
    spent = ids(cards("♠A"))[0]
    assert count(deal.hands[EAST]) == 1
    assert played(deal, (spent,)) == CardNotHeld(spent)
