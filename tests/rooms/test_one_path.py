"""Events reach everyone the same way, on one node or on several: every listener is told every version once, in order."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import pytest
from erqiwang_core.match import Over
from erqiwang_core.notices import fold
from erqiwang_core.options import FourPlayer, RoomOptions
from erqiwang_core.units import Seat
from erqiwang_core.view import view

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.refusals import OutcomeUnknown, StoreUnavailable
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.store import AppendAnswer, Batch, CommandId, CommandKey, Conflict, Duplicate, Entry, RoomId, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.wakeup import ProcessWakeup
from tests.durability.played import Clock, Ear, act, next_command, node_on, seated
from tests.store.passing_on import PassingOn


class LossyWakeup:
    """A wakeup that loses hints by chance."""

    def __init__(self, below: ProcessWakeup, luck: Random, lost: float) -> None:
        self._below = below
        self._luck = luck
        self._lost = lost
        self.losses = 0

    def hint(self, room: RoomId, version: Version) -> None:
        if self._luck.random() < self._lost:
            self.losses += 1
        else:
            self._below.hint(room, version)

    @contextmanager
    def listen(self, hear: Callable[[RoomId, Version], None]) -> Iterator[None]:
        with self._below.listen(hear):
            yield


class Overtaken(PassingOn):
    """A store in which another node always comes first."""

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:  # noqa: ARG002
        return Conflict(expected)


async def test_a_command_that_is_overtaken_again_and_again_is_given_up_and_its_room_goes_on() -> None:
    store = MemoryStore(shared=True)
    room = await seated(Rooms(node_on(store)))
    behind = Room(room.id, room.state, node_on(Overtaken(store)))
    seat, command = next_command(behind.match, Random(1))
    assert await act(behind, seat, command) == StoreUnavailable()
    assert behind.fault is None


class FailingOver(PassingOn):
    """A store that shows the next append once, as if stored before, and has lost it when it is read."""

    is_lost = True

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        if self.is_lost and batch.command is not None:
            self.is_lost = False
            return Duplicate(Version(expected + 1), Version(expected + 1), batch.command.fingerprint)
        return await super().append(room, expected, batch)


async def test_a_repeated_command_that_a_failover_has_lost_is_carried_out() -> None:
    store = MemoryStore(shared=True)
    room = await seated(Rooms(node_on(store)))
    there = Room(room.id, room.state, node_on(FailingOver(store)))
    seat, command = next_command(there.match, Random(1))
    before = there.version
    answer = await act(there, seat, command, CommandId("again"))
    assert isinstance(answer, Accepted)
    assert (answer.first, answer.repeated) == (before + 1, False)
    assert len(await stored_in(store, room.id)) == there.version == answer.last


async def stored_in(store: MemoryStore, room: RoomId) -> tuple[Entry, ...]:
    entries = await store.read(room)
    assert isinstance(entries, tuple)
    return entries


async def test_a_room_whose_opening_a_failover_has_lost_is_not_said_to_be_there_or_not() -> None:
    rooms = Rooms(node_on(FailingOver(MemoryStore(shared=True))))
    opening = RoomOpened(PlatformId("local"), "alice", RoomOptions())
    key = CommandKey(CommandId("open"), b"print")
    assert await rooms.create(opening, key) == OutcomeUnknown()
    assert isinstance(await rooms.create(opening, key), Room)


async def all_at(rooms: list[Room], version: Version) -> None:
    """Let the nodes follow until all are at a version; a wakeup that was lost keeps one of them behind."""
    for _ in range(1_000):
        if all(room.version == version for room in rooms):
            return
        await asyncio.sleep(0)
    raise AssertionError(f"some node has not heard of version {version}")


@pytest.mark.parametrize("options", [RoomOptions(), RoomOptions(FourPlayer(), review=False)], ids=["three", "four"])
@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize("lost", [0.0, 0.5, 1.0])
async def test_a_match_whose_seats_are_spread_over_nodes(nodes: int, lost: float, options: RoomOptions) -> None:
    store, clock = MemoryStore(shared=True), Clock()
    wakeup = LossyWakeup(ProcessWakeup(), Random(4), lost)
    registries = [
        Rooms(Node(store, wakeup, clock, node_on(store).shuffle, node_on(store).limits)) for _ in range(nodes)
    ]
    first = await seated(registries[0], options=options)
    rooms: list[Room] = []
    for registry in registries:
        found = await registry.find(first.id)
        assert isinstance(found, Room)
        rooms.append(found)
    seats = first.match.chairs.seats()
    ears = [Ear() for _ in seats]
    for seat, ear in zip(seats, ears, strict=True):
        room = rooms[seat % nodes]
        room.attach(seat, ear, None)
    begun = first.version
    luck = Random(8)
    while True:
        head = max(rooms, key=lambda room: room.version)
        if isinstance(head.match, Over):
            break
        seat, command = next_command(head.match, luck)
        answer = await act(rooms[seat % nodes], seat, command, f"{head.version}")
        assert isinstance(answer, Accepted), "a node decides at the head, though nobody woke it"
        if lost == 0:
            await all_at(rooms, answer.last)
        elif luck.random() < 0.1:
            for registry in registries:
                registry.poll()
            await all_at(rooms, answer.last)
    for registry in registries:
        registry.poll()
    await all_at(rooms, head.version)
    for seat, ear in zip(seats, ears, strict=True):
        assert [told.version for told in ear.told] == list(range(begun + 1, head.version + 1))
        seen = ear.begun[0].view
        for told in ear.told:
            seen = fold(seen, told.notice(seat))
        assert seen == view(head.match, seat), "folding what one was told gives the view"
        assert len(ear.begun) == 1, "nobody was resynced"
    assert (wakeup.losses > 0) == (lost > 0)
    for registry in registries:
        registry.close()


async def test_a_command_repeated_on_another_node_is_recognised_there() -> None:
    store = MemoryStore(shared=True)
    deaf = LossyWakeup(ProcessWakeup(), Random(1), lost=1)
    one, two = (Rooms(Node(store, deaf, Clock(), node_on(store).shuffle, node_on(store).limits)) for _ in range(2))
    here = await seated(one)
    there = await two.find(here.id)
    assert isinstance(there, Room)
    seat, command = next_command(here.match, Random(2))
    first = await act(here, seat, command, "once")
    again = await act(there, seat, command, "once")
    assert isinstance(first, Accepted)
    assert again == Accepted(first.first, first.last, repeated=True)


async def test_a_listener_that_attaches_on_a_node_that_was_behind_sees_the_head() -> None:
    store = MemoryStore(shared=True)
    deaf = LossyWakeup(ProcessWakeup(), Random(1), lost=1)
    one, two = (Rooms(Node(store, deaf, Clock(), node_on(store).shuffle, node_on(store).limits)) for _ in range(2))
    here = await seated(one)
    assert isinstance(await two.find(here.id), Room)
    seat, command = next_command(here.match, Random(2))
    assert isinstance(await act(here, seat, command), Accepted)
    there = await two.find(here.id)
    assert isinstance(there, Room)
    ear = Ear()
    there.attach(Seat(0), ear, None)
    assert ear.begun[0].version == here.version
