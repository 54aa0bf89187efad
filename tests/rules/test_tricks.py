"""Who wins a trick, and what it is worth (rules §8; design 5.1, 5.2, 6.2)."""

import pytest
from erqiwang_core.kernel.trump import NoTrump, Trump
from erqiwang_core.options import Deck, FourPlayer
from erqiwang_core.playing import CardsFollowed, Playing, TrickTaken
from erqiwang_core.units import Points, Seat

from tests.rules.positions import EAST, NORTH, SOUTH, SPADES, WEST, after, endgame, in_play, play


def taken(deal: Playing, *texts: str) -> TrickTaken:
    """How a trick ended, the last play being the last text."""
    event = play(after(deal, *texts[:-1]), texts[-1])[0]
    assert isinstance(event, CardsFollowed)
    assert event.taken is not None
    return event.taken


def winner(trump: Trump, *plays: str) -> Seat:
    """Who wins a trick of these plays, EAST leading; they are all that the seats hold."""
    game = FourPlayer(Deck.FULL) if len(plays) == 4 else None
    return taken(endgame(*plays, trump=trump, game=game), *plays).winner


@pytest.mark.parametrize(
    ("plays", "seat"),
    [
        pytest.param(("♥9", "♥K", "♥10"), SOUTH, id="the highest of the suit"),
        pytest.param(("♥K", "♥9", "♥10"), EAST, id="the lead where it is highest"),
        pytest.param(("♥9", "♥9", "♥8"), EAST, id="equal cards: the earlier"),
        pytest.param(("♥9", "♣A", "♥10"), WEST, id="a discard never wins"),
        pytest.param(("♥A", "♠5", "♥K"), SOUTH, id="the lowest trump beats the side suit's A"),
        pytest.param(("♥A", "♠5", "♠6"), WEST, id="a higher ruff"),
        pytest.param(("♥A", "♠6", "♠5"), SOUTH, id="a lower ruff stays behind"),
        pytest.param(("♥A", "♥7", "♦7"), SOUTH, id="equal ruffs: the earlier"),
        pytest.param(("♠A", "♦2", "♥2"), SOUTH, id="off-suit 2s are equal: the earlier"),
        pytest.param(("♦2", "♥2", "♠2"), WEST, id="the on-suit 2 beats an off-suit one"),
        pytest.param(("♠2", "♦7", "♠7"), WEST, id="off-suit 7 beats on-suit 2, on-suit 7 beats both"),
        pytest.param(("♠7", "SJ", "BJ"), WEST, id="small joker, then big joker"),
        pytest.param(("BJ", "BJ", "SJ"), EAST, id="two big jokers: the earlier"),
        pytest.param(("♠5", "♥A", "♣A"), EAST, id="trump led: side suits never win"),
        pytest.param(("♥5 ♥5", "♥6 ♥6", "♥A ♥K"), SOUTH, id="a higher pair, and two high singles"),
        pytest.param(("♥5 ♥5", "♥A ♥K", "♥6 ♥8"), EAST, id="a better card that is no pair"),
        pytest.param(("♥A ♥A", "♠5 ♠5", "♠6 ♠8"), SOUTH, id="a pair is ruffed by a pair"),
        pytest.param(("♥A ♥A", "♠K ♠A", "♣5 ♣6"), EAST, id="any two trumps do not ruff a pair"),
        pytest.param(("♥A ♥A", "♥7 ♦7", "BJ SJ"), EAST, id="two off-suit 7s and two jokers are no pairs"),
        pytest.param(("♥A ♥A", "♣9 ♣9", "♦K ♦K"), EAST, id="a pair of another side suit"),
        pytest.param(("♥A ♥A", "♥5 ♠K", "♥6 BJ"), EAST, id="mixed play never wins"),
        pytest.param(("♥5 ♥5 ♥6 ♥6", "♥8 ♥8 ♥9 ♥9", "♥K ♥K ♥A ♥Q"), SOUTH, id="a higher tractor"),
        pytest.param(("♥5 ♥5 ♥6 ♥6", "♥K ♥K ♥10 ♥10", "♥A ♥A ♥J ♥J"), EAST, id="two loose pairs are no tractor"),
        pytest.param(("♥5 ♥5 ♥6 ♥6", "♠5 ♠5 ♠6 ♠6", "BJ BJ ♠K ♠K"), SOUTH, id="a tractor is ruffed by a tractor"),
        pytest.param(("♥5 ♥5 ♥6 ♥6", "BJ BJ ♠7 ♠7", "♠K ♠K ♠J ♠J"), EAST, id="loose trump pairs do not ruff a tractor"),
        pytest.param(
            ("♥5 ♥5 ♥6 ♥6", "♠2 ♠2 ♥2 ♥2", "♠7 ♠7 ♦7 ♦7"), WEST, id="ruffs by tractors are compared by the top"
        ),
        pytest.param(("♠K ♠K ♠A ♠A", "♠10 ♠9 ♠Q ♠J", "♦2 ♦2 ♣2 ♣2"), EAST, id="two pairs on one level are no tractor"),
        pytest.param(("♥5 ♥5", "♠7 ♠7", "BJ BJ"), WEST, id="pairs of trumps by their level"),
    ],
)
def test_winner(plays: tuple[str, ...], seat: Seat) -> None:
    assert winner(SPADES, *plays) == seat


