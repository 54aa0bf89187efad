"""Whoever puts the parts of every notice in their places holds their view, and is told nothing that they have already.

Finished tricks are the one part that is added to: each is told once, with the number of those that stay.
"""

from collections.abc import Iterator
from dataclasses import fields

from erqiwang_core.match import Disband
from erqiwang_core.notices import fold, fold_public, notice, telling
from erqiwang_core.parts import History, Seen
from erqiwang_core.view import view
from erqiwang_core.viewer import PUBLIC
from hypothesis import given

from tests.deals.decks import never_shuffled
from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import Step, advance, steps


def difference(old: Seen, new: Seen) -> Iterator[object]:
    """How the parts of the new view that the old one does not have are told."""
    for each in fields(new):
        held, part = getattr(old, each.name), getattr(new, each.name)
        if part != held:
            yield added(held, part) if isinstance(part, History) and isinstance(held, History) else part


def added(held: History, part: History) -> History:
    """The finished tricks, as they are told to a viewer who has others already."""
    assert held.kept == part.kept == 0, "a view holds them all"
    if not part.tricks:
        return History(0, ())
    *kept, new = part.tricks
    assert tuple(kept) == held.tricks, "one event finishes one trick at most"
    return History(len(kept), (new,))


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
        public, before, after = together.notice(PUBLIC), view(change.before, PUBLIC), view(change.after, PUBLIC)
        assert sorted(public.changed, key=repr) == sorted(difference(before, after), key=repr)
        assert fold_public(before, public) == after
        assert notice(change.before, change.event, change.after, PUBLIC) == public


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
