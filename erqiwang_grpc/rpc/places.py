"""Places for streams that are only held open: so many at once, each for so long, and none of them once the server leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import uniform
from typing import Never, TypeVar, final

import grpc
from grpc import StatusCode

from erqiwang_grpc.rpc.errors import end, reasoned

Q = TypeVar("Q")
R = TypeVar("R")


@final
class Places:
    """The places for one kind of stream."""

    def __init__(self, most: int, what: str, seconds: float | None = None) -> None:
        """`what` names the streams, in the plural; each may stay for so many seconds, or for ever."""
        self._most = most
        self._what = what
        self._seconds = seconds
        self._staying: set[asyncio.Timeout] = set()
        self.closed = False
        """Whether the server is leaving."""

    @property
    def taken(self) -> int:
        """How many streams are here now."""
        return len(self._staying)

    @asynccontextmanager
    async def place(self, context: grpc.aio.ServicerContext[Q, R]) -> AsyncIterator[None]:
        """Stay here. Ends the call where there is no place; `TimeoutError` once the time is over or the server leaves."""
        if self.closed:
            await self.send_away(context)
        if len(self._staying) >= self._most:
            why = f"the server holds {self._most} {self._what}, as many as it takes"
            await end(context, reasoned(StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_STREAMS", why, uniform(1, 5)))
        async with asyncio.timeout(self._seconds) as until:
            self._staying.add(until)
            try:
                yield
            finally:
                self._staying.discard(until)

    def close(self) -> None:
        """The server is leaving: end every stay now."""
        self.closed = True
        now = asyncio.get_running_loop().time()
        for until in self._staying:
            until.reschedule(now)

    async def send_away(self, context: grpc.aio.ServicerContext[Q, R]) -> Never:
        """End the call of a stream that could not stay until it had what it wanted."""
        if self.closed:
            why = "the server is leaving: come back after the delay"
            await end(context, reasoned(StatusCode.UNAVAILABLE, "DRAINING", why, uniform(0.1, 2)))
        why = f"{self._what} are held open for {self._seconds:g} seconds"
        await end(context, reasoned(StatusCode.DEADLINE_EXCEEDED, "TOO_LONG", why))
