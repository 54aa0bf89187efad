"""A match is its events: folded again they give the same match, in any process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from erqiwang_core.match import Event, Match, begin, evolve
from hypothesis import given

from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import steps
from tests.properties.digest import digest


@examples(0.3)
@given(plan=plans())
def test_replay_is_live(plan: Plan) -> None:
    live: Match = begin(plan.options)
    events: list[Event] = []
    for step in steps(plan, deals_played=2):
        events.extend(change.event for change in step.changes)
        live = step.after
    replayed: Match = begin(plan.options)
    for event in events:
        replayed = evolve(replayed, event)
    assert replayed == live


@pytest.mark.parametrize("hash_seed", ["0", "1", "4711"])
def test_another_process_comes_to_the_same(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.properties.digest", "27"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest(27)