@pytest.mark.parametrize("suit", ["♦", "♣", "♥"])
def test_a_tractor_topped_by_an_off_suit_2_of_any_suit(suit: str) -> None:
    """All three tops are one level: above the trump suit's K and A, below the on-suit 2 with an off-suit 2 of any suit."""
    topped = f"♠A ♠A {suit}2 {suit}2"
    assert winner(SPADES, "♠Q ♠Q ♠K ♠K", topped, "♥5 ♥6 ♥8 ♥9") == SOUTH
    for other in {"♦", "♣", "♥"} - {suit}:
        higher = f"♠2 ♠2 {other}2 {other}2"
        assert winner(SPADES, topped, higher, "♥5 ♥6 ♥8 ♥9") == SOUTH
        assert winner(SPADES, higher, topped, "♥5 ♥6 ♥8 ♥9") == EAST
        assert winner(SPADES, "♣5 ♣5 ♣6 ♣6", topped, higher) == WEST


@pytest.mark.parametrize("suit", ["♦", "♣", "♥", "♠"])
def test_without_a_trump_suit_equal_tractors_topped_by_7s_of_any_suit(suit: str) -> None:
    for other in {"♦", "♣", "♥", "♠"} - {suit}:
        mine, later = f"{suit}7 {suit}7 {suit}2 {suit}2", f"{other}7 {other}7 {other}2 {other}2"
        assert winner(NoTrump(), "♥5 ♥5 ♥6 ♥6", mine, later, "♦5 ♦6 ♦8 ♦9") == SOUTH
        assert winner(NoTrump(), mine, later, "♦5 ♦6 ♦8 ♦9", "♦J ♦Q ♦K ♦A") == EAST


@pytest.mark.parametrize(
    ("plays", "seat"),
    [
        pytest.param(("♠A", "♠K", "♥2", "♦5"), WEST, id="spades are a side suit, an off-suit 2 ruffs"),
        pytest.param(("♠A", "♥2", "♦2", "♠2"), SOUTH, id="the four 2s are equal"),
        pytest.param(("♥2", "♥7", "♠7", "SJ"), NORTH, id="2, 7, small joker"),
        pytest.param(("♠5 ♠5 ♠6 ♠6", "♠7 ♠7 ♥7 ♥7", "♦7 ♦7 ♦2 ♦2", "♠A ♠A ♠Q ♠Q"), WEST, id="7777 ruffs no tractor"),
        pytest.param(
            ("♠3 ♠3 ♠4 ♠4", "♠A ♠K ♠8 ♠9", "♥5 ♥6 ♥8 ♥9", "♠5 ♠5 ♠6 ♠6"), NORTH, id="full deck: 3344 is a tractor"
        ),
    ],
)
def test_winner_without_a_trump_suit(plays: tuple[str, ...], seat: Seat) -> None:
    assert winner(NoTrump(), *plays) == seat


@pytest.mark.parametrize(
    ("declarer", "points", "captured"),
    [
        pytest.param(EAST, 25, True, id="a defender wins: captured"),
        pytest.param(SOUTH, 25, False, id="the declarer wins: gone"),
    ],
)
def test_points_of_a_trick(declarer: Seat, points: int, captured: bool) -> None:
    deal = endgame("♥5 ♣5", "♥K ♣6", "♥10 ♣8", declarer=declarer, leader=EAST)
    assert taken(deal, "♥5", "♥K", "♥10") == TrickTaken(SOUTH, Points(points), captured)
    after_it = in_play(after(deal, "♥5", "♥K", "♥10"))
    assert after_it.points == (25 if captured else 0)
    assert (after_it.captured.bit_count() == 3) == captured


def test_the_winner_leads_next_and_the_trick_lies_there_until_then() -> None:
    deal = in_play(after(endgame("♥5 ♣5", "♥6 ♣6", "♥10 ♣8"), "♥5", "♥6", "♥10"))
    assert deal.turn == WEST
    assert deal.to_follow is None
    assert deal.trick is not None
    assert (deal.trick.leader, deal.trick.plays[-1].seat, deal.trick.ahead) == (EAST, WEST, WEST)
    assert in_play(after(deal, "♣8")).trick != deal.trick


def test_play_goes_round_from_the_leader() -> None:
    deal = endgame("♥5 ♣5", "♥6 ♣6", "♥10 ♣8", leader=WEST)
    led = in_play(after(deal, "♥10"))
    assert led.turn == EAST
    assert in_play(after(led, "♥5")).turn == SOUTH
