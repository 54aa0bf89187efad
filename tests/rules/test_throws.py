"""Throws that stand and throws that fail, at the table (rules §6; design 5.4)."""

import pytest
from erqiwang_core import deal as deals
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.shapes import Lead, Single, Throw
from erqiwang_core.kernel.trump import Group, NoTrump
from erqiwang_core.options import FourPlayer
from erqiwang_core.playing import CardsLed, Play
from erqiwang_core.units import Seat

from tests.rules.positions import EAST, SOUTH, WEST, after, endgame, in_play, play, settlement
from tests.rules.written import cards, picked, raw


def thrown(deal: deals.Deal, text: str) -> CardsLed:
    (event,) = play(deal, text)
    assert isinstance(event, CardsLed)
    return event


@pytest.mark.parametrize(
    ("throw", "next_hand", "third_hand", "stands"),
    [
        pytest.param("BJ ♠K", "♥5 ♥6", "♣5 ♣6", True, id="nobody else holds a trump"),
        pytest.param("BJ ♥7", "♦7 ♠5", "♣7 ♠6", True, id="an equal card does not stop it"),
        pytest.param("BJ ♥7", "♠7 ♠5", "♣5 ♣6", False, id="a higher card stops a single"),
        pytest.param("BJ ♥7", "♣5 ♣6", "♠7 ♠5", False, id="it stops it in the last seat too"),
        pytest.param("BJ ♠K", "♠A ♠A", "♣5 ♣6", False, id="a card of a pair stops a single"),
        pytest.param("♠K ♠K BJ", "♠A ♠5 ♠6", "♠A ♠5 ♠6", True, id="two seats with a card each of a higher pair"),
        pytest.param("♠K ♠K BJ", "♠A ♠A ♠6", "♠5 ♠8 ♠6", False, id="a higher pair stops a pair"),
        pytest.param("♠K ♠K BJ", "♠Q ♠Q ♠6", "SJ ♠7 ♠A", True, id="a lower pair and higher cards do not stop a pair"),
        pytest.param("♥7 ♥7 BJ", "♦7 ♦7 ♠6", "♠5 ♠8 ♠6", True, id="an equal pair does not stop a pair"),
        pytest.param("♥7 ♥7 BJ", "♠7 ♠7 ♠6", "♠5 ♠8 ♠6", False, id="the on-suit 7 pair stops an off-suit one"),
        pytest.param(
            "♠Q ♠Q ♠K ♠K BJ", "♠5 ♠5 ♠6 ♠6 ♠8 ♠8", "♣5", True, id="a longer but lower tractor does not stop one"
        ),
        pytest.param(
            "♠5 ♠5 ♠6 ♠6 BJ", "♠8 ♠8 ♠9 ♠9 ♠10 ♠10", "♣5", False, id="a longer and higher tractor holds one that does"
        ),
        pytest.param(
            "♠9 ♠9 ♠10 ♠10 BJ", "♠J ♠J ♠8 ♠8 ♠6 ♠6", "♣5", True, id="pairs around it that reach higher but not in a run"
        ),
        pytest.param(
            "♥2 ♥2 ♠A ♠A BJ", "♦2 ♦2 ♠K ♠K ♠Q ♠Q", "♣5", True, id="pairs on the level of its top, no run reaches higher"
        ),
        pytest.param("♥2 ♥2 ♠A ♠A BJ", "♦2 ♦2 ♠2 ♠2", "♣5", False, id="a tractor higher by one level"),
        pytest.param("♠Q ♠Q ♠K ♠K BJ", "♠A ♠A ♠5 ♠5", "♣5", True, id="a higher pair does not stop a tractor"),
        pytest.param(
            "♠8 ♠8 ♠9 ♠9 ♠10 ♠10 BJ", "♠J ♠J ♠Q ♠Q", "♣5", True, id="a shorter though higher tractor does not stop"
        ),
        pytest.param(
            "♠5 ♠5 ♠6 ♠6 ♠K BJ", "♠A", "♣5", False, id="one component stopped is enough: the lowest is not asked alone"
        ),
    ],
)
def test_whether_a_throw_stands(throw: str, next_hand: str, third_hand: str, stands: bool) -> None:
    event = thrown(endgame(throw, next_hand, third_hand), throw)
    assert (event.attempted is None) == stands
    assert isinstance(event.lead.shape, Throw) == stands


def test_the_partner_stops_a_throw_too() -> None:
    deal = endgame("♣5 ♣6", "BJ ♥7", "♠7 ♣8", declarer=EAST, leader=SOUTH)
    assert thrown(deal, "BJ ♥7").attempted is not None


@pytest.mark.parametrize(
    ("throw", "stopped_by", "forced"),
    [
        pytest.param("BJ ♠K ♠5", "♠A", "♠5", id="the lowest card"),
        pytest.param("BJ ♠K ♠K", "♠A ♠A", "♠K", id="a card of the lowest pair"),
        pytest.param("BJ ♥2 ♦2", "SJ", "♦2", id="among equals the lowest id: diamonds before hearts"),
        pytest.param("♥7 ♣7 ♦7", "SJ", "♦7", id="three off-suit 7s"),
        pytest.param("♦2 ♠A ♠Q", "♠K", "♠Q", id="by level, not by id"),
    ],
)
@pytest.mark.parametrize("seat", [EAST, SOUTH, WEST])
def test_the_forced_card_does_not_depend_on_the_seat(throw: str, stopped_by: str, forced: str, seat: Seat) -> None:
    texts = [stopped_by, "♣5"]
    texts.insert(seat, throw)
    deal = endgame(*texts, leader=seat)
    event = thrown(deal, throw)
    assert event.attempted == deal.hands[seat]
    assert event.cards == picked(deal.hands[seat], forced)
    assert event.lead == Lead(Group.TRUMPS, Single(deal.order.top(Group.TRUMPS, event.cards)), 1)


