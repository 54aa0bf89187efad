"""A shared store that cannot be reached for a while: nobody is told anything stale or wrong, and all goes on after it."""

from collections.abc import Awaitable
from pathlib import Path
from random import Random

import grpc
import pytest
from grpc_health.v1 import health_pb2

from erqiwang_grpc.client.calls import bearer, refusal_of
from erqiwang_grpc.rooms.refusals import OutcomeUnknown
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.store import NOTHING, Damaged, Entry, Listed, RoomId, Unavailable, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import room_service_pb2 as pb
from tests.durability.played import act, next_command, node_on, seated as seated_room
from tests.service.tables import Table, seated, served
from tests.service.test_places import status, watch
from tests.store.passing_on import PassingOn

AWAY = "the database does not answer"


class DistantStore(PassingOn):
    """A store that other nodes share, and that cannot be reached while it is told so."""

    def __init__(self) -> None:
        super().__init__(MemoryStore(shared=True))
        self.is_away = False

    @property
    def outage(self) -> str | None:
        return AWAY if self.is_away else None

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        return Unavailable(AWAY) if self.is_away else await super().read(room, after)

    async def first(self, room: RoomId) -> Entry | Damaged | Unavailable | None:
        return Unavailable(AWAY) if self.is_away else await super().first(room)

    async def summary(self, room: RoomId) -> Listed | Damaged | Unavailable | None:
        return Unavailable(AWAY) if self.is_away else await super().summary(room)


async def reason(call: Awaitable[object]) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return refusal_of(refused.value).reason


@pytest.mark.parametrize("in_memory", [True, False])
async def test_a_room_that_cannot_be_read_is_not_said_to_be_gone(tmp_path: Path, in_memory: bool) -> None:
    store = DistantStore()
    async with served(tmp_path, store=store) as service:
        table: Table = await seated(service.platform)
        if not in_memory:
            service.room(table.room_id).touched = float("-inf")
            assert service.kept.put_away() == 1
        store.is_away = True
        key = bearer(service.key)
        asked = pb.GetRoomRequest(room_id=table.room_id)
        assert await reason(service.rooms.GetRoom(asked, metadata=key)) == "STORE_UNAVAILABLE"
        record = pb.GetMatchRecordRequest(room_id=table.room_id)
        assert await reason(service.rooms.GetMatchRecord(record, metadata=key)) == "STORE_UNAVAILABLE"
        store.is_away = False
        assert (await service.rooms.GetRoom(asked, metadata=key)).room.room_id == table.room_id


async def test_health_says_that_the_store_is_away_until_it_is_back(tmp_path: Path) -> None:
    store = DistantStore()
    async with served(tmp_path, store=store) as service:
        watching = watch(service.channel)
        assert status(await watching.read()) == health_pb2.HealthCheckResponse.SERVING
        store.is_away = True
        assert status(await watching.read()) == health_pb2.HealthCheckResponse.NOT_SERVING
        store.is_away = False
        assert status(await watching.read()) == health_pb2.HealthCheckResponse.SERVING


async def test_a_repeated_command_is_not_said_to_be_undone_because_its_events_cannot_be_read() -> None:
    store = DistantStore()
    here = await seated_room(Rooms(node_on(store)))
    there = await Rooms(node_on(store)).find(here.id)
    assert isinstance(there, Room)
    seat, command = next_command(here.match, Random(2))
    await act(here, seat, command, "once")
    store.is_away = True
    assert await act(there, seat, command, "once") == OutcomeUnknown()
