"""Play seeds: `python -m tests.simulation.run --seeds N [--from S] [--jobs J] [--trace]`.

A failure prints its seed, the end of its trace and the one command that plays it again. Ends with 1 if a seed failed.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import monotonic
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


def verdicts(seeds: Sequence[int], jobs: int) -> Iterable[Verdict]:
    """Play seeds, in so many processes."""
    if jobs == 1:
        yield from map(verdict, seeds)
        return
    with ProcessPoolExecutor(jobs or None) as pool:
        yield from pool.map(verdict, seeds, chunksize=20)


def traced(seed: int) -> bool:
    """Play one seed and print its whole trace; gives whether it failed."""
    trace = run(seed).trace
    print(*trace.lines, sep="\n")
    print(f"seed {seed}: {trace.fault or 'nothing is wrong'}; trace {trace.digest}")
    return trace.fault is not None


def main(arguments: Sequence[str] | None = None) -> int:
    """Play them and print how many were played."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many seeds (default: 1000)")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes, 0 for one a core (default: 1)")
    parser.add_argument("--trace", action="store_true", help="print the whole trace of each seed")
    parsed = parser.parse_args(arguments)
    seeds = range(parsed.first, parsed.first + parsed.seeds)
    if parsed.trace:
        return int(sum(map(traced, seeds)) > 0)
    began, played, failed, versions, ended = monotonic(), 0, 0, 0, 0
    for found in verdicts(seeds, parsed.jobs):
        played, versions, ended = played + 1, versions + found.versions, ended + found.ended
        if found.fault is not None:
            failed += 1
            print(*found.lines, sep="\n", flush=True)
    seconds = max(monotonic() - began, 0.001)
    print(
        f"{played} seeds, {failed} failed; {versions} events, {ended} matches ended; {60 * played / seconds:.0f} seeds a minute"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
