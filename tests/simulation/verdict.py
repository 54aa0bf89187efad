"""What is found of a seed that was played, and how to play it again. Its own module: a worker process imports it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from tests.simulation.world import Outcome, run

_LAST: Final = 40
"""The number of lines of a trace that are printed of a failure."""


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """What is kept of one seed."""

    seed: int
    fault: str | None
    lines: tuple[str, ...]
    versions: int
    ended: int


def again(seed: int) -> str:
    """The command that plays a seed again, with its whole trace."""
    return f"python -m tests.simulation.run --seeds 1 --from {seed} --trace"


def told(outcome: Outcome) -> str:
    """What is said of a seed that failed."""
    end = "\n".join(outcome.trace.lines[-_LAST:])
    return f"{end}\nseed {outcome.seed} fails: {outcome.trace.fault}\nIt is played again by: {again(outcome.seed)}"


def verdict(seed: int) -> Verdict:
    """Play one seed."""
    outcome = run(seed)
    lines = tuple(told(outcome).splitlines()) if outcome.trace.fault is not None else ()
    return Verdict(seed, outcome.trace.fault, lines, outcome.versions, outcome.ended)


def verdicts(seeds: Sequence[int]) -> list[Verdict]:
    """Play seeds, one after the other."""
    return [verdict(seed) for seed in seeds]
