"""A seat that puts the parts of every notice in their places holds its view, and is told nothing that it has already."""

from collections.abc import Iterator
from dataclasses import fields

from erqiwang_core.match import Disband
from erqiwang_core.notices import fold, notice, telling
from erqiwang_core.parts import View
from erqiwang_core.view import view
from hypothesis import given

from tests.deals.decks import never_shuffled
from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import Step, advance, steps


def difference(old: View, new: View) -> Iterator[object]:
    """The parts of the new view that the old one does not have."""
    return (part for each in fields(View) if (part := getattr(new, each.name)) != getattr(old, each.name))


def check(step: Step) -> None:
    for change in step.changes:
        seats = change.after.chairs.seats()
        together = telling(change.before, change.event, change.after, seats)
        for seat in seats:
            told = together.notice(seat)
            old, new = view(change.before, seat), view(change.after, seat)
            assert sorted(told.changed, key=repr) == sorted(difference(old, new), key=repr)
            assert fold(old, told) == new
            assert notice(change.before, change.event, change.after, seat) == told


@examples(0.5)
@given(plan=plans())
def test_the_fold_of_the_notices_is_the_view(plan: Plan) -> None:
    for step in steps(plan):
        check(step)


@examples(0.2)
@given(plan=plans())
def test_also_when_the_match_is_disbanded(plan: Plan) -> None:
    for step in steps(plan):
        disbanded = advance(step.after, Disband(), never_shuffled)
        assert isinstance(disbanded, Step), "a match may be disbanded at any moment"
        check(disbanded)
