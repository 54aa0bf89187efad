"""A bounded share of the seeds, and what the simulation promises: it repeats itself, everything goes wrong in it, and it can fail."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from random import Random
from typing import Final

import pytest

from erqiwang_grpc.rooms.room import Room
from tests.simulation.loop import SeededLoop
from tests.simulation.run import main
from tests.simulation.verdict import told
from tests.simulation.world import run

SHARE: Final = 25
"""The number of seeds of one test."""
HAPPENS: Final = (
    "crashes",
    "stops",
    "hint lost",
    "Roster lost",
    "unanswered .* lost",
    "unanswered .* done",
    "unanswered .* late",
    r"Conflict\(",
    r"Duplicate\(",
    "append .* house:",
    "StoreUnavailable",
    "OutcomeUnknown",
    "StaleVersion",
    "CommandIdReused",
    "Accepted .* True",
    "leaves node",
    "look",
    "attach .* since [0-9]+: Stream",
    "watcher heard",
)


@pytest.mark.parametrize("first", range(0, 150, SHARE))
def test_no_law_is_broken(first: int) -> None:
    for seed in range(first, first + SHARE):
        outcome = run(seed)
        assert outcome.trace.fault is None, told(outcome)


def test_everything_goes_wrong_and_matches_end() -> None:
    outcomes = [run(seed) for seed in range(200, 230)]
    lines = "\n".join(line for outcome in outcomes for line in outcome.trace.lines)
    assert [what for what in HAPPENS if re.search(what, lines) is None] == []
    assert sum(outcome.ended for outcome in outcomes) >= 5
    assert [told(outcome) for outcome in outcomes if outcome.trace.fault is not None] == []


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_a_seed_is_played_again_to_the_byte(seed: int) -> None:
    """Also in another process, whose hashes are others."""
    lines = run(seed).trace.lines
    assert run(seed).trace.lines == lines
    command = [sys.executable, "-m", "tests.simulation.run", "--seeds", "1", "--from", str(seed), "--trace"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env=environment)
    assert done.stdout.splitlines()[:-1] == lines


def test_a_failure_says_how_it_is_played_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def stale(room: Room) -> None:
        """A node that does not catch up before it answers."""

    monkeypatch.setattr(Room, "refresh", stale)
    assert main(["--seeds", "20"]) == 1
    printed = capsys.readouterr().out
    said = re.findall(r"played again by: python -m tests\.simulation\.run --seeds 1 --from (\d+) --trace", printed)
    assert said
    assert main(["--seeds", "1", "--from", said[0]]) == 1
    monkeypatch.undo()
    assert main(["--seeds", "1", "--from", said[0]]) == 0


def test_work_beside_the_loop_is_done_in_its_process_and_without_a_thread() -> None:
    loop = SeededLoop(Random(1), in_turn=True, broken=pytest.fail)
    threads: list[int] = []

    async def work_beside_the_loop() -> None:
        try:
            threads.append(await asyncio.to_thread(threading.get_ident))
        finally:
            loop.stop()

    loop.begin(loop.process("one"), work_beside_the_loop())
    loop.run_forever()
    loop.end()
    assert threads == [threading.get_ident()]
    assert loop.time() > 0, "it takes its time"
