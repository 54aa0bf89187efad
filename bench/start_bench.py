"""How long `erqiwang serve` takes from the start of its process to the line that says it serves: `python -m bench.start_bench`.

Each start is a fresh process on a fresh folder. The CPU seconds are the process's own, up to that line:
on a busy machine they say more than the clock.
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
    """What one start took, in seconds."""

    wall: float
    cpu: float


async def started() -> Start:
    """Start a server, wait for its line, and end it."""
    with tempfile.TemporaryDirectory(prefix="erqiwang-") as folder:
        cpu, began = _children_cpu(), perf_counter()
        server = await ServerProcess.start(Path(folder))
        wall = perf_counter() - began
        await server.kill()
        return Start(wall, _children_cpu() - cpu)


def _children_cpu() -> float:
    """CPU seconds of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def main() -> None:
    parser = ArgumentParser(description="Measure how long a server takes to be ready.")
    parser.add_argument("--times", type=int, default=5, help="how many starts (default: 5)")
    times = parser.parse_args().times
    await started()  # The first one may have to write the compiled modules.
    starts = [await started() for _ in range(times)]
    print(f"ready: median {statistics.median(each.wall for each in starts):.2f} s of {times}", end="")
    print(f" ({min(each.wall for each in starts):.2f} to {max(each.wall for each in starts):.2f});", end="")
    print(f" CPU {statistics.median(each.cpu for each in starts):.2f} s")


if __name__ == "__main__":
    asyncio.run(main())
