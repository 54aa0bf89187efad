"""The life of a client: the task that keeps its stream, from `async with` to the end, and those who wait for what it brings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import final

from erqiwang_grpc.client.servers import Servers


class NotAttached(Exception):
    """No snapshot came in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the seat is not attached after {seconds:g} s: no server answers, or the connection carries as many streams as the "
            "server takes on one; open another channel, with the option grpc.use_local_subchannel_pool"
        )


@final
class Life:
    """One task on connections to servers, which are closed with it."""

    def __init__(self, servers: Servers, has_ended: Callable[[], bool]) -> None:
        """`has_ended` says whether the client's stream has ended for good: nobody waits for more then."""
        self._servers = servers
        self._has_ended = has_ended
        self._changed = asyncio.Condition()
        self._running: asyncio.Task[None] | None = None

    async def begin(
        self, running: Coroutine[object, object, None], is_attached: Callable[[], bool], seconds: float
    ) -> None:
        """Begin the task, and wait until the client is attached. Raises `NotAttached` after so many seconds."""
        self._running = asyncio.create_task(running)
        try:
            await asyncio.wait_for(self.until(is_attached), seconds)
        except BaseException as error:
            # `__aexit__` is not called if `__aenter__` fails, so end the task here.
            await self.close()
            if isinstance(error, TimeoutError):
                raise NotAttached(seconds) from None
            raise

    async def ended(self, seconds: float) -> None:
        """Wait until the task has ended by itself, at most so many seconds."""
        if self._running is not None:
            await asyncio.wait([self._running], timeout=seconds)

    async def close(self) -> None:
        """Cancel the task and wait for it, without mistaking a cancellation of the caller for that of the task."""
        if self._running is None:
            return
        self._running.cancel()
        try:
            await asyncio.wait([self._running])
        finally:
            await self._servers.close()
        if not self._running.cancelled():
            self._running.result()

    async def changed(self) -> None:
        """Wake those who wait: the client has heard something, or was lost, or has ended."""
        async with self._changed:
            self._changed.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds, or the stream has ended for good."""
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self._has_ended())
