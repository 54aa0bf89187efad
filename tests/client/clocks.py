"""A clock that a test turns, for what a client does of itself as time goes by."""

import asyncio
from typing import final

from erqiwang_grpc.client import Timing


@final
class Clock:
    """It stands at 0 seconds until it is turned."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []
        """Every wait that was asked for."""
        self._waiting: list[tuple[float, asyncio.Future[None]]] = []
        self._asked = asyncio.Event()

    @property
    def timing(self) -> Timing:
        """Chance always takes the greater number."""
        return Timing(lambda: self.time, self._sleep, lambda _, most: most)

    def turn(self, seconds: float) -> None:
        """Let time pass. Whoever waited for it goes on."""
        self.time += seconds
        due = [future for until, future in self._waiting if until <= self.time and not future.done()]
        self._waiting = [(until, future) for until, future in self._waiting if until > self.time]
        for future in due:
            future.set_result(None)

    async def asked_for(self, waits: int) -> None:
        """Until so many waits have been asked for."""
        while len(self.slept) < waits:
            self._asked.clear()
            await self._asked.wait()

    async def _sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self.slept.append(seconds)
        self._waiting.append((self.time + seconds, future))
        self._asked.set()
        await future