def test_among_equals_the_lowest_id_is_forced_whatever_its_suit() -> None:
    deal = endgame("♦2 SJ", "BJ ♥2 ♦2", "♣5", leader=SOUTH)
    event = thrown(deal, "BJ ♥2 ♦2")
    # The first deck's 2 of diamonds is elsewhere, so the 2 of hearts has the lower id.
    assert event.cards == picked(deal.hands[SOUTH], "♥2")


def test_a_hand_shrinks_by_the_forced_card_only() -> None:
    deal = in_play(after(endgame("♠K ♠5 ♥9", "♠A ♥5 ♥6", "♣5 ♣6 ♣8"), "♠K ♠5"))
    assert deal.hands[EAST] == cards("♠K ♥9")
    assert deal.trick is not None
    assert deal.trick.failed_throw
    assert deal.trick.cards() == cards("♠5")


def test_after_a_failed_throw_a_single_is_followed_and_may_win_the_trick() -> None:
    deal = after(endgame("♠K ♠5 ♥9", "♠A ♥5 ♥6", "♠10 ♣6 ♣8"), "♠K ♠5", "♠A", "♠10")
    assert in_play(deal).turn == SOUTH
    assert in_play(deal).points == 15
    assert in_play(deal).finished[0].failed_throw


def test_after_a_failed_throw_the_seat_may_throw_again() -> None:
    begun = endgame("BJ ♠A ♠K ♠5", "SJ ♥6 ♥8 ♥9", "♣5 ♣6 ♣8 ♣9")
    deal = after(begun, "BJ ♠5", "SJ", "♣6", "♥8", "♣8", "♠K")
    assert thrown(deal, "BJ ♠A").attempted is None


def test_a_standing_throw_takes_the_trick_whatever_is_played_on_it() -> None:
    deal = after(endgame("BJ ♠K ♠9", "♠6 ♠10 ♥6", "♣5 ♣6 ♣10"), "BJ ♠K", "♠6 ♠10", "♣10 ♣5")
    assert in_play(deal).turn == EAST
    assert in_play(deal).points == 0


def test_the_last_trick_won_with_a_throw_captures_by_its_best_component() -> None:
    deal = endgame("♥9 ♥8 ♥6 ♣9 ♣8", "BJ SJ SJ ♠7 ♠7", "♣5 ♣6 ♦5 ♦6 ♦8", leader=SOUTH, buried="♥K ♥10 ♥5")
    result = settlement(after(deal, "BJ SJ SJ ♠7 ♠7", "♣5 ♣6 ♦5 ♦6 ♦8", "♥9 ♥8 ♥6 ♣9 ♣8"))
    assert result.kitty_capture is not None
    assert (result.kitty_capture.points, result.kitty_capture.multiplier) == (25, 4)
    assert result.grade == 10 + 100


def test_no_trump_leaves_7s_and_2s_and_jokers_to_throw() -> None:
    deal = endgame("BJ ♠7 ♠7", "♠K ♠A ♥7", "♥7 ♦7 ♣2", "♣5 ♣6 ♣8", game=FourPlayer(), trump=NoTrump(), bid=80)
    assert thrown(deal, "BJ ♠7 ♠7").attempted is None
    assert thrown(deal, "BJ ♠7").attempted is None


def test_an_equal_tractor_does_not_stop_one() -> None:
    """Only in no trump: every other run of levels takes in one on which there is a single pair."""
    others = ("♥7 ♥7 ♥2 ♥2 ♣5", "♣6 ♣8 ♣9 ♣10 ♣J", "♦5 ♦6 ♦8 ♦9 ♦10")
    deal = endgame("BJ ♠7 ♠7 ♠2 ♠2", *others, game=FourPlayer(), trump=NoTrump(), bid=80)
    assert thrown(deal, "BJ ♠7 ♠7 ♠2 ♠2").attempted is None


def test_a_fourth_seat_stops_a_throw_too() -> None:
    deal = endgame("BJ ♥7", "♣5 ♣6", "♣8 ♣9", "♠7 ♥5", game=FourPlayer(), bid=80)
    assert thrown(deal, "BJ ♥7").attempted is not None


def test_the_order_in_which_a_throw_is_named_changes_nothing() -> None:
    deal = endgame("BJ ♠K ♠5", "SJ ♠A ♥6", "♣5 ♣6 ♣8")
    chosen = raw(deal.hands[EAST])
    assert deals.decide(deal, EAST, Play(chosen)) == deals.decide(deal, EAST, Play(chosen[::-1]))
    assert ids(thrown(deal, "BJ ♠K ♠5").cards) == ids(cards("♠5"))
