"""A platform's watcher: follows the feed on some node, and goes on from its last place on another one when that ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import final

from erqiwang_grpc.archive.feed import Happened, Place
from erqiwang_grpc.store import START, RoomId, Version
from tests.simulation.node import SimulatedNode
from tests.simulation.scene import Scene


@final
class Watcher:
    """Hears every public event once, in the order in which they were stored."""

    def __init__(self, scene: Scene, nodes: Sequence[SimulatedNode]) -> None:
        self.heard: list[tuple[RoomId, Version]] = []
        self._scene = scene
        self._nodes = nodes
        self._place = Place(START, 0)
        self._number = 0

    async def run(self) -> None:
        """Watch for ever."""
        scene = self._scene
        while True:
            node = scene.luck.choice(self._nodes)
            process = node.process
            self._number += 1
            if process.is_dead:
                await asyncio.sleep(0.5)
                continue
            watching = scene.loop.start(process, self._watch(node, self._number))
            while not (watching.done() or node.process is not process or scene.happens(scene.chances.cut / 4)):  # noqa: ASYNC110  # simulated time costs nothing
                await asyncio.sleep(1.0)
            scene.loop.later(process, 0.0, watching.cancel)

    async def _watch(self, node: SimulatedNode, number: int) -> None:
        scene = self._scene
        under_way: deque[tuple[Happened, ...]] = deque()

        def arrive() -> None:
            happened = under_way.popleft()
            if number == self._number:
                self._hear(happened)

        def tell(happened: tuple[Happened, ...]) -> None:
            under_way.append(happened)
            scene.loop.later(scene.clients, scene.delay(scene.chances.slow_call), arrive)

        await node.watch(self._place, scene.luck.choice((1, 3, 100)), tell)

    def _hear(self, happened: tuple[Happened, ...]) -> None:
        for each in happened:
            self.heard.append((each.entry.room, each.entry.version))
            self._place = each.place
        told = len(self.heard)
        self._scene.trace.note(f"watcher heard {told}")
        if self.heard != self._scene.ledger.public[:told]:
            self._scene.trace.fail(f"the feed tells {self.heard[-3:]}: not every public event once and in order")
