"""Settlements of whole deals: kitty capture, awards upon the stake, surrender, disband (rules §9 to §11, §13)."""

import pytest
from erqiwang_core import deal as deals
from erqiwang_core.kernel.trump import Trump
from erqiwang_core.naming import NameTrump, Naming, Surrender, number
from erqiwang_core.options import FourPlayer, Game, ThreePlayer
from erqiwang_core.scoring import KittyCapture, Made, NearShutout, Outcome, Shutout, Surrendered, Upgrade
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import Settled, Settlement, next_first_bidder, settle_disband
from erqiwang_core.units import CardSet, Points, Seat

from tests.rules.positions import EAST, NORTH, SOUTH, SPADES, WEST, after, contract, dealt, endgame, settlement
from tests.rules.written import hands


@pytest.mark.parametrize(
    ("plays", "leader", "declarer", "capture"),
    [
        pytest.param(("♠6", "♥5", "♣6"), EAST, SOUTH, KittyCapture(Points(25), 1), id="a trump single: times 1"),
        pytest.param(("♠6 ♠6", "♥5 ♥6", "♣6 ♣8"), EAST, SOUTH, KittyCapture(Points(25), 2), id="a trump pair: times 2"),
        pytest.param(
            ("♠6 ♠6 ♠8 ♠8", "♥5 ♥6 ♥8 ♥9", "♣6 ♣8 ♣9 ♣J"),
            EAST,
            SOUTH,
            KittyCapture(Points(25), 4),
            id="a tractor of two: times 4",
        ),
        pytest.param(
            ("♠6 ♠6 ♠8 ♠8 ♠9 ♠9", "♥5 ♥6 ♥8 ♥9 ♥J ♥Q", "♣6 ♣8 ♣9 ♣J ♣Q ♣A"),
            EAST,
            SOUTH,
            KittyCapture(Points(25), 6),
            id="a tractor of three: times 2k",
        ),
        pytest.param(
            ("BJ ♠6 ♠6", "♥5 ♥6 ♥8", "♣6 ♣8 ♣9"), EAST, SOUTH, KittyCapture(Points(25), 2), id="a throw: its best part"
        ),
        pytest.param(("♥A", "♠6", "♥6"), EAST, EAST, KittyCapture(Points(25), 1), id="a ruff"),
        pytest.param(("♥A ♥A", "♠6 ♠6", "♥6 ♥8"), EAST, EAST, KittyCapture(Points(25), 2), id="a ruff by a pair"),
        pytest.param(("♥7", "♠5", "♣8"), EAST, SOUTH, KittyCapture(Points(25), 1), id="an off-suit 7 is a trump"),
        pytest.param(("♥A", "♥5", "♣6"), EAST, SOUTH, None, id="a defender with a side suit: nothing"),
        pytest.param(("♠6", "♥5", "♣6"), EAST, EAST, None, id="the declarer: nothing"),
        pytest.param(("♥A", "♠6", "♥6"), EAST, SOUTH, None, id="the declarer ruffs: nothing"),
        pytest.param(("♥A ♥A", "♠6 ♠8", "♥6 ♥8"), EAST, SOUTH, None, id="two trumps take no pair: a side suit holds"),
    ],
)
def test_kitty_capture(plays: tuple[str, ...], leader: Seat, declarer: Seat, capture: KittyCapture | None) -> None:
    deal = endgame(*plays, leader=leader, declarer=declarer, buried="♣K ♣10 ♦5")
    result = settlement(after(deal, *plays))
    assert result.kitty_capture == capture
    assert result.grade - result.trick_points == (capture.captured if capture else 0)


def test_a_buried_card_without_points_is_captured_for_nothing() -> None:
    result = settlement(after(endgame("♠6", "♥6", "♣6", declarer=SOUTH, leader=EAST, buried="♣A ♣Q"), "♠6", "♥6", "♣6"))
    assert result.kitty_capture == KittyCapture(Points(0), 1)
    assert result.outcome == Shutout()


@pytest.mark.parametrize(
    ("bid", "captured", "outcome", "scores"),
    [
        pytest.param(70, 0, Shutout(), (-6, 12, -6), id="shutout"),
        pytest.param(70, 35, NearShutout(), (-4, 8, -4), id="near shutout"),
        pytest.param(70, 65, Made(), (-2, 4, -2), id="made"),
        pytest.param(70, 70, Upgrade(1), (2, -4, 2), id="one upgrade"),
        pytest.param(60, 100, Upgrade(2), (6, -12, 6), id="two upgrades at 60"),
        pytest.param(5, 5, Upgrade(1), (6, -12, 6), id="one upgrade at 5"),
    ],
)
def test_scores_without_awards(bid: int, captured: int, outcome: Outcome, scores: tuple[int, ...]) -> None:
    deal = endgame("♣6", "♣8", "♣9", declarer=SOUTH, leader=SOUTH, bid=bid, captured=captured)
    result = settlement(after(deal, "♣8", "♣9", "♣6"))
    assert (result.outcome, result.scores.values) == (outcome, scores)
    assert (result.trick_points, result.grade) == (captured, captured)
    assert result.stake == result.base * result.multiplier


