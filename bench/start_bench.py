"""How long `erqiwang serve` takes from its start to the line that says it serves: `python -m bench.start_bench`.

Each start is a new process on a new folder. The CPU time of the process is printed too, because other programs on the
machine hardly change it.
"""

import asyncio
import resource
import statistics
import tempfile
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import final

from erqiwang_grpc.testing import ServerProcess


@final
@dataclass(frozen=True, slots=True)
class Start:
    """How long one start took, in seconds."""

    wall: float
    cpu: float
    """CPU time of the process, user and system, until it was killed."""


async def started() -> Start:
    """Start a server, wait until it serves, and kill it."""
    with tempfile.TemporaryDirectory(prefix="erqiwang-") as folder:
        cpu, began = _children_cpu(), perf_counter()
        server = await ServerProcess.start(Path(folder))
        wall = perf_counter() - began
        await server.kill()
        return Start(wall, _children_cpu() - cpu)


def _children_cpu() -> float:
    """The CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def main() -> None:
    parser = ArgumentParser(description="Measure how long `erqiwang serve` takes until it serves.")
    parser.add_argument("--times", type=int, default=5, help="number of starts (default: 5)")
    times = parser.parse_args().times
    await started()  # Not counted: the first start after a change compiles the modules.
    starts = [await started() for _ in range(times)]
    print(f"ready: median {statistics.median(start.wall for start in starts):.2f} s of {times} starts", end="")
    print(f" ({min(start.wall for start in starts):.2f} to {max(start.wall for start in starts):.2f} s);", end="")
    print(f" CPU: median {statistics.median(start.cpu for start in starts):.2f} s")


if __name__ == "__main__":
    asyncio.run(main())
