"""Presences: hints that the presence of a room's seats may have changed, for those who follow it for many rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final

from erqiwang_grpc.store import RoomId


@final
class Presences:
    """Passes hints on, within one node. Who hears one asks the rooms for the presence now."""

    def __init__(self) -> None:
        self._hearing: list[Callable[[RoomId], None]] = []

    def changed(self, room: RoomId) -> None:
        """The presence of a seat of the room may have changed, here or on another node."""
        for hear in self._hearing:
            hear(room)

    @contextmanager
    def listen(self, hear: Callable[[RoomId], None]) -> Iterator[None]:
        """Call `hear` for every hint while in the context. It must not wait or raise."""
        self._hearing.append(hear)
        try:
            yield
        finally:
            self._hearing.remove(hear)
