"""The timing of a client: its clock, its heartbeats, and its growing waits between tries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import uniform
from time import monotonic
from typing import Final, final

FIRST_WAIT: Final = 0.1
LONGEST_WAIT: Final = 5.0
HEARTBEAT_SECONDS: Final = 20.0


@final
@dataclass(frozen=True, slots=True)
class Timing:
    """The clock and random source of a client. Tests replace them."""

    now: Callable[[], float] = monotonic
    """Seconds on a monotonic clock."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    between: Callable[[float, float], float] = uniform
    """A random number between two numbers."""


@final
@dataclass(slots=True)
class BackOff:
    """The wait before the next try: at most 0.1 seconds after the first failure, twice that after each next, at most 5.

    Each wait is random, between half of that and all of it, so that clients lost at the same time do not all come back
    at the same time.
    """

    timing: Timing
    _failures: int = field(default=0, init=False)

    def begin_again(self) -> None:
        """Note that a try succeeded. The next failure counts as the first."""
        self._failures = 0

    def wait(self, asked: float | None) -> float:
        """Seconds to wait after one more failure, at least what the server `asked` for."""
        # Bound the power, so that a client that fails for a week does not compute 2 to the power of a million.
        longest = min(FIRST_WAIT * 2 ** min(self._failures, 10), LONGEST_WAIT)
        self._failures += 1
        wait = self.timing.between(longest / 2, longest)
        return wait if asked is None else max(wait, self.timing.between(asked, 1.5 * asked))


@final
class Heart:
    """Tells when a heartbeat is due: 20 seconds after the client last sent something."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._spoke = timing.now()

    def spoken(self) -> None:
        """Note that something was sent now."""
        self._spoke = self._timing.now()

    async def due(self) -> None:
        """Wait until nothing has been sent for 20 seconds."""
        while (left := self._spoke + HEARTBEAT_SECONDS - self._timing.now()) > 0:
            await self._timing.sleep(left)
