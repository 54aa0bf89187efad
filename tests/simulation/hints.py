"""Wakeups between nodes: lost, late, in another order, doubled, and sometimes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, final

from erqiwang_grpc.store import RoomId, Version
from tests.simulation.loop import Process
from tests.simulation.scene import Scene

_FORGED: Final = 0.02
"""How often a hint names a version that is wrong, if hints are doubled."""


@final
class Hints:
    """`Wakeup` of all nodes. Who listens is called in its own process."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._hearing: list[tuple[Process, Callable[[RoomId, Version], None]]] = []

    def hint(self, room: RoomId, version: Version) -> None:
        """Send the hint to everybody who listens; each copy has a fate of its own."""
        scene, chances = self._scene, self._scene.chances
        for process, hear in self._hearing:
            # A lost hint is no fault that must heal: it may be lost in the calm too.
            if chances.lost_hint and scene.luck.random() < chances.lost_hint:
                scene.trace.note(f"hint lost {room[:4]} {version} for {process.name}")
                continue
            for _ in range(1 + scene.happens(chances.doubled_hint)):
                told = Version(version + scene.luck.randint(-3, 3)) if scene.happens(_FORGED) else version
                scene.loop.later(process, scene.delay(chances.late_hint), hear, room, told)

    @contextmanager
    def listen(self, hear: Callable[[RoomId, Version], None]) -> Iterator[None]:
        """Call `hear` for the hints that arrive, while in the context."""
        listener = (self._scene.loop.running(), hear)
        self._hearing.append(listener)
        try:
            yield
        finally:
            if listener in self._hearing:
                self._hearing.remove(listener)

    def forget(self, process: Process) -> None:
        """A process has died, and hears nothing more."""
        self._hearing = [listener for listener in self._hearing if listener[0] is not process]
