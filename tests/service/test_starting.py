"""`StartMatch`: a room that was created so waits for its platform, and then plays like any other."""

from pathlib import Path
from time import time_ns

import pytest

from erqiwang_grpc.client import CallRefused, Platform
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import room_pb2, view_pb2
from tests.service.tables import (
    PLAYERS,
    ROOMY,
    Service,
    Table,
    attached,
    eventually,
    in_phase,
    play_all,
    served,
    witnesses,
)

LATER = room_pb2.RoomOptions(start=room_pb2.START_PLATFORM)
FOUR_LATER = room_pb2.RoomOptions(start=room_pb2.START_PLATFORM, four_player=room_pb2.FourPlayerGame())


async def full(platform: Platform, options: room_pb2.RoomOptions = LATER) -> Table:
    """A room whose seats are all taken and whose match has not begun."""
    room = (await platform.create_room("alice", options)).room
    taken = [await platform.take_seat(room.room_id, player) for player in PLAYERS[: len(room.seats)]]
    assert {seat.room.state for seat in taken} == {room_pb2.ROOM_STATE_OPEN}
    return Table(room.room_id, tuple(seat.token for seat in taken))


async def refused(service: Service, room_id: str, command_id: str | None = None) -> CallRefused:
    with pytest.raises(CallRefused) as error:
        await service.platform.start_match(room_id, command_id)
    return error.value


@pytest.mark.parametrize("options", [LATER, FOUR_LATER], ids=["three", "four"])
async def test_a_started_match_is_told_to_every_seat_and_plays_on_advice(
    service: Service, options: room_pb2.RoomOptions
) -> None:
    table = await full(service.platform, options)
    waiting = await service.platform.room(table.room_id)
    assert (waiting.phase, waiting.options.start) == (view_pb2.PHASE_OPEN, room_pb2.START_PLATFORM)
    assert waiting.HasField("expire_time")
    assert not waiting.HasField("start_time")
    ears = await witnesses(service, table)
    assert all(ear.view.options.start == room_pb2.START_PLATFORM for ear in ears), "seats are told what is waited for"
    started = await service.platform.start_match(table.room_id)
    assert (started.state, started.version) == (room_pb2.ROOM_STATE_PLAYING, waiting.version + 1)
    assert started.HasField("start_time")
    assert not started.HasField("expire_time")
    for ear in ears:
        await ear.hear_of(started.version)
        assert [notice.WhichOneof("cause") for notice in ear.notices] == ["deal_started"]
        assert ear.view.parts.hand.cards
    async with attached(service, table) as seats:
        await play_all(seats, until=in_phase(view_pb2.PHASE_BIDDING, deal=2))
    assert (await service.platform.room(table.room_id)).deal == 2, "every seat was ready after the first"


async def test_a_room_with_a_free_seat_is_not_started(service: Service) -> None:
    room = await service.platform.create_room("alice", LATER)
    for player in PLAYERS[:2]:
        await service.platform.take_seat(room.room_id, player)
    early = await refused(service, room.room_id)
    assert early.refusal is not None
    assert (early.reason, early.refusal.seat_free.seat) == ("SEAT_FREE", 2)
    await service.platform.take_seat(room.room_id, "carol")
    await service.platform.leave_seat(room.room_id, 0)
    assert (await refused(service, room.room_id)).reason == "SEAT_FREE", "who waits may leave"
    await service.platform.take_seat(room.room_id, "dora")
    assert (await service.platform.start_match(room.room_id)).deal == 1


async def test_the_same_command_starts_it_once(service: Service) -> None:
    table = await full(service.platform)
    first = await service.platform.start_match(table.room_id, "go")
    assert await service.platform.start_match(table.room_id, "go") == first, "sent again, it is answered as before"
    late = await refused(service, table.room_id, "go on")
    assert late.refusal is not None
    assert (late.reason, late.refusal.wrong_phase.phase) == ("WRONG_PHASE", view_pb2.PHASE_BIDDING)
    await service.platform.disband_room(table.room_id)
    late = await refused(service, table.room_id)
    assert late.refusal is not None
    assert (late.reason, late.refusal.wrong_phase.phase) == ("WRONG_PHASE", view_pb2.PHASE_OVER)


async def test_a_room_that_starts_by_itself_takes_no_start(service: Service) -> None:
    room = await service.platform.create_room("alice", roomtype="00000")
    assert room.room.options.start == room_pb2.START_LAST_SEAT
    assert (await refused(service, room.room_id)).reason == "NOT_IN_THIS_ROOM"


async def test_another_platforms_room_is_not_there_to_be_started(service: Service) -> None:
    table = await full(service.platform)
    rival = Platform([service.address], service.tenant("rival"))
    with pytest.raises(CallRefused) as error:
        await rival.start_match(table.room_id)
    assert error.value.reason == "NO_SUCH_ROOM"
    assert (await service.platform.room(table.room_id)).state == room_pb2.ROOM_STATE_OPEN


async def test_a_full_room_that_nobody_starts_expires_also_after_a_restart(tmp_path: Path) -> None:
    clock = time_ns()
    log = MemoryStore()
    async with served(tmp_path, store=log, now=lambda: clock) as first:
        waiting = await full(first.platform)
        begun = await full(first.platform)
        await first.platform.start_match(begun.room_id)
    async with served(tmp_path, store=log, now=lambda: clock) as second:
        platform = second.platform
        assert (await platform.room(waiting.room_id)).state == room_pb2.ROOM_STATE_OPEN
        clock += ROOMY.fill_minutes * MINUTE
        await eventually(lambda: any(room.id == waiting.room_id and room.version == 5 for room in second.kept.live))
        assert (await platform.room(waiting.room_id)).state == room_pb2.ROOM_STATE_EXPIRED
        assert (await platform.room(begun.room_id)).state == room_pb2.ROOM_STATE_PLAYING
        assert [record.room_id async for record in platform.records()] == [], "no match was played in it"
