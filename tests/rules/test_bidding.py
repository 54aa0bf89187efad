"""Auctions, whole and refused (rules §4, part B; design 4.2)."""

import pytest
from erqiwang_core import deal as deals
from erqiwang_core.bidding import Bid, Bidding, DeclarerFound, Opening, Pass, begin, legal_bids, suggested_call, turn
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.deal import Deal
from erqiwang_core.naming import Naming
from erqiwang_core.options import FourPlayer, Game, ThreePlayer
from erqiwang_core.refusals import BidNotLower, FirstBidderMustBid, NotABid, NotYourTurn, Refusal
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Points, Seat

from tests.rules.positions import EAST, NORTH, SOUTH, WEST, dealt
from tests.rules.written import cards, hands

PASS = None
THREE = ThreePlayer()
FOUR = FourPlayer()
THREE_BIDS = tuple(Points(bid) for bid in range(70, 0, -5))
FOUR_BIDS = game_rules(FOUR, review=True).bids


def opening(game: Game, first: Seat = EAST) -> Bidding:
    held = hands("♣5", "♣6", "♣8", "♣9")[: 4 if isinstance(game, FourPlayer) else 3]
    of = dealt(held, game, review=True, kitty=cards("BJ"))
    state = begin(of)
    return Bidding(state.dealt, Opening(first), ())


def call(deal: Deal, points: int | None) -> tuple[deals.Event, ...] | Refusal:
    """What comes of whoever's turn it is calling those points, or passing."""
    assert isinstance(deal, Bidding)
    speaking = turn(deal.auction)
    assert speaking is not None
    return deals.decide(deal, speaking, Pass() if points is PASS else Bid(points))


def called(deal: Deal, *calls: int | None) -> Deal:
    """The deal after those calls, seat by seat."""
    for points in calls:
        events = call(deal, points)
        assert isinstance(events, tuple), events
        for event in events:
            deal = deals.evolve(deal, event)
    return deal


@pytest.mark.parametrize(
    ("game", "first", "calls", "declarer", "bid"),
    [
        pytest.param(THREE, EAST, (70, PASS, PASS), EAST, 70, id="nobody else bids"),
        pytest.param(THREE, SOUTH, (70, PASS, PASS), SOUTH, 70, id="the first bidder opens, whichever seat it is"),
        pytest.param(THREE, EAST, (5,), EAST, 5, id="5 ends it at once"),
        pytest.param(THREE, EAST, (70, 5), SOUTH, 5, id="5 ends it at once, from the second seat"),
        pytest.param(THREE, EAST, (70, 65, 5), WEST, 5, id="5 ends it at once, from the last seat"),
        pytest.param(THREE, EAST, (70, PASS, 65, PASS), WEST, 65, id="one passes, one undercuts"),
        pytest.param(THREE, EAST, (70, PASS, 65, 60, PASS), EAST, 60, id="a seat that passed is not asked again"),
        pytest.param(
            THREE, EAST, (70, 65, 60, 55, 50, 45, PASS, PASS), WEST, 45, id="round and round, then two passes"
        ),
        pytest.param(THREE, EAST, (70, 60, PASS, 55, PASS), EAST, 55, id="two seats left"),
        pytest.param(THREE, EAST, (40, 10, PASS, PASS), SOUTH, 10, id="bids may jump"),
        pytest.param(FOUR, EAST, (120, PASS, PASS, PASS), EAST, 120, id="four players: nobody else bids"),
        pytest.param(FOUR, NORTH, (0,), NORTH, 0, id="four players: 0 ends it at once"),
        pytest.param(FOUR, EAST, (5, PASS, PASS, 0), NORTH, 0, id="four players: 0 undercuts 5"),
        pytest.param(FOUR, EAST, (5, PASS, PASS, PASS), EAST, 5, id="four players: 5 does not end it"),
        pytest.param(FOUR, EAST, (120, 115, PASS, 110, PASS, 105, PASS), SOUTH, 105, id="four players: two seats left"),
    ],
)
def test_auction(game: Game, first: Seat, calls: tuple[int | None, ...], declarer: Seat, bid: int) -> None:
    deal = called(opening(game, first), *calls)
    assert isinstance(deal, Naming)
    assert (deal.contract.declarer, deal.contract.row.bid) == (declarer, bid)
    assert len(deal.contract.calls) == len(calls)
    assert deal.hands[declarer] == deal.dealt.hands[declarer] | deal.dealt.kitty


