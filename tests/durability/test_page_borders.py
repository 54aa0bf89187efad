"""Lists by pages of two, with rooms between that are filtered out or damaged: each of the others is there, once, in order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from erqiwang_grpc.archive import feed as watching
from erqiwang_grpc.archive.feed import Happened, Place
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.client import Platform
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.clocks import SystemMonotonic
from erqiwang_grpc.commands.export import every_room
from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import NOTHING, START, Damaged, Entry, RoomId, Unavailable, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.wakeup import Bell, ProcessWakeup
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb
from tests.durability.played import Clock, free, node_on, opened, seated
from tests.service.tables import PLAYERS, ROOMY, Service, served
from tests.store.contract import head
from tests.store.passing_on import PassingOn

Listing: TypeAlias = Callable[[Service, int], Awaitable[list[str]]]
STATES = "do do x do xx d oo d x".replace(" ", "")
"""Rooms from the first opened to the last: `d` disbanded, `o` open, `x` damaged."""


class PartlyDamaged(PassingOn):
    """A store in which some rooms cannot be believed, while every list names them."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.damaged: set[RoomId] = set()

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        return Damaged(room, Version(1), "torn") if room in self.damaged else await super().read(room, after)


@dataclass(frozen=True)
class Many:
    """A server with rooms in every state, between those of another platform."""

    service: Service
    rooms: tuple[str, ...]

    def in_state(self, *states: str) -> list[str]:
        """Of those states, the newest first."""
        return [room for room, state in zip(self.rooms, STATES, strict=True) if state in states][::-1]


@pytest.fixture
async def many(tmp_path: Path) -> AsyncIterator[Many]:
    store = PartlyDamaged()
    async with served(tmp_path, store=store, limits=ROOMY) as service:
        rival = Platform([service.address], service.tenant("rival"))
        rooms: list[str] = []
        for number, state in enumerate(STATES):
            room = await service.platform.create_room("alice", command_id=f"{number}")
            rooms.append(room.room_id)
            await rival.create_room("mallory", command_id=f"{number}")
            if state in "dx":
                for player in PLAYERS[:3]:
                    await service.platform.take_seat(room.room_id, player)
                await service.platform.disband_room(room.room_id)
            if state == "x":
                store.damaged.add(RoomId(room.room_id))
        service.kept.forget([RoomId(room) for room in rooms])  # so that each list reads what is stored
        yield Many(service, tuple(rooms))


async def listed(service: Service, page: int, state: room_pb2.RoomState.ValueType) -> list[str]:
    found: list[str] = []
    token = ""
    for _ in range(4 * len(STATES)):
        request = pb.ListRoomsRequest(page_size=page, page_token=token, state=state)
        answer = await service.rooms.ListRooms(request, metadata=bearer(service.key))
        assert len(answer.rooms) <= page
        found += [room.room_id for room in answer.rooms]
        token = answer.next_page_token
        if not token:
            return found
    raise AssertionError("a list that does not end")


@pytest.mark.parametrize("page", [1, 2, 3, 4, 200])
async def test_rooms_by_state(many: Many, page: int) -> None:
    disbanded, waiting, every = (
        room_pb2.ROOM_STATE_DISBANDED,
        room_pb2.ROOM_STATE_OPEN,
        room_pb2.ROOM_STATE_UNSPECIFIED,
    )
    assert await listed(many.service, page, disbanded) == many.in_state("d", "x")
    assert await listed(many.service, page, waiting) == many.in_state("o")
    assert await listed(many.service, page, every) == many.in_state("d", "o", "x")
    assert await listed(many.service, page, room_pb2.ROOM_STATE_FINISHED) == []


@pytest.mark.parametrize("page", [1, 2, 3, 200])
async def test_matches_that_have_ended(many: Many, page: int) -> None:
    found: list[str] = []
    token = ""
    for _ in range(len(STATES)):
        request = pb.ListMatchRecordsRequest(page_size=page, page_token=token)
        answer = await many.service.rooms.ListMatchRecords(request, metadata=bearer(many.service.key))
        found += [match.room_id for match in answer.matches]
        token = answer.next_page_token
        if not token:
            break
    assert found == many.in_state("d", "x")


TOLD_OF_A_MATCH: Final = 6
"""It is created, three seats are taken, a deal starts, the match ends."""


@pytest.mark.parametrize("page", [1, 2, 3, 100])
async def test_what_a_watcher_is_told(many: Many, page: int) -> None:
    looks = iter([False] * 800)
    events = many.service.store
    feed = watching.feed(
        events,
        ProcessWakeup(),
        PlatformId("local"),
        Place(START, 0),
        Bell(),
        lambda: next(looks, True),
        SystemMonotonic(),
        free,
        page,
    )
    told: list[Happened] = []
    wanted = {room: TOLD_OF_A_MATCH if state in "dx" else 1 for room, state in zip(many.rooms, STATES, strict=True)}
    async with asyncio.timeout(60):
        while len(told) < sum(wanted.values()):
            happened = await anext(feed)
            assert isinstance(happened, tuple)
            told += happened
    await feed.aclose()
    assert {room: sum(each.entry.room == room for each in told) for room in wanted} == wanted
    opened_in_order = [each.entry.room for each in told if isinstance(each.event, RoomOpened)]
    assert opened_in_order == list(wanted)


@pytest.mark.parametrize("page", [1, 2, 3, 7, 200])
async def test_every_room_for_an_export(page: int) -> None:
    store = MemoryStore()
    rooms = Rooms(node_on(store))
    made = [(await opened(rooms, f"{number}")).id for number in range(7)]
    assert [room async for room in every_room(store, [], page)] == sorted(made)
    assert [room async for room in every_room(store, ["named"], page)] == ["named"]


@pytest.mark.parametrize("page", [1, 2, 3, 500])
async def test_every_room_that_a_stopped_server_left_open_expires(page: int) -> None:
    store, clock = MemoryStore(), Clock()
    before = Rooms(node_on(store, clock=clock))
    unfilled = []
    for number in range(7):
        unfilled.append(await opened(before, f"unfilled {number}"))
        await seated(before, f"begun {number}")
    clock.forward(60 * MINUTE)
    rooms = Rooms(node_on(store, clock=clock))
    housekeeping = Housekeeping(rooms)
    await housekeeping.watch_stored(page)
    await housekeeping.expire()
    assert {room.id for room in rooms.live} == {room.id for room in unfilled}, "those alone were opened"
    for room in unfilled:
        assert await head(store, room.id) == 2
