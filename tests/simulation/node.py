"""A node: the rooms of one server process with their housekeeping, without gRPC. It crashes and begins again with nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import replace
from typing import Final, TypeVar, final

from erqiwang_core.units import Seat

from erqiwang_grpc.archive.feed import Happened, Place, feed
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.audience import Attachment
from erqiwang_grpc.rooms.command import Answer, Asked
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.neighbours import Neighbours
from erqiwang_grpc.rooms.refusals import Refused
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import CommandKey, NodeId, RoomId, Store, TimeNs
from erqiwang_grpc.store.wakeup import Bell
from tests.durability.played import free
from tests.simulation.database import Database
from tests.simulation.ear import Ear
from tests.simulation.hints import Hints
from tests.simulation.laws import Question, begins
from tests.simulation.loop import Process
from tests.simulation.scene import Scene
from tests.simulation.side import Side, SideOfNode

T = TypeVar("T")

EPOCH: Final = 1_700_000_000_000_000_000
PLATFORM_NAME: Final = PlatformId("local")
_PATIENCE: Final = 8.0
"""Seconds that a caller waits for an answer."""
_BROKEN: Final = 1.0
"""Most seconds until a caller knows that its node is gone."""


@final
class Lost:
    """No answer came: whether anything was done is not known."""


LOST: Final = Lost()


@final
class SimulatedMonotonic:
    """The monotonic clock of a node: that of the loop."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __call__(self) -> float:
        return self._scene.loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@final
