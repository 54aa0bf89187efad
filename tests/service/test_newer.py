"""A room that a newer version of the program has written: this version leaves it to others and does not call it damaged."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client import Platform
from erqiwang_grpc.client.calls import bearer, refusal_of
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import bidding_pb2, room_service_pb2 as rooms_pb, seat_service_pb2 as pb
from tests.service.newer import KINDS, Newer, write
from tests.service.tables import RawSeat, Service, Table, act, acting, seated, seen, served, step

LEFT = (grpc.StatusCode.UNAVAILABLE, "WRITTEN_BY_NEWER")


@pytest.fixture(params=list(KINDS.values()), ids=list(KINDS))
def newer(request: pytest.FixtureRequest) -> Newer:
    found = request.param
    assert isinstance(found, Newer)
    return found


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(served(tmp_path, store=MemoryStore(shared=True)))


async def refused(call: Awaitable[object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    told = refusal_of(error.value)
    return told.code, told.reason


async def is_left_alone(service: Service, table: Table, newer: Newer) -> None:
    """Every request for the room is answered: ask another node."""
    key = bearer(service.key)
    assert await refused(seen(service, table, 0)) == LEFT
    assert await refused(act(service, table, 0, pb.Command(pass_bid=bidding_pb2.PassBid()))) == LEFT
    assert await refused(service.rooms.GetRoom(rooms_pb.GetRoomRequest(room_id=table.room_id), metadata=key)) == LEFT
    disband = rooms_pb.DisbandRoomRequest(room_id=table.room_id, command_id="end")
    assert await refused(service.rooms.DisbandRoom(disband, metadata=key)) == LEFT
    if newer.actor is None:  # a record says of no event who brought it about
        record = rooms_pb.GetMatchRecordRequest(room_id=table.room_id)
        assert await refused(service.rooms.GetMatchRecord(record, metadata=key)) == LEFT
    stream = RawSeat(service, table.tokens[0])
    # Nothing is said: the call is ended before it is asked for anything, and a write that meets its end hides the status.
    assert await stream.rest() == []
    assert stream.refused is not None
    assert (stream.refused.code, stream.refused.reason) == LEFT


async def test_streams_of_the_room_end_and_are_sent_elsewhere(
    service: Service, newer: Newer, caplog: pytest.LogCaptureFixture
) -> None:
    table, other = await seated(service.platform), await seated(service.platform)
    stream, untouched = RawSeat(service, table.tokens[0]), RawSeat(service, other.tokens[0])
    await stream.attach()
    await untouched.attach()
    version = await write(service.store, RoomId(table.room_id), newer)
    service.kept.poll()
    assert all(not message.HasField("notice") for message in await stream.rest())
    assert stream.refused is not None
    assert (stream.refused.code, stream.refused.reason) == LEFT
    assert stream.refused.retry_delay is not None
    accepted = await step(service, other)
    assert (await untouched.hear("notice")).notice.version == accepted.first_version, "other rooms go on"
    said = [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert [record.message for record in said] == ["room left to a newer version"]
    assert said[0].__dict__["version"] == version - 1
    await is_left_alone(service, table, newer)
    service.kept.put_away()
    await is_left_alone(service, table, newer)
    assert {record.message for record in caplog.records if record.levelname == "ERROR"} == set()


async def test_a_room_that_was_not_in_memory_is_left_alone_too(
    service: Service, tmp_path: Path, newer: Newer, caplog: pytest.LogCaptureFixture
) -> None:
    table = await seated(service.platform)
    await write(service.store, RoomId(table.room_id), newer)
    async with served(tmp_path, store=service.store) as fresh:
        await is_left_alone(fresh, table, newer)
        assert len(await fresh.platform.rooms()) == 1, "lists tell of it what they understand"
    assert [record.message for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == [
        "room left to a newer version"
    ]


async def test_a_command_that_meets_it_at_the_store_is_answered_so(service: Service, newer: Newer) -> None:
    """The node has not heard of it: the store refuses the append, and the node reads why."""
    table = await seated(service.platform)
    turn = await acting(service, table)
    assert turn is not None
    await write(service.store, RoomId(table.room_id), newer)
    assert await refused(act(service, table, *turn, "one")) == LEFT


@pytest.mark.parametrize("kind", ["a later version of the rules", "a new kind of event", "a new field"])
async def test_a_watcher_is_sent_elsewhere_before_what_this_node_cannot_read(service: Service, kind: str) -> None:
    table = await seated(service.platform)
    platform: Platform = service.platform
    cursor = await platform.cursor_now()
    await write(service.store, RoomId(table.room_id), KINDS[kind])
    watching = service.rooms.WatchRooms(rooms_pb.WatchRoomsRequest(cursor=cursor), metadata=bearer(service.key))
    assert await refused(watching.read()) == LEFT
