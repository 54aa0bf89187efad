"""One run: nodes on one store, tables that are played on them, and what goes wrong. Then calm, in which everything must agree."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.archive.audit import mismatch
from erqiwang_grpc.events.index import of_platform
from erqiwang_grpc.events.standing import RoomState
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rooms.state import replay
from erqiwang_grpc.store import Listed, Moment, Page, Period, Search, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from tests.simulation.database import at_once
from tests.simulation.hints import Hints
from tests.simulation.node import PLATFORM_NAME, SimulatedNode
from tests.simulation.scene import Scene
from tests.simulation.side import Side
from tests.simulation.table import Kind, Table
from tests.simulation.trace import Trace
from tests.simulation.watcher import Watcher

_TROUBLE_SECONDS: Final = 120.0
_HEALING_SECONDS: Final = 1_500.0
_SETTLING_SECONDS: Final = 24.0
"""After half of this everybody has attached that lost its stream, and has heard of everything: two slow polls."""
_FORGETTING_SECONDS: Final = 64.0
"""After this, every roster that was lost has been repeated, or is forgotten."""
_MOST_STEPS: Final = 400_000
_EVER: Final = Period(TimeNs(0), TimeNs(1 << 62))


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one seed."""

    seed: int
    trace: Trace
    versions: int
    """The events that were stored."""
    ended: int
    """The matches that came to an end."""
    steps: int


def run(seed: int) -> Outcome:
    """Play one seed."""
    scene = Scene(seed)
    world = World(scene)
    with diary(scene.trace), uncollected():
        scene.loop.begin(world.director, world.direct())
        if scene.trace.fault is None:
            scene.loop.run_forever()
        scene.loop.end()
    logs = scene.ledger.logs.values()
    return Outcome(
        seed,
        scene.trace,
        sum(log.head for log in logs),
        sum(log.at(log.head).ended is not None for log in logs),
        scene.loop.steps,
    )


