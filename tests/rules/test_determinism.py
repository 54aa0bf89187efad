"""The same verdicts in every process, whatever Python's hashes are seeded with."""

import os
import subprocess
import sys

import pytest

# Printed are verdicts upon many hands: what they may lead, what each lead is, and what a follower must and may play.
PROGRAM = """
from random import Random
from erqiwang_core.kernel.cards import FULL_DECK
from erqiwang_core.kernel.following import by_price, follow, may, must
from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.kernel.shapes import Lead, all_components, classify
from erqiwang_core.kernel.trump import TRUMPS, order

chance = Random(27)
for trump in TRUMPS:
    for _ in range(20):
        mine, other = (cards_of(chance.sample(FULL_DECK, size)) for size in (20, 40))
        print(sorted(all_components(order(trump), mine)))
        for led in (*all_components(order(trump), other)[-5:], order(trump).trumps(mine)):
            lead = classify(order(trump), led)
            print(lead)
            if isinstance(lead, Lead) and lead.count <= 20:
                print(must(order(trump), lead, mine), may(order(trump), lead, mine))
                print(follow(order(trump), lead, mine, by_price([0] * 108)))
"""


def printed(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def verdicts() -> str:
    return printed("0")


@pytest.mark.parametrize("seed", ["1", "2703"])
def test_verdicts_do_not_depend_on_the_process(verdicts: str, seed: str) -> None:
    assert len(verdicts.splitlines()) > 1_000
    assert printed(seed) == verdicts
