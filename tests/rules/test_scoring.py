"""Bids, borders and chips: every table of the rules, and every worked example (rules §10; design 7.2.1, 7.3.3; part B)."""

import pytest
from erqiwang_core.options import Deck, FourPlayer, Game, ThreePlayer
from erqiwang_core.rules import BidRow, game_rules
from erqiwang_core.scoring import (
    Disbanded,
    Made,
    NearShutout,
    Outcome,
    Played,
    Shutout,
    Surrendered,
    Upgrade,
    base_chips,
    between_sides,
    declarer_won,
    multiplier,
    outcome,
    upgrade_code,
)
from erqiwang_core.units import Chips, Points, Seat

REGULAR = ThreePlayer()
CLIMB = ThreePlayer(climb=True)
FOUR = FourPlayer()
BIDS = range(70, 0, -5)

BASE_REGULAR = (2, 2, 3, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6)
BASE_CLIMB = (2, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
STEP_CLIMB = (40, 40, 40, 40, 40, 40, 20, 20, 15, 15, 10, 10, 5, 5)


def row(game: Game, bid: int) -> BidRow:
    return game_rules(game, True).row(Points(bid))


@pytest.mark.parametrize(
    ("game", "bases", "steps"),
    [
        pytest.param(REGULAR, BASE_REGULAR, (40,) * 14, id="regular"),
        pytest.param(CLIMB, BASE_CLIMB, STEP_CLIMB, id="climb"),
    ],
)
def test_rows_of_the_three_player_game(game: Game, bases: tuple[int, ...], steps: tuple[int, ...]) -> None:
    table = game_rules(game, True)
    assert table.bids == tuple(BIDS)
    assert tuple(row.base for row in table.rows) == bases
    assert tuple(row.step for row in table.rows) == steps
    assert all(row.target == row.bid for row in table.rows)
    assert [row.bid for row in table.rows if row.surrender is not None] == [70]
    assert row(game, 70).surrender == 1
    assert [row.bid for row in table.rows if row.kitty_shown] == [70]


@pytest.mark.parametrize("deck", Deck)
def test_rows_of_the_four_player_game(deck: Deck) -> None:
    table = game_rules(FourPlayer(deck), True)
    assert table.bids == tuple(range(120, -5, -5))
    for each in table.rows:
        unit = 1 if each.bid >= 85 else 2 if each.bid >= 45 else 4 if each.bid >= 5 else 8
        assert (each.base, each.step, each.kitty_shown) == (unit, 40, True)
        assert each.surrender == (unit if each.bid > 80 else None)


SHUTOUT, NEAR, MADE = Shutout(), NearShutout(), Made()


@pytest.mark.parametrize(
    ("game", "bid", "borders"),
    [
        pytest.param(
            REGULAR,
            70,
            {0: (SHUTOUT, 6), 5: (NEAR, 4), 35: (NEAR, 4), 40: (MADE, 2), 65: (MADE, 2)}
            | {70: (Upgrade(1), 2), 105: (Upgrade(1), 2), 110: (Upgrade(2), 4), 145: (Upgrade(2), 4)}
            | {150: (Upgrade(3), 6), 185: (Upgrade(3), 6), 190: (Upgrade(4), 8)},
            id="regular 70",
        ),
        pytest.param(
            REGULAR,
            65,
            {0: (SHUTOUT, 6), 5: (NEAR, 4), 35: (NEAR, 4), 40: (MADE, 2), 60: (MADE, 2)}
            | {65: (Upgrade(1), 2), 100: (Upgrade(1), 2), 105: (Upgrade(2), 4), 140: (Upgrade(2), 4)}
            | {145: (Upgrade(3), 6), 180: (Upgrade(3), 6), 185: (Upgrade(4), 8)},
            id="regular 65",
        ),
        pytest.param(
            REGULAR,
            60,
            {0: (SHUTOUT, 9), 5: (NEAR, 6), 35: (NEAR, 6), 40: (MADE, 3), 55: (MADE, 3)}
            | {60: (Upgrade(1), 3), 95: (Upgrade(1), 3), 100: (Upgrade(2), 6), 135: (Upgrade(2), 6)}
            | {140: (Upgrade(3), 9), 180: (Upgrade(4), 12)},
            id="regular 60",
        ),
        pytest.param(
            REGULAR,
            55,
            {0: (SHUTOUT, 12), 5: (NEAR, 8), 35: (NEAR, 8), 40: (MADE, 4), 50: (MADE, 4)}
            | {55: (Upgrade(1), 4), 90: (Upgrade(1), 4), 95: (Upgrade(2), 8), 130: (Upgrade(2), 8)}
            | {135: (Upgrade(3), 12), 175: (Upgrade(4), 16)},
            id="regular 55",
        ),
        pytest.param(
            REGULAR,
            50,
            {0: (SHUTOUT, 18), 5: (NEAR, 12), 35: (NEAR, 12), 40: (MADE, 6), 45: (MADE, 6)}
            | {50: (Upgrade(1), 6), 85: (Upgrade(1), 6), 90: (Upgrade(2), 12), 125: (Upgrade(2), 12)}
            | {130: (Upgrade(3), 18), 170: (Upgrade(4), 24)},
            id="regular 50",
        ),
        pytest.param(
            REGULAR,
            45,
            {0: (SHUTOUT, 18), 5: (NEAR, 12), 35: (NEAR, 12), 40: (MADE, 6)}
            | {45: (Upgrade(1), 6), 80: (Upgrade(1), 6), 85: (Upgrade(2), 12), 120: (Upgrade(2), 12)}
            | {125: (Upgrade(3), 18), 165: (Upgrade(4), 24)},
            id="regular 45",
        ),
        *(
            pytest.param(
                REGULAR,
                bid,
                {0: (SHUTOUT, 18)}
                | dict.fromkeys(range(5, bid, 5), (NEAR, 12))
                | {bid: (Upgrade(1), 6), bid + 35: (Upgrade(1), 6), bid + 40: (Upgrade(2), 12)}
                | {bid + 75: (Upgrade(2), 12), bid + 80: (Upgrade(3), 18), bid + 120: (Upgrade(4), 24)},
                id=f"regular {bid}: nothing between near shutout and upgrade",
            )
            for bid in range(40, 0, -5)
        ),
        *(
            pytest.param(
                CLIMB,
                bid,
                {0: (SHUTOUT, 3 * base), 5: (NEAR, 2 * base), 35: (NEAR, 2 * base), 40: (MADE, base)}
                | {bid - 5: (MADE, base), bid: (Upgrade(1), base), bid + 35: (Upgrade(1), base)}
                | {bid + 40: (Upgrade(2), 2 * base), bid + 80: (Upgrade(3), 3 * base)},
                id=f"climb {bid}: as regular, base {base}",
            )
            for bid, base in ((70, 2), (65, 2), (60, 3), (55, 4), (50, 6), (45, 7))
        ),
        pytest.param(
            CLIMB,
            40,
            {0: (SHUTOUT, 24), 5: (NEAR, 16), 15: (NEAR, 16), 20: (MADE, 8), 35: (MADE, 8)}
            | {40: (Upgrade(1), 8), 55: (Upgrade(1), 8), 60: (Upgrade(2), 16), 75: (Upgrade(2), 16)}
            | {80: (Upgrade(3), 24), 100: (Upgrade(4), 32)},
            id="climb 40",
        ),
        pytest.param(
            CLIMB,
            35,
            {0: (SHUTOUT, 27), 5: (NEAR, 18), 15: (NEAR, 18), 20: (MADE, 9), 30: (MADE, 9)}
            | {35: (Upgrade(1), 9), 50: (Upgrade(1), 9), 55: (Upgrade(2), 18), 70: (Upgrade(2), 18)}
            | {75: (Upgrade(3), 27), 95: (Upgrade(4), 36)},
            id="climb 35",
        ),
        pytest.param(
            CLIMB,
            30,
            {0: (SHUTOUT, 30), 5: (NEAR, 20), 10: (NEAR, 20), 15: (MADE, 10), 25: (MADE, 10)}
            | {30: (Upgrade(1), 10), 40: (Upgrade(1), 10), 45: (Upgrade(2), 20), 55: (Upgrade(2), 20)}
            | {60: (Upgrade(3), 30), 75: (Upgrade(4), 40)},
            id="climb 30",
        ),
        pytest.param(
            CLIMB,
            25,
            {0: (SHUTOUT, 33), 5: (NEAR, 22), 10: (NEAR, 22), 15: (MADE, 11), 20: (MADE, 11)}
            | {25: (Upgrade(1), 11), 35: (Upgrade(1), 11), 40: (Upgrade(2), 22), 50: (Upgrade(2), 22)}
            | {55: (Upgrade(3), 33), 70: (Upgrade(4), 44)},
            id="climb 25",
        ),
        pytest.param(
            CLIMB,
            20,
            {0: (SHUTOUT, 36), 5: (NEAR, 24), 10: (MADE, 12), 15: (MADE, 12)}
            | {20: (Upgrade(1), 12), 25: (Upgrade(1), 12), 30: (Upgrade(2), 24), 35: (Upgrade(2), 24)}
            | {40: (Upgrade(3), 36), 50: (Upgrade(4), 48)},
            id="climb 20",
        ),
        pytest.param(
            CLIMB,
            15,
            {0: (SHUTOUT, 39), 5: (NEAR, 26), 10: (MADE, 13)}
            | {15: (Upgrade(1), 13), 20: (Upgrade(1), 13), 25: (Upgrade(2), 26), 30: (Upgrade(2), 26)}
            | {35: (Upgrade(3), 39), 45: (Upgrade(4), 52)},
            id="climb 15",
        ),
        pytest.param(
            CLIMB,
            10,
            {0: (SHUTOUT, 42), 5: (MADE, 14), 10: (Upgrade(1), 14), 15: (Upgrade(2), 28)}
            | {20: (Upgrade(3), 42), 25: (Upgrade(4), 56), 200: (Upgrade(39), 546)},
            id="climb 10: no near shutout",
        ),
        pytest.param(
            CLIMB,
            5,
            {0: (SHUTOUT, 45), 5: (Upgrade(1), 15), 10: (Upgrade(2), 30), 15: (Upgrade(3), 45), 20: (Upgrade(4), 60)},
            id="climb 5: neither near shutout nor made",
        ),
        pytest.param(
            FOUR,
            80,
            {0: (SHUTOUT, 6), 35: (NEAR, 4), 40: (MADE, 2), 75: (MADE, 2)}
            | {
                80: (Upgrade(1), 2),
                115: (Upgrade(1), 2),
                120: (Upgrade(2), 4),
                180: (Upgrade(3), 6),
                200: (Upgrade(4), 8),
            },
            id="four players 80",
        ),
        pytest.param(
            FOUR,
            40,
            {0: (SHUTOUT, 12), 5: (NEAR, 8), 35: (NEAR, 8)}
            | {40: (Upgrade(1), 4), 80: (Upgrade(2), 8), 140: (Upgrade(3), 12), 160: (Upgrade(4), 16)},
            id="four players 40",
        ),
        pytest.param(
            FOUR,
            120,
            {0: (SHUTOUT, 3), 35: (NEAR, 2), 40: (MADE, 1), 115: (MADE, 1), 120: (Upgrade(1), 1), 160: (Upgrade(2), 2)},
            id="four players 120",
        ),
        pytest.param(
            FOUR,
            85,
            {0: (SHUTOUT, 3), 80: (MADE, 1), 85: (Upgrade(1), 1), 125: (Upgrade(2), 2)},
            id="four players 85: the last of unit 1",
        ),
        pytest.param(
            FOUR,
            45,
            {0: (SHUTOUT, 6), 40: (MADE, 2), 45: (Upgrade(1), 2), 85: (Upgrade(2), 4)},
            id="four players 45: the last of unit 2",
        ),
        pytest.param(
            FOUR,
            5,
            {0: (SHUTOUT, 12), 5: (Upgrade(1), 4), 45: (Upgrade(2), 8)},
            id="four players 5: the last of unit 4",
        ),
        pytest.param(
            FOUR,
            0,
            {0: (SHUTOUT, 24), 5: (Upgrade(1), 8), 35: (Upgrade(1), 8), 40: (Upgrade(2), 16), 200: (Upgrade(6), 48)},
            id="four players 0: the declarer wins with nothing captured only",
        ),
    ],
)
def test_borders(game: Game, bid: int, borders: dict[int, tuple[Played, int]]) -> None:
    chips = row(game, bid)
    found = {grade: outcome(chips, Points(grade)) for grade in borders}
    assert {grade: (result, chips.base * multiplier(result)) for grade, result in found.items()} == borders


@pytest.mark.parametrize("game", [REGULAR, CLIMB, FOUR])
def test_every_grade_of_every_bid_as_the_rules_say(game: Game) -> None:
    for chips in game_rules(game, True).rows:
        for grade in range(0, 405, 5):
            result = outcome(chips, Points(grade))
            if grade >= chips.bid and grade:
                assert result == Upgrade(1 + (grade - chips.bid) // chips.step)
            elif grade == 0:
                assert result == Shutout()
            else:
                assert result == (NearShutout() if grade < chips.step else Made())


@pytest.mark.parametrize(
    ("bid", "grade", "declarer"),
    [
        pytest.param(80, 80, -6, id="80: 80 captured"),
        pytest.param(80, 120, -12, id="80: 120"),
        pytest.param(80, 180, -18, id="80: 180"),
        pytest.param(80, 200, -24, id="80: 200"),
        pytest.param(80, 75, 6, id="80: 75"),
        pytest.param(80, 35, 12, id="80: 35"),
        pytest.param(80, 0, 18, id="80: 0"),
        pytest.param(40, 40, -12, id="40: 40"),
        pytest.param(40, 80, -24, id="40: 80"),
        pytest.param(40, 140, -36, id="40: 140"),
        pytest.param(40, 160, -48, id="40: 160"),
    ],
)
def test_the_declarer_s_sum_over_three_defenders(bid: int, grade: int, declarer: int) -> None:
    chips = row(FOUR, bid)
    result = outcome(chips, Points(grade))
    stake = Chips(chips.base * multiplier(result))
    scores = between_sides(4, Seat(2), stake, won=declarer_won(result))
    assert scores[Seat(2)] == declarer
    assert sum(scores) == 0
    assert {scores[Seat(seat)] for seat in (0, 1, 3)} == {-declarer // 3}


@pytest.mark.parametrize(
    ("result", "times", "code", "won", "base"),
    [
        pytest.param(Shutout(), 3, 3, True, 2, id="shutout"),
        pytest.param(NearShutout(), 2, 2, True, 2, id="near shutout"),
        pytest.param(Made(), 1, 1, True, 2, id="made"),
        pytest.param(Upgrade(1), 1, -1, False, 2, id="one upgrade"),
        pytest.param(Upgrade(4), 4, -4, False, 2, id="four upgrades"),
        pytest.param(Surrendered(), 1, -99, False, 1, id="surrender: base 1"),
        pytest.param(Disbanded(), 0, 0, False, 0, id="disbanded: nothing"),
    ],
)
def test_what_an_outcome_means(result: Outcome, times: int, code: int, won: bool, base: int) -> None:
    assert multiplier(result) == times
    assert upgrade_code(result) == code
    assert declarer_won(result) == won
    assert base_chips(row(REGULAR, 70), result) == base


@pytest.mark.parametrize(
    ("seats", "won", "scores"),
    [
        pytest.param(3, True, [-6, 12, -6], id="three seats, the declarer wins"),
        pytest.param(3, False, [6, -12, 6], id="three seats, the defenders win"),
        pytest.param(4, True, [-6, 18, -6, -6], id="four seats, the declarer wins"),
        pytest.param(4, False, [6, -18, 6, 6], id="four seats, the defenders win"),
    ],
)
def test_chips_between_the_sides(seats: int, won: bool, scores: list[int]) -> None:
    assert list(between_sides(seats, Seat(1), Chips(6), won=won)) == scores
