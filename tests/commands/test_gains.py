"""Gains of policies against a baseline: tables of chips whose results were computed by hand."""

from math import isclose, sqrt

import pytest
from erqiwang_core.seats import seats
from erqiwang_core.units import Seat

from erqiwang_grpc.tools.simulate.gains import Comparison, paired_margin
from erqiwang_grpc.tools.simulate.record import DealRecord, Place

# The chips of seats 0, 1, 2 on four decks: with the baseline on all seats, then with the policy on seat 0, 1 and 2.
ALONE = [(4, -2, -2), (-6, 3, 3), (0, 5, -5), (-3, -3, 6)]
ON_SEAT = [
    [(6, -3, -3), (-2, 1, 1), (4, 3, -7), (3, -6, 3)],
    [(4, -2, -2), (-6, 3, 3), (0, 5, -5), (-3, -3, 6)],
    [(4, -2, -2), (-6, 3, 3), (2, 5, -7), (-2, -2, 4)],
]


def compared() -> Comparison:
    comparison = Comparison("plain", ("other",), 3)
    tables = [ALONE, *ON_SEAT]
    records = [
        record(block, table, tables[table][block], comparison.tables()[table].values)
        for table in range(4)
        for block in range(4)
    ]
    comparison.add_all(records[::2])
    comparison.add_all(records[1::2][::-1])
    return comparison


def record(block: int, table: int, chips: tuple[int, ...], policies: tuple[str, ...]) -> DealRecord:
    return DealRecord(
        place=Place(4 * block + table, block, table, policies),
        number=1, first_bidder=0, calls="0:70 1:pass 2:pass", declarer=0, bid=70, trump="spades", outcome="made",
        captured=40, kitty_capture=None, base=2, multiplier=1, chips=chips,
    )  # fmt: skip


def test_the_tables_that_play_each_deck() -> None:
    assert [table.values for table in Comparison("a", ("b", "a"), 3).tables()] == [
        ("a", "a", "a"),
        ("b", "a", "a"),
        ("a", "b", "a"),
        ("a", "a", "b"),
        ("a", "a", "a"),
        ("a", "a", "a"),
        ("a", "a", "a"),
    ]


@pytest.mark.parametrize(
    ("seat", "baseline", "policy", "margin"),
    [
        # Differences 2, 4, 4, 6: mean 4, variance (4 + 0 + 0 + 4) / 3.
        pytest.param(0, -5 / 4, 11 / 4, 1.96 * sqrt(8 / 3 / 4), id="it gains"),
        pytest.param(1, 3 / 4, 3 / 4, 0, id="it plays alike"),
        # Differences 0, 0, -2, -2: mean -1, variance 4 / 3.
        pytest.param(2, 2 / 4, -2 / 4, 1.96 * sqrt(4 / 3 / 4), id="it loses"),
    ],
)
def test_a_gain_on_one_seat(seat: int, baseline: float, policy: float, margin: float) -> None:
    found = compared().gain("other", (Seat(seat),))
    assert (found.baseline, found.policy) == (baseline, policy)
    assert found.gain == policy - baseline
    assert found.margin is not None
    assert isclose(found.margin, margin)


def test_a_gain_on_all_seats_takes_a_deck_for_one_difference() -> None:
    # Summed over seats the differences are 2, 4, 2, 4: mean 3, variance 4 / 3. An average seat has a third of that.
    found = compared().gain("other", seats(3))
    assert (found.baseline, found.policy, found.gain) == (0, 1, 1)
    assert found.margin is not None
    assert isclose(found.margin, 1.96 * sqrt(4 / 3 / 4) / 3)


def test_the_figures_for_programs() -> None:
    figures = compared().json()
    assert (figures["baseline"], figures["deals"]) == ("plain", 4)
    seat_0 = {"gain": 4.0, "margin": 1.6, "chips_per_deal": 2.75, "baseline_chips_per_deal": -1.25}
    seat_1 = {"gain": 0.0, "margin": 0.0, "chips_per_deal": 0.75, "baseline_chips_per_deal": 0.75}
    seat_2 = {"gain": -1.0, "margin": 1.132, "chips_per_deal": -0.5, "baseline_chips_per_deal": 0.5}
    over_all = {"gain": 1.0, "margin": 0.377, "chips_per_deal": 1.0, "baseline_chips_per_deal": 0.0}
    assert figures["gains"] == {"other": {**over_all, "seats": [seat_0, seat_1, seat_2]}}


@pytest.mark.parametrize(
    ("differences", "margin"), [([5], None), ([3, 3], 0), ([0, 2], 1.96), ([-4, 0, 4], 1.96 * 4 / sqrt(3))]
)
def test_a_margin(differences: list[int], margin: float | None) -> None:
    found = paired_margin(differences)
    assert found == margin or (found is not None and margin is not None and isclose(found, margin))
