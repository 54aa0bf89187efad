"""When a client speaks and tries again: its clock, its heartbeats, and its waits, which grow."""

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
    """What a client knows of time and chance; tests bring their own."""

    now: Callable[[], float] = monotonic
    """Seconds on a clock that never steps back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    between: Callable[[float, float], float] = uniform
    """A random number between two."""


@final
@dataclass(slots=True)
class BackOff:
    """How long to wait before the next try: 0.1 seconds at most after the first failure, twice that after the next, 5 in the end.

    Each wait is a random one from the upper half, so that clients that were lost together do not come back together.
    """

    timing: Timing
    _failures: int = field(default=0, init=False)

    def begin_again(self) -> None:
        """A try went well: the next failure counts as the first."""
        self._failures = 0

    def wait(self, asked: float | None) -> float:
        """Seconds to wait after one more failure; at least what the server `asked` for, and up to half as long again."""
        # The power is bounded: a client that fails for a week must not compute 2 to the power of a million.
        longest = min(FIRST_WAIT * 2 ** min(self._failures, 10), LONGEST_WAIT)
        self._failures += 1
        wait = self.timing.between(longest / 2, longest)
        return wait if asked is None else max(wait, self.timing.between(asked, 1.5 * asked))


@final
class Heart:
    """Says when a heartbeat is due: 20 seconds after the last word."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._spoke = timing.now()

    def spoken(self) -> None:
        """Something was said just now."""
        self._spoke = self._timing.now()

    async def due(self) -> None:
        """Wait until nothing has been said for 20 seconds."""
        while (left := self._spoke + HEARTBEAT_SECONDS - self._timing.now()) > 0:
            await self._timing.sleep(left)