@pytest.mark.parametrize(
    ("game", "calls", "points", "refusal"),
    [
        pytest.param(THREE, (), PASS, FirstBidderMustBid(Points(70)), id="the first bidder must bid"),
        pytest.param(THREE, (70,), 70, BidNotLower(Points(70)), id="equal is not lower"),
        pytest.param(THREE, (60,), 65, BidNotLower(Points(60)), id="higher is not lower"),
        pytest.param(THREE, (60, PASS, 55), 60, BidNotLower(Points(55)), id="the standing bid is the lowest"),
        pytest.param(THREE, (), 75, NotABid(75, THREE_BIDS), id="above 70"),
        pytest.param(THREE, (), 0, NotABid(0, THREE_BIDS), id="0 is no bid with three players"),
        pytest.param(THREE, (), -5, NotABid(-5, THREE_BIDS), id="negative"),
        pytest.param(THREE, (), 62, NotABid(62, THREE_BIDS), id="no multiple of 5"),
        pytest.param(THREE, (70,), 72, NotABid(72, THREE_BIDS), id="no bid at all comes before not lower"),
        pytest.param(THREE, (), 10**20, NotABid(10**20, THREE_BIDS), id="huge"),
        pytest.param(FOUR, (), PASS, FirstBidderMustBid(Points(120)), id="four players: the first bidder must bid"),
        pytest.param(FOUR, (), 125, NotABid(125, FOUR_BIDS), id="four players: above 120"),
        pytest.param(FOUR, (5,), 5, BidNotLower(Points(5)), id="four players: equal is not lower"),
    ],
)
def test_refused_calls(game: Game, calls: tuple[int | None, ...], points: int | None, refusal: Refusal) -> None:
    assert call(called(opening(game), *calls), points) == refusal


@pytest.mark.parametrize("out_of_turn", [Bid(5), Pass(), Bid(-1)])
def test_a_call_out_of_turn(out_of_turn: Bid | Pass) -> None:
    deal = called(opening(THREE), 70)
    assert deals.decide(deal, WEST, out_of_turn) == NotYourTurn(SOUTH)
    assert deals.decide(deal, EAST, out_of_turn) == NotYourTurn(SOUTH)


@pytest.mark.parametrize(
    ("game", "calls", "shown"),
    [
        pytest.param(THREE, (70, PASS, PASS), True, id="at 70 to every seat"),
        pytest.param(THREE, (65, PASS, PASS), False, id="below 70 to the declarer alone"),
        pytest.param(FOUR, (120, PASS, PASS, PASS), True, id="four players: at every bid"),
        pytest.param(FOUR, (0,), True, id="four players: at 0 too"),
    ],
)
def test_the_kitty_is_shown(game: Game, calls: tuple[int | None, ...], shown: bool) -> None:
    events = call(called(opening(game), *calls[:-1]), calls[-1])
    assert isinstance(events, tuple)
    found = events[-1]
    assert isinstance(found, DeclarerFound)
    assert found.shown == (cards("BJ") if shown else None)


def test_calls_are_kept_in_order() -> None:
    deal = called(opening(THREE), 70, PASS, 65, PASS)
    assert isinstance(deal, Naming)
    assert deal.contract.calls == (
        BidMade(EAST, Points(70)),
        BidPassed(SOUTH),
        BidMade(WEST, Points(65)),
        BidPassed(EAST),
    )


@pytest.mark.parametrize(
    ("game", "calls", "bids"),
    [
        pytest.param(THREE, (), list(range(70, 0, -5)), id="all at the opening"),
        pytest.param(THREE, (20,), [15, 10, 5], id="the lower ones"),
        pytest.param(FOUR, (10, PASS), [5, 0], id="four players: down to 0"),
    ],
)
def test_legal_bids_are_the_bids_that_stand(game: Game, calls: tuple[int | None, ...], bids: list[int]) -> None:
    deal = called(opening(game), *calls)
    assert isinstance(deal, Bidding)
    assert list(legal_bids(deal)) == bids
    assert [points for points in range(-5, 130) if isinstance(call(deal, points), tuple)] == sorted(bids)


def test_the_suggested_call_says_the_least() -> None:
    deal = opening(FOUR)
    assert suggested_call(deal) == Bid(120)
    contested = called(deal, 100)
    assert isinstance(contested, Bidding)
    assert suggested_call(contested) == Pass()
