"""With the fallback poll switched off, a wakeup alone brings watchers what happens: by a clock that never moves, no poll comes."""

import asyncio
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client.calls import bearer, refusal_of
from erqiwang_grpc.v1 import room_service_pb2 as pb
from tests.service.clocks import HandMonotonic
from tests.service.tables import PATIENCE, eventually, served


async def test_a_watcher_hears_at_once_of_what_happens_and_of_a_drain(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        watching = service.rooms.WatchRooms(pb.WatchRoomsRequest(), metadata=bearer(service.key))
        await eventually(lambda: clock.is_waited_for(5.0))
        room = await service.platform.create_room("alice")
        response = await asyncio.wait_for(watching.read(), PATIENCE)
        assert isinstance(response, pb.WatchRoomsResponse)
        assert [event.room_id for event in response.events] == [room.room_id]
        await eventually(lambda: clock.is_waited_for(5.0))
        await service.platform.take_seat(room.room_id, "alice")
        response = await asyncio.wait_for(watching.read(), PATIENCE)
        assert isinstance(response, pb.WatchRoomsResponse)
        assert [event.seat_taken.player for event in response.events] == ["alice"]
        await eventually(lambda: clock.is_waited_for(5.0))
        stopping = asyncio.create_task(service.server.stop(grace=60))
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await asyncio.wait_for(watching.read(), PATIENCE)
        assert refusal_of(ended.value).reason == "DRAINING"
        await asyncio.wait_for(stopping, PATIENCE)