def test_kitty_capture_decides_the_outcome_and_the_tricks_are_told_apart() -> None:
    deal = endgame("♠6 ♠6", "♣5 ♣6", "♣8 ♣9", declarer=SOUTH, leader=EAST, bid=65, captured=20, buried="♥K ♥K ♥5")
    result = settlement(after(deal, "♠6 ♠6", "♣5 ♣6", "♣8 ♣9"))
    assert (result.trick_points, result.grade, result.outcome) == (25, 75, Upgrade(1))


def test_awards_are_counted_on_the_snapshot_and_paid_in_stakes() -> None:
    """Design 8.4: the declarer's regular award and the defenders' joker bonuses, each from both others."""
    game = ThreePlayer(joker_bonus=True)
    texts = ("BJ BJ SJ ♥9", "♣5 ♣6 ♣8 ♣9", "SJ ♣Q ♣J ♣10")
    plays = ("♥9", "♣5", "♣10", "BJ", "♣6", "SJ", "BJ", "♣8", "♣J", "SJ", "♣9", "♣Q")
    result = settlement(after(endgame(*texts, game=game, bid=50), *plays))
    assert (result.outcome, result.stake) == (Shutout(), 18)
    assert [score.awards.total for score in result.seats] == [4, 0, 1]
    assert [score.base_chips for score in result.seats] == [36, -18, -18]
    assert [score.award_chips for score in result.seats] == [18 * 7, 18 * -5, 18 * -2]
    assert sum(result.scores) == 0


def test_awards_go_on_when_the_declarer_loses() -> None:
    texts = ("BJ BJ SJ", "♣6 ♣8 ♣9", "♣Q ♣J ♣A")
    result = settlement(after(endgame(*texts, captured=70), "BJ", "♣6", "♣Q", "BJ", "♣8", "♣J", "SJ", "♣9", "♣A"))
    assert result.outcome == Upgrade(1)
    assert result.scores.values == (-4 + 4, 2 - 2, 2 - 2)


def test_the_rush_is_paid_in_units_of_the_bid_by_whoever_wins() -> None:
    texts = ("BJ BJ SJ", "♣6 ♣8 ♣9", "♣Q ♣J ♣A", "♥6 ♥8 ♥9")
    plays = ("BJ", "♣6", "♣Q", "♥6", "BJ", "♣8", "♣J", "♥8", "SJ", "♣9", "♣A", "♥9")
    won = settlement(after(endgame(*texts, game=FourPlayer(), bid=80), *plays))
    assert (won.outcome, won.scores.values) == (Shutout(), (18 + 6, -6 - 2, -6 - 2, -6 - 2))
    lost = settlement(after(endgame(*texts, game=FourPlayer(), bid=80, captured=80), *plays))
    assert (lost.outcome, lost.scores.values) == (Upgrade(1), (-6 + 6, 2 - 2, 2 - 2, 2 - 2))


def test_a_defender_s_rush_is_paid_by_the_other_defenders_too() -> None:
    texts = ("♣6 ♣8 ♣9", "BJ BJ SJ", "♣Q ♣J ♣A", "♥6 ♥8 ♥9")
    plays = ("♣6", "SJ", "♣Q", "♥6", "BJ", "♣J", "♥8", "♣8", "BJ", "♣A", "♥9", "♣9")
    result = settlement(after(endgame(*texts, game=FourPlayer(), bid=40), *plays))
    assert result.scores.values == (36 - 4, -12 + 12, -12 - 4, -12 - 4)


def naming(texts: tuple[str, ...], game: Game, declarer: Seat, bid: int) -> Naming:
    of = dealt(hands(*texts), game, review=True)
    return Naming(of, contract(of, declarer, bid), of.hands)


def surrendered(deal: Naming) -> Settled:
    events = deals.decide(deal, deal.contract.declarer, Surrender())
    assert isinstance(events, tuple)
    (event,) = events
    after_it = deals.evolve(deal, event)
    assert isinstance(after_it, Settled)
    return after_it


