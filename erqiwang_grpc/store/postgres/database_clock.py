"""The clock of the database, by which the clocks of all nodes are compared."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from erqiwang_grpc.store.postgres.connections import Connection

log = logging.getLogger(__name__)

_MOST_SECONDS: Final = 1.0
"""Seconds that a node's clock may be off the database's, until its log says so."""
_SAID_AGAIN_SECONDS: Final = 3_600.0
"""How long a clock that stays off is not mentioned again."""


@final
class DatabaseClock:
    """How far this node's wall clock is off the database's. The log says so if it is off by more than a second."""

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._said: float | None = None
        """When the log was told that the clock is off; None if it is right."""
        self.ahead = 0.0
        """Seconds that this node's wall clock is ahead; 0 until the database was asked."""

    async def look(self, db: Connection) -> None:
        """Ask the database for its time."""
        before = self._wall()
        there: float = await db.fetchval("SELECT extract(epoch FROM clock_timestamp())::double precision")
        after = self._wall()
        self.ahead = (before + after) / 2 - there
        # The answer was made at some moment between the two, so half of the time between them is not known.
        off = abs(self.ahead) - abs(after - before) / 2
        if off > _MOST_SECONDS:
            self._say_that_it_is_off()
        elif self._said is not None:
            self._said = None
            log.info("clock right again", extra={"seconds": round(self.ahead, 3)})

    def _say_that_it_is_off(self) -> None:
        now = self._monotonic()
        if self._said is None or now - self._said >= _SAID_AGAIN_SECONDS:
            self._said = now
            why = "this node's clock differs from the database's: have both machines follow one time server"
            log.warning("clock off", extra={"seconds": round(self.ahead, 3), "why": why})
