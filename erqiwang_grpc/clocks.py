"""The two clocks of a server, and what each of them is for.

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
    """A clock that never goes back. Only differences between its times have a meaning."""

    def __call__(self) -> float:
        """The time in seconds, from an arbitrary zero."""

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed on this clock."""


@final
class SystemMonotonic:
    """The monotonic clock of this machine."""

    def __call__(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def system_wall() -> TimeNs:
    """The time on this machine's wall clock, in nanoseconds since 1970."""
    return TimeNs(time.time_ns())


async def within(clock: Monotonic, seconds: float, work: Coroutine[object, object, T]) -> T:
    """The result of `work`. If it takes longer than `seconds`, it is cancelled and `TimeoutError` is raised."""
    working, waiting = asyncio.create_task(work), asyncio.create_task(clock.sleep(seconds))
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise TimeoutError
    finally:
        working.cancel()
        waiting.cancel()
