"""Wakeup for one process, and the bell with which a task waits for one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final

from erqiwang_grpc.store.port import RoomId, Version


@final
class Bell:
    """Rings at every hint. Rings that nobody waited for count as one."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    async def wait(self) -> None:
        """Return at the next ring, or at once if it rang since the last time."""
        await self._rung.wait()
        self._rung.clear()

    def ring(self, room: RoomId | None = None, version: Version | None = None) -> None:  # as it is called
        """Wake the waiting task, for a hint about any room."""
        self._rung.set()


@final
class ProcessWakeup:
    """`Wakeup` for the tasks of one event loop."""

    def __init__(self) -> None:
        self._hearing: list[Callable[[RoomId, Version], None]] = []

    def hint(self, room: RoomId, version: Version) -> None:
        """Tell everyone who listens. To be called on the event loop."""
        for hear in tuple(self._hearing):
            hear(room, version)

    @contextmanager
    def listen(self, hear: Callable[[RoomId, Version], None]) -> Iterator[None]:
        """Have `hear` called at every hint until the context is left."""
        self._hearing.append(hear)
        try:
            yield
        finally:
            self._hearing.remove(hear)
