"""The two clocks of a server, and which of them measures what.

The *wall clock* says when something happened, for people and for other machines: the times of events and records, the
deadlines of stored rooms, how long seat tokens and old matches live. All of these outlive the process or are compared
with what another machine wrote, so no other clock can tell them. It may be set back or forward at any moment.

The *monotonic clock* says how long ago something was in this process: allowances, timeouts, silence, idleness. Measured
by the wall clock, an hour set back would refuse everybody for an hour, and an hour set forward would end every stream.
"""

import asyncio
import time
from collections.abc import Coroutine
from typing import Protocol, TypeVar, final

from erqiwang_grpc.store import TimeNs

T = TypeVar("T")


class Monotonic(Protocol):
    """A clock that never goes back. Its zero means nothing: only differences do."""

    def __call__(self) -> float:
        """Seconds."""

    async def sleep(self, seconds: float) -> None:
        """Return once so many seconds have passed on this clock."""


@final
class SystemMonotonic:
    """The machine's."""

    def __call__(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def system_wall() -> TimeNs:
    """The machine's wall clock."""
    return TimeNs(time.time_ns())


async def within(clock: Monotonic, seconds: float, work: Coroutine[object, object, T]) -> T:
    """What the work comes to; `TimeoutError` if it takes longer than that on the clock. It is cancelled then."""
    working, waiting = asyncio.create_task(work), asyncio.create_task(clock.sleep(seconds))
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise TimeoutError
    finally:
        working.cancel()
        waiting.cancel()
