"""Wakeup for one process: bells in a dictionary."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from erqiwang_grpc.store.port import RoomId


@final
class ProcessBell:
    """A bell of this process."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    async def wait(self) -> None:
        """Return at the next ring, or at once if it rang since the last time."""
        await self._rung.wait()
        self._rung.clear()

    def ring(self) -> None:
        """Wake whoever waits."""
        self._rung.set()


@final
class ProcessWakeup:
    """`Wakeup` for the tasks of one event loop."""

    def __init__(self) -> None:
        self._bells: dict[RoomId | None, set[ProcessBell]] = {}

    def hint(self, room: RoomId) -> None:
        """Ring every bell of the room and every bell of all rooms. To be called on the event loop."""
        for subject in (room, None):
            for bell in self._bells.get(subject, ()):
                bell.ring()

    @contextmanager
    def subscribe(self, room: RoomId | None) -> Iterator[ProcessBell]:
        """A bell for one room, or with None for all rooms, until the context is left."""
        bell = ProcessBell()
        self._bells.setdefault(room, set()).add(bell)
        try:
            yield bell
        finally:
            self._remove(room, bell)

    def _remove(self, room: RoomId | None, bell: ProcessBell) -> None:
        bells = self._bells[room]
        bells.remove(bell)
        if not bells:  # a server sees more rooms in its life than it could remember
            del self._bells[room]
