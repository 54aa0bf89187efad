"""The public face of the core: its names suffice to play a match, and its reading order names every module once."""

import re
from pathlib import Path

import erqiwang_core as core

from tests.deals.decks import never_shuffled

FOLDER = Path(core.__file__).parent
TEXT_AND_PARTS = {"awards", "dealing", "disclosure", "inference", "notation", "refusals", "scoring", "valuation"}
"""What the phases and the parts are made of: nobody needs to read it first."""


def test_a_match_is_begun_decided_evolved_and_seen_by_the_names_of_the_face() -> None:
    before = core.begin(core.RoomOptions(core.ThreePlayer()))
    events = core.administer(before, core.TakeSeat(1, core.Player("bob")), never_shuffled)
    assert isinstance(events, tuple)
    after = core.evolve(before, events[0])
    seen = core.fold(core.view.view(before, core.Seat(0)), core.notice(before, events[0], after, core.Seat(0)))
    assert seen == core.view.view(after, core.Seat(0))
    assert core.view.view(after, core.PUBLIC).chairs == seen.chairs
    assert not isinstance(core.decide(after, core.Seat(0), core.Pass(), never_shuffled), tuple)


def test_the_reading_order_names_modules_that_are_there_and_forgets_none() -> None:
    named = re.findall(r"`(\w+)`", " ".join(line for line in core.__doc__.splitlines() if re.match(r"\d\.|   ", line)))
    # Where the core is compiled there are binaries beside the sources.
    there = {path.stem for path in FOLDER.iterdir() if path.suffix in ("", ".py") and not path.stem.startswith("__")}
    assert there - TEXT_AND_PARTS == set(named) & there
    assert set(named) - there == {"begin", "decide", "administer", "answer", "evolve"}
