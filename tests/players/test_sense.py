"""What a sensible player makes of a hand: rows a person can check."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Final

import pytest
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.hand import count
from erqiwang_core.kernel.shapes import component
from erqiwang_core.kernel.trump import Group, SuitTrump, order
from erqiwang_core.match import Command
from erqiwang_core.naming import Surrender
from erqiwang_core.notation import read, write
from erqiwang_core.options import RoomOptions, ThreePlayer
from erqiwang_core.parts import Captured, View
from erqiwang_core.players import BOLD, CAREFUL, Policy, Sensible, Style, contest, shuffles, signals_to
from erqiwang_core.players.cardplay import DEFENDING
from erqiwang_core.players.declaring import best_burial, best_trump
from erqiwang_core.players.outlook import threats
from erqiwang_core.players.strength import Forecast, surrendered, weakness, worth
from erqiwang_core.playing import Signalled
from erqiwang_core.rules import BidRow, game_rules
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.units import CardSet, Points
from erqiwang_core.view import view

HEARTS = SuitTrump(Suit.HEARTS)
SENSIBLE: Final = Sensible()
THREE = game_rules(ThreePlayer(), review=True)


def cards(text: str) -> CardSet:
    found = read(text)
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param("h7 h7", "h7 s7", id="a pair of trumps"),
        pytest.param("h7 h7 BJ BJ SJ SJ", "h7 h7 BJ BJ h5 h5", id="pairs that are neighbours"),
        pytest.param("hA hK", "sA sK", id="trumps rather than side cards"),
        pytest.param("sA sK hA hK", "sA cK hA hK", id="a suit less"),
        pytest.param("BJ", "h5", id="a joker"),
    ],
)
def test_weakness(stronger: str, weaker: str) -> None:
    assert weakness(order(HEARTS), cards(stronger)) < weakness(order(HEARTS), cards(weaker))


def test_whole_suits_are_buried() -> None:
    hand = cards("BJ SJ h7 h7 hA hK hQ hJ h10 sA sA sK sK sQ d5 d6 d8 d9 c5 c6 c8 c9")
    assert write(best_burial(order(HEARTS), hand, 8), HEARTS) == "♣9 ♣8 ♣6 ♣5 ♦9 ♦8 ♦6 ♦5"


def test_trumps_are_buried_where_there_is_nothing_else() -> None:
    hand = cards("BJ BJ SJ SJ h7 h7 s7 hA hK hQ hJ h10 sA")
    burial = best_burial(order(HEARTS), hand, 8)
    assert count(burial) == 8
    assert not burial & cards("BJ BJ SJ SJ")


def test_the_long_suit_becomes_trump() -> None:
    hand = cards("BJ h7 hA hA hK hK hQ hJ h10 h9 h8 sA d5 d6 d8 d9 c5 c6")
    assert best_trump(THREE.trumps, hand, 8)[0] == HEARTS


@pytest.mark.parametrize("row", THREE.rows, ids=lambda row: f"{row.bid}")
def test_a_stronger_hand_makes_any_bid_worth_more(row: BidRow) -> None:
    forecast = Forecast(50, 100, (-20, -10, 0, 10, 20))
    worths = [worth(row, forecast.points(weak)) for weak in range(-60, 160, 10)]
    assert worths == sorted(worths, reverse=True)
    assert worths[0] > 0 > worths[-1]


def test_a_hopeless_hand_is_better_surrendered() -> None:
    captured = tuple(Points(points) for points in range(110, 160, 5))
    assert worth(THREE.row(Points(70)), captured) < surrendered(1)


@pytest.mark.parametrize(
    ("out", "part", "number"),
    [
        pytest.param("BJ SJ SJ h7 hA", "h7", 3, id="a single: every higher card"),
        pytest.param("s7 c7", "d7", 0, id="equals do not beat"),
        pytest.param("BJ SJ", "h7 h7", 0, id="a pair: two single cards do not"),
        pytest.param("BJ SJ SJ h2 h2", "h7 h7", 1, id="a pair: a higher pair"),
        pytest.param("BJ BJ SJ SJ h7 h7", "hA hA hK hK", 2, id="a tractor: each that is higher and as long"),
        pytest.param("BJ BJ h7 h7", "hA hA hK hK", 0, id="a tractor: pairs apart do not"),
    ],
)
def test_threats(out: str, part: str, number: int) -> None:
    led = component(order(HEARTS), Group.TRUMPS, cards(part))
    assert led is not None
    assert threats(order(HEARTS), Group.TRUMPS, cards(out), led) == number


def positions(seed: int) -> Iterator[tuple[View, tuple[Signalled, ...]]]:
    """The views of seats that must play, in a match of sensible players, with what they hear."""
    everybody = by_seat(3, lambda _: SENSIBLE)
    for step in contest(
        RoomOptions(), BySeat[Policy](everybody.values), Random(seed), shuffles(RoomOptions(), Random(seed))
    ):
        seen = view(step.before, step.seat)
        if seen.is_to_play:
            yield seen, signals_to(step.before, step.seat, BySeat[Policy](everybody.values), Random(seed))


def played(policy: Sensible, seen: View, signals: tuple[Signalled, ...] = ()) -> Command | None:
    return policy.act(seen, Random(1), lambda: signals)


def test_the_score_changes_plays() -> None:
    """Points count for more where the bid or another step is near."""
    differing = 0
    for seen, _ in (*positions(5), *positions(6)):
        scores = (replace(seen, captured=Captured(Points(points), 0)) for points in (0, 60, 150))
        differing += len({played(SENSIBLE, scored) for scored in scores}) > 1
    assert differing > 2


def test_a_signal_of_the_partner_changes_plays() -> None:
    found = [(seen, signals) for seen, signals in positions(5) if signals]
    assert any(played(SENSIBLE, seen, signals) != played(SENSIBLE, seen) for seen, signals in found)


@pytest.mark.parametrize("habit", ["partner_suit", "long_trumps"])
def test_a_defender_returns_its_partner_s_suit_and_leads_long_trumps(habit: str) -> None:
    without = Sensible(defending=replace(DEFENDING, **{habit: 0.0}))
    leads = [seen for seed in range(3) for seen, _ in positions(seed) if seen.trick_under_way is None]
    assert any(played(SENSIBLE, seen) != played(without, seen) for seen in leads)


def test_a_bold_player_plays_where_a_careful_one_surrenders() -> None:
    def surrenders(style: Style) -> int:
        policies = by_seat(3, lambda _: Sensible(style))
        steps = contest(RoomOptions(), BySeat[Policy](policies.values), Random(1), shuffles(RoomOptions(), Random(1)))
        return sum(isinstance(step.command, Surrender) for step in steps)

    assert surrenders(CAREFUL) > 1
    assert surrenders(BOLD) == 0
