"""The listener of a seat on its node: holds the node to the promises of `Listener`, and passes on what it is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias, final

from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Aside, Beginning, Told
from erqiwang_grpc.store import RoomId, Version
from tests.simulation.laws import begins
from tests.simulation.scene import Scene

Message: TypeAlias = Beginning | Told | Closing


@final
class Ear:
    """A `Listener`. What it is told reaches the client in order, a while later."""

    def __init__(self, scene: Scene, room: RoomId, seat: Seat, hear: Callable[[Message], None]) -> None:
        self.is_ended = False
        self._scene = scene
        self._room = room
        self._seat = seat
        self._hear = hear
        self._at: Version | None = None
        """The last version told; None before it has begun."""
        self._seen = Version(0)
        self._last_version: int | None = None
        self._under_way: deque[Message] = deque()

    def expects(self, seen: Version, last_version: int | None) -> None:
        """It was asked for when the store held version `seen`, by a client that has seen `last_version`."""
        self._seen, self._last_version = seen, last_version

    def begin(self, beginning: Beginning) -> None:
        if self._at is not None:
            self._scene.trace.fail("a listener begins twice")
        self._at = beginning.version
        begins(self._scene, beginning, self._seat, self._seen, self._last_version)
        self._send(beginning)

    def tell(self, told: Told) -> None:
        log = self._scene.ledger.logs[self._room]
        if self.is_ended or self._at is None or told.version != self._at + 1:
            self._scene.trace.fail(f"version {told.version} is told after version {self._at}, ended: {self.is_ended}")
            return
        if told.version > log.head:
            self._scene.trace.fail(f"version {told.version} is told before it is stored")
            return
        standing = log.at(told.version)
        if (told.time, told.turn_began) != (standing.time, standing.turn_began):
            self._scene.trace.fail(f"version {told.version} is told with other times than are stored")
        self._at = told.version
        self._send(told)

    def aside(self, aside: Aside) -> None:
        if self.is_ended or self._at is None:
            self._scene.trace.fail(f"{aside} is told before the beginning or after the end")

    def end(self, closing: Closing) -> None:
        if not self.is_ended:
            self.is_ended = True
            self._send(closing)

    def _send(self, message: Message) -> None:
        self._under_way.append(message)
        scene = self._scene
        scene.loop.later(scene.clients, scene.delay(scene.chances.slow_call), self._arrive)

    def _arrive(self) -> None:
        # One arrives whenever one is due: so they keep their order, as on a connection.
        self._hear(self._under_way.popleft())
