"""A wakeup within one process, and a bell with which a task waits for hints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final

from erqiwang_grpc.store.port import RoomId, Version


@final
class Bell:
    """Rings at every hint. Several rings without a waiting task count as one."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    async def wait(self) -> None:
        """Return at the next ring, or at once if it has rung since the last call."""
        await self._rung.wait()
        self._rung.clear()

    def ring(self, room: RoomId | None = None, version: Version | None = None) -> None:
        """Wake the waiting task. The arguments are ignored; they let `listen` call this method."""
        self._rung.set()


@final
class ProcessWakeup:
    """`Wakeup` for the tasks of one event loop."""

    def __init__(self) -> None:
        self._hearing: list[Callable[[RoomId, Version], None]] = []

    def hint(self, room: RoomId, version: Version) -> None:
        """Call all listeners. Call it on the event loop."""
        for hear in tuple(self._hearing):
            hear(room, version)

    @contextmanager
    def listen(self, hear: Callable[[RoomId, Version], None]) -> Iterator[None]:
        """Call `hear` for every hint while in the context."""
        self._hearing.append(hear)
        try:
            yield
        finally:
            self._hearing.remove(hear)