@final
class World:
    """The nodes, the tables and the director of one run."""

    def __init__(self, scene: Scene) -> None:
        self.director = scene.loop.process("director")
        self._scene = scene
        self._store = MemoryStore(shared=True)
        hints, side = Hints(scene), Side(scene)
        self._nodes = [SimulatedNode(scene, f"node{at}", self._store, hints, side) for at in range(scene.chances.nodes)]
        self._tables = [Table(scene, self._nodes, f"table {at}") for at in range(scene.chances.tables)]
        self._watcher = Watcher(scene, self._nodes) if scene.chances.is_watched else None

    async def direct(self) -> None:
        """Let the tables play, first with faults and then without, and compare everything."""
        scene, loop = self._scene, self._scene.loop
        scene.trace.note(str(scene.chances))
        tables = [loop.start(scene.clients, table.run()) for table in self._tables]
        if self._watcher is not None:
            loop.begin(scene.clients, self._watcher.run())
        loop.begin(self.director, self._trouble())
        await asyncio.wait(tables, timeout=_TROUBLE_SECONDS)
        self._calm()
        _, unfinished = await asyncio.wait(tables, timeout=_HEALING_SECONDS)
        if unfinished:
            scene.trace.fail("a table comes to a standstill, though nothing fails any more")
            return
        for _ in range(2):  # one that has lost its stream may not know it yet
            for table in self._tables:
                await loop.start(scene.clients, table.settle())
            await asyncio.sleep(_SETTLING_SECONDS / 2)
        self._heard()
        await asyncio.sleep(_FORGETTING_SECONDS)
        self._present()
        await self._agree()
        self._stored()
        loop.stop()

    # Trouble

    async def _trouble(self) -> None:
        scene, chances = self._scene, self._scene.chances
        while not scene.is_calm:
            await asyncio.sleep(2.0 * scene.luck.random())
            if scene.happens(0.2):
                scene.keepers = frozenset(node.name for node in self._nodes if scene.happens(0.5))
            for node in self._nodes:
                if not node.is_up:
                    if scene.happens(0.5):
                        node.begin()
                elif scene.happens(chances.crash):
                    # It dies between two of its next callbacks.
                    node.process.fuse = scene.luck.randint(1, scene.luck.choice((5, 60)))
                if node.process.is_stopped:
                    node.process.is_stopped = not scene.happens(0.3)
                elif scene.happens(chances.stop):
                    scene.trace.note(f"{node.name} stops")
                    node.process.is_stopped = True
                if scene.happens(0.1):
                    node.skew = chances.skew * (scene.luck.random() - 0.5)
            if scene.loop.steps > _MOST_STEPS:
                scene.trace.fail("it never ends")

    def _calm(self) -> None:
        """Nothing fails from here on, and every node is up."""
        self._scene.trace.note("calm")
        self._scene.is_calm = True
        self._scene.keepers = frozenset({self._scene.luck.choice(self._nodes).name})
        for node in self._nodes:
            node.process.fuse = None
            node.process.is_stopped = False
            if not node.is_up:
                node.begin()

    # What must hold in the end

    def _heard(self) -> None:
        """Who is attached has heard everything, and every node that has an audience is up to date."""
        scene = self._scene
        for table in self._tables:
            if table.kind is Kind.UNFILLED:
                log = scene.ledger.logs[table.room]
                if log.at(log.head).state is not RoomState.EXPIRED:
                    scene.trace.fail("a room that nobody fills does not expire")
            if not all(client.is_at_head() for client in table.clients):
                heard = [client.version for client in table.clients]
                scene.trace.fail(f"seats have heard {heard} of {scene.ledger.head(table.room)}, after two polls")
        for node in self._nodes:
            for room in node.rooms.live:
                if room.audience and room.version != scene.ledger.head(room.id):
                    scene.trace.fail(
                        f"{node.name} is at {room.version} of {scene.ledger.head(room.id)}, after two polls"
                    )
        if self._watcher is not None and self._watcher.heard != scene.ledger.public:
            scene.trace.fail(
                f"the feed has told {len(self._watcher.heard)} of {len(scene.ledger.public)} public events"
            )

    def _present(self) -> None:
        """No seat has two streams, and every node that has an audience knows which seats are there."""
        for table in self._tables:
            rooms = {node.name: node.rooms.in_memory(table.room) for node in self._nodes}
            attached = [each for room in rooms.values() if room is not None for each in room.audience]
            seats = sorted(each.seat for each in attached)
            if len(set(seats)) < len(seats):
                self._scene.trace.fail(f"the seats {seats} have streams: an older one was not displaced")
            there = {each.seat for each in attached if each.present}
            for name, room in rooms.items():
                if room is None:
                    continue
                shown = {seat for seat, present in enumerate(room.audience.presence().present) if present}
                if shown != there:
                    self._scene.trace.fail(f"{name} takes {shown} to be present, and {there} are")

    async def _agree(self) -> None:
        """Every node that is asked for a room has it as the store makes it, to the last field."""
        for table in self._tables:
            stored = replay(at_once(self._store.read(table.room)))
            for node in self._nodes:
                found = await self._scene.loop.start(node.process, node.rooms.find(table.room))
                if not isinstance(found, Room) or found.state != stored:
                    self._scene.trace.fail(f"{node.name} has another room {table.room} than the store")

    def _stored(self) -> None:
        """The store holds what was acknowledged and nothing that was refused; lists and decisions agree with it."""
        scene, fail = self._scene, self._scene.trace.fail
        page = at_once(self._store.summaries(Search((of_platform(PLATFORM_NAME),), Moment.CREATED, _EVER), 100))
        listed = {each.room: each for each in page.rooms} if isinstance(page, Page) else {}
        if set(listed) != set(scene.ledger.logs):
            fail("the list of rooms is not the rooms that are stored")
        for room, log in scene.ledger.logs.items():
            entries = at_once(self._store.read(room))
            if [entry.version for entry in entries] != list(range(1, log.head + 1)):
                fail(f"room {room} holds other versions than were stored")
            wrong = mismatch(entries)
            if wrong is not None:
                fail(f"the core decides room {room} differently: {wrong}")
            if listed.get(room) != Listed(room, log.head, SummaryWriter().write(log.at(log.head))):
                fail(f"room {room} is listed otherwise than its events say")
        for (room, actor, key), sent in scene.ledger.sent.items():
            brought = scene.ledger.brought.get((room, actor, key.id))
            if sent.begun == sent.refused and brought is not None and brought.key == key:
                fail(f"command {key.id} was refused each time, and is stored as {brought}")


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage: that would close what a crashed node has left, at a moment that no seed decides."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@final
class _Diary(logging.Handler):
    """Takes down what nodes log of exceptions: nothing in a run may raise one."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(logging.ERROR)
        self._trace = trace

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self._trace.fail(f"{record.getMessage()}: {record.exc_info[1]!r}")


@contextmanager
def diary(trace: Trace) -> Iterator[None]:
    """Take down what the nodes log, instead of printing it."""
    log = logging.getLogger("erqiwang_grpc")
    handler, propagates, level = _Diary(trace), log.propagate, log.level
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = propagates
        log.setLevel(level)
