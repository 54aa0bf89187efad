"""Places for streams that are only held open: limited in number and time, and ended when the server shuts down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Never, TypeVar, final

import grpc

from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rpc.errors import end, end_served

Q = TypeVar("Q")
R = TypeVar("R")


@final
class Places:
    """The places for one kind of stream, at most `most` at once."""

    def __init__(self, most: int, what: str, seconds: float | None = None) -> None:
        """`what` names the streams, in the plural. Each may stay for `seconds`, or for ever if None."""
        self._most = most
        self._what = what
        self._seconds = seconds
        self._staying: set[asyncio.Timeout] = set()
        self.closed = False
        """Whether the server is shutting down."""

    @property
    def taken(self) -> int:
        """The number of streams that have a place now."""
        return len(self._staying)

    @asynccontextmanager
    async def place(self, context: grpc.aio.ServicerContext[Q, R]) -> AsyncIterator[None]:
        """Hold a place while in the context. Ends the call if none is free or the server is shutting down.

        Raises `TimeoutError` when the time of the place is over, or when the server begins to shut down.
        """
        if self.closed:
            await end(context, Reason.DRAINING)
        if len(self._staying) >= self._most:
            said = f"The server holds {self._most} {self._what}, as many as it takes."
            await end(context, Reason.TOO_MANY_STREAMS, said)
        async with asyncio.timeout(self._seconds) as until:
            self._staying.add(until)
            try:
                yield
            finally:
                self._staying.discard(until)

    def close(self) -> None:
        """The server is shutting down: the time of every place is over now."""
        self.closed = True
        now = asyncio.get_running_loop().time()
        for until in self._staying:
            until.reschedule(now)

    async def send_away(self, context: grpc.aio.ServicerContext[Q, R]) -> Never:
        """End the call of a stream whose time is over: because of shutdown, or because it stayed too long."""
        if self.closed:
            await end_served(context, Reason.DRAINING)
        said = f"The server holds {self._what} open for {self._seconds:g} seconds."
        await end_served(context, Reason.TOO_LONG, said)
