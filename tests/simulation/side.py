"""Side messages between nodes: lost, late and in another order, like hints."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from erqiwang_grpc.store import SideMessage
from tests.simulation.listeners import Listeners
from tests.simulation.scene import Scene


@final
class Side:
    """The side messages of all nodes. Who listens is called in its own process."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._listeners: Listeners[SideMessage] = Listeners(scene)
        self.listen = self._listeners.listen
        self.forget = self._listeners.forget

    def say(self, message: SideMessage) -> None:
        """Send the message to everybody who listens; each copy has a fate of its own."""
        scene, chances = self._scene, self._scene.chances
        for process, hear in self._listeners:
            if scene.happens(chances.lost_hint):
                scene.trace.note(f"{type(message).__name__} lost for {process.name}")
                continue
            for _ in range(1 + scene.happens(chances.doubled_hint)):
                scene.loop.later(process, scene.delay(chances.late_hint), hear, message)


@final
class SideOfNode:
    """`SideMessages` of one node, which knows how far its clock is off."""

    def __init__(self, side: Side, skew: Callable[[], float]) -> None:
        self._side = side
        self._skew = skew
        self.say = side.say
        self.listen = side.listen

    @property
    def ahead(self) -> float:
        return self._skew()
