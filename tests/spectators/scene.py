"""A room that is played, with clocks moved by hand, and spectators that are attached to it without a server."""

import asyncio
from dataclasses import replace
from typing import Final, final

from erqiwang_grpc.auth.tokens import Lateness
from erqiwang_grpc.events.history import RoomHistory, read
from erqiwang_grpc.events.standing import Standing, Step, opened as begun, steps
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.spectators.broadcasts import Broadcasts
from erqiwang_grpc.store import Appended, Batch, Listed, RoomId, Store, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from tests.durability.played import node_on
from tests.service.clocks import HandMonotonic
from tests.spectators.ears import Ear, listening

SECOND: Final = 1_000_000_000


@final
class Wall:
    """A wall clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1_700_000_000 * SECOND

    def __call__(self) -> TimeNs:
        return TimeNs(self.at)


@final
class Scene:
    """A room that is played, with clocks moved by hand, and its spectators."""

    def __init__(self) -> None:
        self.wall, self.clock = Wall(), HandMonotonic()
        self.store = MemoryStore()
        self.node = replace(node_on(self.store, monotonic=self.clock), now=self.wall)
        self.rooms, self.broadcasts = Rooms(self.node), Broadcasts(self.node)
        self.ears: list[tuple[Ear, Lateness]] = []

    async def forward(self, nanoseconds: int) -> None:
        """Let time pass, a little at a time, so that who waits for a moment has its turn at that moment."""
        self.wall.at += nanoseconds
        self.clock.forward(nanoseconds / SECOND)
        await self.settle()

    async def settle(self) -> None:
        """Let every task go on as far as it can."""
        for _ in range(25):
            await asyncio.sleep(0)

    async def watch(self, room: Room, lateness: Lateness, last_version: int | None = None) -> Ear:
        ear, _, _ = await listening(self.broadcasts, room.id, lateness, self.wall, last_version)
        self.ears.append((ear, lateness))
        return ear

    async def history(self, room: Room) -> RoomHistory:
        entries = await self.store.read(room.id)
        assert isinstance(entries, tuple)
        history = read(entries)
        assert isinstance(history, RoomHistory)
        return history

    async def standings(self, room: Room) -> list[Standing]:
        """Where the room stood at each version, from version 1 on."""
        history = await self.history(room)
        found = [begun(history.opened, history.opening.time)]
        for step in steps(history):
            assert isinstance(step, Step)
            found.append(step.after)
        return found


async def store_nonsense(store: Store, room: RoomId, at: TimeNs) -> None:
    """Store an event that nobody can read, as a bug might, without the knowledge of the room."""
    entries, listed = await store.read(room), await store.summary(room)
    assert isinstance(entries, tuple)
    assert isinstance(listed, Listed)
    last = entries[-1]
    batch = Batch(at, last.actor, None, last.rules_version, (b"\xff",), listed.summary)
    assert isinstance(await store.append(room, last.version, batch), Appended)
