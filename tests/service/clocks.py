"""Clocks that a test moves by hand."""

import asyncio
from math import isclose
from typing import final


@final
class HandMonotonic:
    """A monotonic clock that stands still until it is moved on; then whoever has slept long enough wakes up."""

    def __init__(self) -> None:
        self._now = 1_000.0
        self._sleeping: list[tuple[float, asyncio.Future[None]]] = []

    def __call__(self) -> float:
        return self._now

    @property
    def sleeping(self) -> tuple[float, ...]:
        """For how many seconds each sleeper still sleeps."""
        return tuple(due - self._now for due, future in self._sleeping if not future.done())

    def is_waited_for(self, seconds: float) -> bool:
        """Whether somebody sleeps, for so long, and nobody else does."""
        return len(self.sleeping) == 1 and isclose(self.sleeping[0], seconds, rel_tol=1e-9, abs_tol=1e-9)

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleeping.append((self._now + seconds, future))
        await future

    def forward(self, seconds: float) -> None:
        """Move on."""
        self._now += seconds
        for due, future in self._sleeping:
            if due <= self._now and not future.done():
                future.set_result(None)
        self._sleeping = [(due, future) for due, future in self._sleeping if not future.done()]
