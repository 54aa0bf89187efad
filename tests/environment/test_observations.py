"""What a seat sees: all of its view that matters, and nothing else. What is hidden from it changes nothing."""

from random import Random
from typing import Final

import numpy as np
import pytest
from erqiwang_core.kernel.cards import kind
from erqiwang_core.kernel.hand import EMPTY, ids
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import View
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.view import view
from erqiwang_environment import LAYOUT, SECTIONS, mask, observation
from erqiwang_environment.observations import SIZE
from hypothesis import given, strategies as st

from tests.deals.plans import Plan, examples, plans, tables
from tests.deals.walk import positions
from tests.properties.worlds import recorded, run, twin

TABLES: Final = tables()


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
@examples(0.2)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_what_is_hidden_from_a_seat_changes_nothing_that_it_sees(
    options: st.SearchStrategy[RoomOptions], data: st.DataObject, seed: int
) -> None:
    world, chance = recorded(data.draw(plans(options)), 1), Random(seed)
    steps = run(world)
    assert steps is not None
    for seat in steps[-1].after.chairs.seats():
        other = run(twin(world, seat, chance).world)
        assert other is not None
        for here, there in zip(steps, other, strict=True):
            one, two = view(here.after, seat), view(there.after, seat)
            assert np.array_equal(observation(one, EMPTY), observation(two, EMPTY))
            assert np.array_equal(mask(one, EMPTY), mask(two, EMPTY))


def copies(cards: CardSet) -> list[float]:
    found = [0.0] * 54
    for card in ids(cards):
        found[kind(card)] += 0.5
    return found


def seats_that_see(plan: Plan) -> list[View]:
    return [view(match, seat) for match in positions(plan) for seat in match.chairs.seats()]


@examples(0.3)
@given(plan=plans())
def test_an_observation_holds_the_cards_of_the_view_and_is_within_its_bounds(plan: Plan) -> None:
    for seen in seats_that_see(plan):
        row = observation(seen, EMPTY)
        assert row.shape == (SIZE,)
        assert row.min() >= 0
        assert row.max() <= 1
        own = {
            "hand": seen.hand.cards,
            "kitty": seen.kitty.cards,
            "buried": seen.buried.cards,
            "captured_cards": seen.captured_cards.cards,
        }
        for name, cards in own.items():
            assert list(row[LAYOUT[name]]) == copies(cards)
        seats = len(seen.chairs.players)
        tables = row[LAYOUT["table"]].reshape(4, 54)
        trick = seen.table.trick
        for played in () if trick is None else trick.plays:
            assert list(tables[(played.seat - seen.seat) % seats]) == copies(played.cards)
        assert row[LAYOUT["past"]].sum() * 2 == sum(each.cards().bit_count() for each in seen.history.tricks)
        assert row[LAYOUT["captured_points"]] * 200 == pytest.approx(seen.captured.points)
        assert np.flatnonzero(row[LAYOUT["turn"]]).tolist() == (
            [] if seen.turn.seat is None else [(seen.turn.seat - seen.seat) % seats]
        )


@examples(0.3)
@given(plan=plans())
def test_what_the_seats_know_of_each_other_is_there(plan: Plan) -> None:
    for seen in seats_that_see(plan):
        row, seats = observation(seen, EMPTY), len(seen.chairs.players)

        def at(seat: Seat, seen: View = seen, seats: int = seats) -> int:
            return (seat - seen.seat) % seats

        announced = {at(seat) for seat in seen.trump_void.announced}
        assert set(np.flatnonzero(row[LAYOUT["announced"]])) == announced
        void = {
            (at(seat), group)
            for seat, proven in (() if seen.inference.proven is None else seen.inference.proven.items())
            for group in proven.void
        }
        assert {tuple(place) for place in np.argwhere(row[LAYOUT["void"]].reshape(4, 5))} == void
        counted = row[LAYOUT["counted"]].reshape(4, 3)
        assert {place for place in range(4) if counted[place][0]} == {at(seat) for seat, _ in seen.trump_counts.counts}
        for seat, held in seen.trump_counts.counts:
            assert counted[at(seat)][1:] * 36 == pytest.approx([held.trumps, held.pairs])
        assert row[LAYOUT["disclosed"]].any() == (seen.disclosed.disclosure is not None)
        agreed = seen.contract.agreed
        if agreed is not None:
            assert np.flatnonzero(row[LAYOUT["bidder"]]).tolist() == [at(agreed.declarer)]
            assert np.flatnonzero(row[LAYOUT["bid"]]).tolist() == [agreed.bid // 5]


def test_the_parts_fill_the_row_one_after_another() -> None:
    ends = [LAYOUT[section.name].stop for section in SECTIONS]
    assert [LAYOUT[section.name].start for section in SECTIONS] == [0, *ends[:-1]]
    assert ends[-1] == SIZE
