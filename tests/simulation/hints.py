"""Wakeups between nodes: lost, late, in another order, doubled, and sometimes wrong."""

from __future__ import annotations

from typing import Final, final

from erqiwang_grpc.store import RoomId, Version
from tests.simulation.listeners import Listeners
from tests.simulation.scene import Scene

_FORGED: Final = 0.02
"""How often a hint names a version that is wrong, if hints are doubled."""


@final
class Hints:
    """`Wakeup` of all nodes. Who listens is called in its own process."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._listeners: Listeners[RoomId, Version] = Listeners(scene)
        self.listen = self._listeners.listen
        self.forget = self._listeners.forget

    def hint(self, room: RoomId, version: Version) -> None:
        """Send the hint to everybody who listens; each copy has a fate of its own."""
        scene, chances = self._scene, self._scene.chances
        for process, hear in self._listeners:
            # A lost hint is no fault that must heal: it may be lost in the calm too.
            if chances.lost_hint and scene.luck.random() < chances.lost_hint:
                scene.trace.note(f"hint lost {room[:4]} {version} for {process.name}")
                continue
            for _ in range(1 + scene.happens(chances.doubled_hint)):
                told = Version(version + scene.luck.randint(-3, 3)) if scene.happens(_FORGED) else version
                scene.loop.later(process, scene.delay(chances.late_hint), hear, room, told)
