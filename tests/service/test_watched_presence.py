"""Presence in `WatchRooms`: told where it was asked for, as it is by now, and of the platform's own rooms alone."""

import asyncio
from itertools import pairwise
from pathlib import Path

import grpc

from erqiwang_grpc.archive.retention import delete_old_matches
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.openings import Openings
from erqiwang_grpc.rpc.room_presence import RoomPresence
from erqiwang_grpc.store import RoomId, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.testing import attached
from erqiwang_grpc.v1 import room_service_pb2 as pb
from tests.service.clocks import HandMonotonic
from tests.service.tables import PATIENCE, RawSeat, Service, eventually, seated, served


class Watching:
    """A watch from now on, with the presence of each room as it was told last."""

    def __init__(self, service: Service, key: str, *, presence: bool = True) -> None:
        request = pb.WatchRoomsRequest(now=True, presence=presence)
        self.call: grpc.aio.UnaryStreamCall[pb.WatchRoomsRequest, pb.WatchRoomsResponse]
        self.call = service.rooms.WatchRooms(request, metadata=bearer(key))
        self.told: list[pb.RoomPresence] = []
        self.responses = 0

    async def hear(self) -> None:
        """Read one more response."""
        response = await asyncio.wait_for(self.call.read(), PATIENCE)
        assert isinstance(response, pb.WatchRoomsResponse)
        self.responses += 1
        self.told += response.presence

    async def until(self, room_id: str, *present: bool) -> None:
        """Read until the room was told last with this presence."""
        while self.of(room_id) != present:
            await self.hear()

    def of(self, room_id: str) -> tuple[bool, ...] | None:
        """The presence of the room that was told last."""
        return next((tuple(each.present) for each in reversed(self.told) if each.room_id == room_id), None)


async def test_who_comes_and_goes_is_told(service: Service) -> None:
    table = await seated(service.platform)
    watching = Watching(service, service.key)
    await watching.hear()
    first, second = (RawSeat(service, token) for token in table.tokens[:2])
    await first.attach()
    await watching.until(table.room_id, True, False, False)
    await second.attach()
    await watching.until(table.room_id, True, True, False)
    first.call.cancel()
    await watching.until(table.room_id, False, True, False)
    second.call.cancel()
    await watching.until(table.room_id, False, False, False)


async def test_a_watch_begins_with_the_rooms_in_which_somebody_is_present(service: Service) -> None:
    here, empty = [await seated(service.platform) for _ in range(2)]
    stream = RawSeat(service, here.tokens[1])
    await stream.attach()
    watching = Watching(service, service.key)
    await watching.until(here.room_id, False, True, False)
    assert watching.of(empty.room_id) is None


async def test_a_silent_seat_is_told_as_absent(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=Limits(), monotonic=clock) as service:
        table = await seated(service.platform)
        watching = Watching(service, service.key)
        await watching.hear()
        stream = RawSeat(service, table.tokens[2])
        await stream.attach()
        await watching.until(table.room_id, False, False, True)
        clock.forward(61)
        await watching.until(table.room_id, False, False, False)


async def test_it_is_told_only_if_it_was_asked_for(service: Service) -> None:
    table = await seated(service.platform)
    plain, watching = Watching(service, service.key, presence=False), Watching(service, service.key)
    async with attached(service, table):
        await watching.until(table.room_id, True, True, True)
    await service.platform.create_room("alice")
    await plain.hear()
    await plain.hear()
    assert plain.told == []


async def test_another_platform_hears_nothing(service: Service) -> None:
    table = await seated(service.platform)
    rival, watching = Watching(service, service.tenant("rival")), Watching(service, service.key)
    await rival.hear()
    async with attached(service, table):
        await watching.until(table.room_id, True, True, True)
    await watching.until(table.room_id, False, False, False)
    reading = asyncio.create_task(rival.hear())
    await asyncio.wait({reading}, timeout=0.5)
    assert not reading.done(), "not even an empty response"
    reading.cancel()


async def test_no_change_is_told_twice_and_quick_ones_may_be_told_as_one(service: Service) -> None:
    table = await seated(service.platform)
    watching = Watching(service, service.key)
    await watching.hear()
    for _ in range(10):
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        stream.call.cancel()
        await eventually(lambda: not service.room(table.room_id).audience)
    stream = RawSeat(service, table.tokens[1])
    await stream.attach()
    await watching.until(table.room_id, False, True, False)
    told = [tuple(each.present) for each in watching.told]
    assert all(earlier != later for earlier, later in pairwise(told))


async def test_it_is_no_event_and_moves_no_cursor(service: Service) -> None:
    table = await seated(service.platform)
    version = (await service.platform.room(table.room_id)).version
    before = await service.platform.cursor_now()
    watching = Watching(service, service.key)
    async with attached(service, table):
        await watching.until(table.room_id, True, True, True)
    assert (await service.platform.room(table.room_id)).version == version
    assert await service.platform.cursor_now() == before


async def test_the_rooms_of_others_are_not_looked_at_and_wake_nobody(service: Service) -> None:
    table = await seated(service.platform)
    openings, rang = Openings(service.kept, service.store), list[str]()
    async with attached(service, table):
        rival = RoomPresence(PlatformId("rival"), service.kept, openings, lambda: rang.append("rival"))
        own = RoomPresence(PlatformId("local"), service.kept, openings, lambda: rang.append("own"))
        for each in (rival, own):
            each.hear(RoomId(table.room_id))
        assert (rival.waits, own.waits) == (False, True)
        assert set(rang) == {"own"}
        assert await rival.news() == []
        assert [list(told.present) for told in await own.news()] == [[True, True, True]]


async def test_a_deleted_room_is_told_as_empty_and_forgotten(service: Service) -> None:
    table = await seated(service.platform)
    room = RoomId(table.room_id)
    own = RoomPresence(PlatformId("local"), service.kept, Openings(service.kept, service.store), lambda: None)
    async with attached(service, table):
        own.hear(room)
        assert [list(told.present) for told in await own.news()] == [[True, True, True]]
    await service.platform.disband_room(table.room_id)
    assert await delete_old_matches(service.store, TimeNs(2**62)) == (room,)
    service.kept.forget([room])
    own.hear(room)
    assert [list(told.present) for told in await own.news()] == [[False, False, False]]
    assert own._told == {}, "nothing is kept for it"  # what must not grow
    own.hear(room)
    assert await own.news() == []


async def test_a_platform_pays_for_what_is_read_of_its_own_rooms_once(tmp_path: Path) -> None:
    store = MemoryStore(shared=True)
    async with served(tmp_path, store=store) as ahead, served(tmp_path, store=store) as behind:
        room = RoomId((await seated(ahead.platform)).room_id)
        for platform, paid in (("local", [1, 0, 0]), ("rival", [0, 0, 0])):
            openings = Openings(behind.kept, behind.store)
            presence = RoomPresence(PlatformId(platform), behind.kept, openings, lambda: None)
            bills = []
            for _ in paid:
                presence.hear(room)
                assert await presence.news() == []
                bills.append(presence.bill())
            assert bills == paid