class SimulatedNode:
    """One of the nodes."""

    def __init__(self, scene: Scene, name: str, store: Store, hints: Hints, side: Side) -> None:
        self.name = name
        self.skew = 0.0
        """How many seconds its wall clock is off."""
        self._scene = scene
        self._hints = hints
        self._side = side
        self._node = Node(
            Database(scene, store, name),
            hints,
            self._now,
            seeded(scene.luck.randrange(1 << 30)),
            scene.chances.limits,
            monotonic=SimulatedMonotonic(scene),
        )
        self._lives = 0
        self._callers: dict[Callable[[], None], None] = {}
        """Who waits for an answer, in the order in which they came."""
        self.process: Process = scene.loop.process(name)
        self.rooms: Rooms
        self.begin()

    def _now(self) -> TimeNs:
        return TimeNs(EPOCH + int((self._scene.loop.time() + self.skew) * 1_000_000_000))

    # Its life

    @property
    def is_up(self) -> bool:
        """Whether it lives, stopped or not."""
        return not self.process.is_dead

    def begin(self) -> None:
        """Begin a life, in which no room is in memory."""
        loop = self._scene.loop
        if self._lives:
            self.process = loop.process(self.name)
        self._lives += 1
        self.process.at_death.append(self._die)
        self._scene.trace.note(f"{self.name} begins life {self._lives}")
        self.process.context.run(self._open)
        loop.begin(self.process, self._tick())
        loop.begin(self.process, self._housekeeping.watch_stored())

    def _open(self) -> None:
        name = NodeId(f"{self.name} life {self._lives}")
        self.rooms = Rooms(replace(self._node, neighbours=Neighbours(SideOfNode(self._side, lambda: self.skew), name)))
        self._housekeeping = Housekeeping(self.rooms)

    def _die(self) -> None:
        self._scene.trace.note(f"{self.name} crashes")
        self._hints.forget(self.process)
        self._side.forget(self.process)
        callers, self._callers = self._callers, {}
        for tell in callers:
            tell()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            await self._housekeeping.tick()

    # Calls

    async def call(self, what: str, work: Callable[[], Coroutine[object, object, T]]) -> T | Lost:
        """What the node answers to a client. `LOST` if it crashes, if the network fails, or if it takes too long."""
        scene, loop = self._scene, self._scene.loop
        most = scene.chances.slow_call
        answer: asyncio.Future[T | Lost] = loop.create_future()
        tasks: list[asyncio.Task[None]] = []
        is_lost = scene.happens(scene.chances.lost_call)

        def hear(given: T | Lost) -> None:
            if not answer.done():
                answer.set_result(given)

        async def carry_out() -> None:
            given = await work()
            if not is_lost:
                loop.later(scene.clients, scene.delay(most), hear, given)

        def give_up() -> None:
            if not answer.done():
                answer.set_result(LOST)
                for task in tasks:  # the server cancels the call of a client that hangs up
                    loop.later(process, scene.delay(most), task.cancel)

        def broken() -> None:
            loop.later(scene.clients, scene.luck.random() * _BROKEN, hear, LOST)

        process = self.process
        loop.later(process, scene.delay(most), lambda: tasks.append(loop.start(process, carry_out())))
        loop.later(scene.clients, _PATIENCE, give_up)
        if process.is_dead:
            broken()
        self._callers[broken] = None
        given = await answer
        self._callers.pop(broken, None)
        scene.trace.note(f"{self.name} {what}: {brief(given)}")
        return given

    async def create(self, opening: RoomOpened, key: CommandKey) -> RoomId | Refused:
        """Create a room."""
        room = await self.rooms.create(opening, key)
        if not isinstance(room, Room):
            return room
        if self._scene.ledger.openings.get(room.id) != opening or not self._scene.ledger.head(room.id):
            self._scene.trace.fail("a room is created that is not in the store")
        return room.id

    async def carry_out(self, room_id: RoomId, asked: Asked) -> Answer:
        """Carry out a command without a stream. It is carried out to its end, even if the caller hangs up."""
        question = Question(self._scene, room_id, asked)
        room = await self.rooms.find(room_id)
        if not isinstance(room, Room):
            self._scene.trace.fail(f"a room that is stored is not found: {room}")
            return room
        return await asyncio.shield(asyncio.create_task(self._answered(room, asked, question)))

    async def _answered(self, room: Room, asked: Asked, question: Question) -> Answer:
        answer = await room.carry_out(asked)
        question.answered(answer)
        return answer

    async def look(self, room_id: RoomId, seat: Seat) -> None:
        """`GetView`: it is never older than the store was when it was asked for."""
        seen = self._scene.ledger.head(room_id)
        room = await self.rooms.find(room_id)
        if isinstance(room, Room):
            begins(self._scene, room.audience.beginning(seat, 0), seat, seen, 0)

    # Streams

    async def attach(self, room_id: RoomId, seat: Seat, ear: Ear, last_version: int | None) -> Stream | Refused:
        """Attach a listener."""
        seen = self._scene.ledger.head(room_id)
        room = await self.rooms.find(room_id)
        if not isinstance(room, Room):
            self._scene.trace.fail(f"a room that is stored is not found: {room}")
            return room
        ear.expects(seen, last_version)
        return Stream(self, room, room.attach(seat, ear, last_version), ear)

    async def watch(self, place: Place, page: int, tell: Callable[[tuple[Happened, ...]], None]) -> None:
        """Tell the public events from a place on, until the store fails."""
        node = self._node
        watching = feed(
            node.store, node.wakeup, PLATFORM_NAME, place, Bell(), lambda: False, node.monotonic, free, page
        )
        async with aclosing(watching):
            async for happened in watching:
                if not isinstance(happened, tuple):
                    return
                tell(happened)


@final
class Stream:
    """The stream of a seat, on the side of its node."""

    def __init__(self, node: SimulatedNode, room: Room, attachment: Attachment, ear: Ear) -> None:
        self.node = node
        self.process = node.process
        self._room = room
        self._attachment = attachment
        self._ear = ear

    async def command(self, scene: Scene, asked: Asked) -> Answer | Lost:
        """What a command on the stream is answered. Nothing is carried out on a stream that has ended."""
        if self._ear.is_ended:
            return LOST
        self._room.audience.hear(self._attachment)
        question = Question(scene, self._room.id, asked)
        return await asyncio.shield(asyncio.create_task(self._answered(asked, question)))

    async def _answered(self, asked: Asked, question: Question) -> Answer:
        answer = await self._room.carry_out(asked)
        question.answered(answer)
        return answer

    def detach(self) -> None:
        """The node notices that the client is gone."""
        self._ear.is_ended = True
        self._room.detach(self._attachment)


def brief(given: object) -> str:
    """What was answered, as the trace says it."""
    text = type(given).__name__
    first, last, repeated = (getattr(given, name, None) for name in ("first", "last", "repeated"))
    return text if first is None else f"{text} {first}-{last} {repeated}"