@pytest.mark.parametrize(
    ("texts", "game", "bid", "scores"),
    [
        pytest.param(("♣5", "♣6", "♣8"), ThreePlayer(), 70, (-2, 1, 1), id="one chip to each defender"),
        pytest.param(("BJ BJ SJ", "♣6", "♣8"), ThreePlayer(), 70, (-2 + 2, 1 - 1, 1 - 1), id="awards go on"),
        pytest.param(
            ("BJ BJ SJ ♠7 ♠7", "♣6", "♣8"), ThreePlayer(), 70, (0, 0, 0), id="no chain: there is no trump suit"
        ),
        pytest.param(
            ("♣5", "BJ SJ", "♣8"), ThreePlayer(joker_bonus=True), 70, (-2 - 2, 1 + 4, 1 - 2), id="joker bonus"
        ),
        pytest.param(("♣5", "♣6", "♣8", "♣9"), FourPlayer(), 85, (-3, 1, 1, 1), id="four players at 85: one unit"),
        pytest.param(("♣5", "♣6", "♣8", "♣9"), FourPlayer(), 120, (-3, 1, 1, 1), id="four players at 120"),
        pytest.param(
            ("♣5", "BJ BJ SJ ♠7 ♠7", "♣8", "♣9"),
            FourPlayer(),
            85,
            (-3 - 1, 1 + 3, 1 - 1, 1 - 1),
            id="rush: jokers alone",
        ),
    ],
)
def test_surrender(texts: tuple[str, ...], game: Game, bid: int, scores: tuple[int, ...]) -> None:
    deal = surrendered(naming(texts, game, EAST, bid))
    result = deal.settlement
    assert (result.outcome, result.scores.values) == (Surrendered(), scores)
    assert (result.trump, result.buried, result.kitty_capture, result.grade) == (None, 0, None, 0)
    assert (result.base, result.stake, result.multiplier) == (1, 1, 1)
    assert not any(deal.ready)


def test_awards_at_surrender_are_counted_on_the_36_cards() -> None:
    held = hands("BJ BJ", "♣6", "♣8", "SJ")
    of = dealt(held[:3], ThreePlayer(), review=True, kitty=held[3])
    with_kitty = of.hands.put(EAST, CardSet(held[0] | held[3]))
    result = surrendered(Naming(of, contract(of, EAST, 70), with_kitty)).settlement
    assert result.seats[EAST].awards.total == 1


def settled(outcome_of: int, declarer: Seat, seats: int) -> Settled:
    texts = ("♣6", "♣8", "♣9", "♣J")[:seats]
    game = FourPlayer() if seats == 4 else ThreePlayer()
    deal = after(endgame(*texts, declarer=declarer, leader=EAST, bid=70, captured=outcome_of, game=game), *texts)
    assert isinstance(deal, Settled)
    return deal


@pytest.mark.parametrize(
    ("captured", "declarer", "seats", "first"),
    [
        pytest.param(0, SOUTH, 3, SOUTH, id="shutout: the declarer again"),
        pytest.param(35, SOUTH, 3, SOUTH, id="near shutout: the declarer again"),
        pytest.param(65, WEST, 3, WEST, id="made: the declarer again"),
        pytest.param(70, SOUTH, 3, WEST, id="upgrade: the declarer's next seat"),
        pytest.param(200, WEST, 3, EAST, id="upgrade: past the last seat"),
        pytest.param(70, WEST, 4, NORTH, id="four seats: the next seat"),
        pytest.param(0, NORTH, 4, NORTH, id="four seats: shutout, the declarer again"),
        pytest.param(65, SOUTH, 4, SOUTH, id="four seats: made, the declarer again"),
        pytest.param(70, NORTH, 4, EAST, id="four seats: past the last seat"),
    ],
)
def test_next_first_bidder(captured: int, declarer: Seat, seats: int, first: Seat) -> None:
    assert next_first_bidder(settled(captured, declarer, seats)) == first


@pytest.mark.parametrize(("declarer", "first"), [(EAST, SOUTH), (WEST, EAST)])
def test_next_first_bidder_after_a_surrender(declarer: Seat, first: Seat) -> None:
    assert next_first_bidder(surrendered(naming(("♣5", "♣6", "♣8"), ThreePlayer(), declarer, 70))) == first


def test_a_settled_deal_takes_no_command() -> None:
    deal = settled(0, EAST, 3)
    with pytest.raises(AssertionError):
        deals.evolve(deal, after_naming(SPADES))


def after_naming(trump: Trump) -> deals.Event:
    deal = naming(("♣5", "♣6", "♣8", "♣9"), FourPlayer(), EAST, 80)
    events = deals.decide(deal, EAST, NameTrump(number(trump)))
    assert isinstance(events, tuple)
    return events[0]


def test_a_deal_cut_short_pays_nothing_and_counts_no_points() -> None:
    of = dealt(hands("♣5", "♣6", "♣8"), ThreePlayer(), review=True)
    result: Settlement = settle_disband(of, None, None)
    assert (result.grade, result.multiplier, result.stake, result.base) == (0, 0, 0, 0)
    assert result.scores == BySeat((0, 0, 0))
    assert result.buried == CardSet(0)
