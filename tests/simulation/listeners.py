"""Who listens to what nodes tell each other, and in which process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, ParamSpec, TypeAlias, final

from tests.simulation.loop import Process
from tests.simulation.scene import Scene

P = ParamSpec("P")

Listener: TypeAlias = tuple[Process, Callable[P, None]]


@final
class Listeners(Generic[P]):
    """The listeners of all nodes. Each is called in its own process."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._hearing: list[Listener[P]] = []

    def __iter__(self) -> Iterator[Listener[P]]:
        return iter(self._hearing)

    @contextmanager
    def listen(self, hear: Callable[P, None]) -> Iterator[None]:
        """Call `hear` for what arrives, while in the context."""
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
