"""Play seeds: `python -m tests.simulation.run --seeds N [--from S] [--jobs J] [--trace]`.

A failure prints its seed, the end of its trace and the one command that plays it again. Ends with 1 if a seed failed.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Final

from erqiwang_grpc.tools.workers import shared_out
from tests.simulation.verdict import Verdict, verdict, verdicts
from tests.simulation.world import run

_SHARE: Final = 20
"""Seeds that a process takes at a time."""


def found(seeds: range, jobs: int) -> Iterable[Verdict]:
    """Play seeds, in so many processes."""
    if jobs == 1:
        yield from map(verdict, seeds)
        return
    shares = [seeds[first : first + _SHARE] for first in range(0, len(seeds), _SHARE)]
    for several in shared_out(verdicts, shares, jobs or os.cpu_count() or 1):
        yield from several


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
    for each in found(seeds, parsed.jobs):
        played, versions, ended = played + 1, versions + each.versions, ended + each.ended
        if each.fault is not None:
            failed += 1
            print(*each.lines, sep="\n", flush=True)
    seconds = max(monotonic() - began, 0.001)
    print(
        f"{played} seeds, {failed} failed; {versions} events, {ended} matches ended; {60 * played / seconds:.0f} seeds a minute"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
