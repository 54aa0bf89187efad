"""When the turns of a load process may begin, and how long each waits for its answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import perf_counter
from typing import Final, final

from erqiwang_grpc.tools.bench.orders import Played

_STALLED_SECONDS: Final = 0.5
"""The time without an answer after which no more are waited for. The relay answers in the recorded order: of seats that
get ready at once, one may be answered only when another sends its command, and that one may not begin any more."""
_UNMEASURED: Final = 0.0


@final
class Course:
    """What all tables of a load process share. Turns are measured while it is open, at most `rate` a second.

    With a rate, turns begin at even distances; without one they may begin at any time.
    """

    def __init__(self, rate: float | None) -> None:
        self.played = Played()
        self.commands = 0
        """The number of commands that were sent, also in the lead-in."""
        self._interval = None if rate is None else 1 / rate
        self._next = 0.0
        self._opened = 0.0
        self._open = asyncio.Event()
        self._last_answer = 0.0
        self._under_way = 0
        self._quiet = asyncio.Event()
        """Set while no command waits for its answer."""
        self._quiet.set()

    @property
    def is_free(self) -> bool:
        """Whether a turn may begin now, without asking."""
        return self._interval is None and self._open.is_set()

    def open(self) -> None:
        """Begin to measure."""
        self._opened = self._next = perf_counter()
        self._open.set()

    async def close(self) -> None:
        """Let no turn begin any more, and stop measuring once those that have begun are answered.

        So each command that a server was busy with is also a turn that counts.
        """
        self._open.clear()
        self._last_answer = perf_counter()
        while not self._quiet.is_set() and perf_counter() - self._last_answer < _STALLED_SECONDS:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._quiet.wait(), _STALLED_SECONDS)
        self.played.seconds = self._last_answer - self._opened

    async def turn(self) -> None:
        """Wait until the next turn may begin."""
        while True:
            await self._open.wait()
            if self._interval is None:
                return
            now = perf_counter()
            moment = max(now, self._next)
            self._next = moment + self._interval
            if moment > now:
                await asyncio.sleep(moment - now)
            if self._open.is_set():
                return

    def sent(self) -> float:
        """Note that a command is sent now; gives what `answered` needs to know of it."""
        self.commands += 1
        if not self._open.is_set():
            return _UNMEASURED
        self._under_way += 1
        self._quiet.clear()
        return perf_counter()

    def answered(self, sent: float) -> None:
        """Note that the command is answered."""
        if sent != _UNMEASURED:
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()
            self.played.turns += 1
            self._last_answer = perf_counter()
            self.played.latencies.append(int(1_000_000 * (self._last_answer - sent)))


@final
class Turns:
    """The turns of one table: first those of its lead-in, then those that the course lets begin."""

    def __init__(self, course: Course, lead_in: int) -> None:
        self.course = course
        self.led_in = asyncio.Event()
        """Set once the table has played its lead-in, and would go on."""
        self._left = lead_in

    def at_once(self) -> bool:
        """Whether a turn may begin at once. If so, it begins; if not, wait for `Course.turn` first."""
        if self._left:
            self._left -= 1
            return True
        self.led_in.set()
        return self.course.is_free
