"""`DisbandRoom`: who asked for it and why is told to every seat, to the platform, and kept."""

from collections.abc import AsyncIterator
from pathlib import Path
from time import time_ns
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client import CallRefused
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import (
    refusal_pb2,
    room_pb2,
    room_service_pb2 as pb,
    seat_service_pb2 as seat_pb,
    settlement_pb2,
)
from tests.service.tables import PATIENCE, ROOMY, Service, Table, seated, seen, served, witnesses

Refusal: Final = refusal_pb2.Refusal
LONGEST: Final = 200
ABSENT: Final = settlement_pb2.DISBAND_REASON_ABSENT
ASKED: Final = settlement_pb2.Disbanding(seat=1, reason=ABSENT, text="丙掉线 10 分钟, sorry 🀄")


async def disband(service: Service, table: Table, asked: settlement_pb2.Disbanding) -> pb.DisbandRoomResponse:
    seat = asked.seat if asked.HasField("seat") else None
    return await service.platform.disband_room(table.room_id, seat=seat, reason=asked.reason, text=asked.text)


async def match_settled(watching: AsyncIterator[pb.RoomEvent]) -> pb.MatchSettled:
    async for event in watching:
        if event.HasField("match_settled"):
            return event.match_settled
    raise AssertionError("a watch has no end")


async def test_everybody_is_told_who_asked_and_why_and_it_is_kept(tmp_path: Path) -> None:
    log = MemoryStore()
    async with served(tmp_path, store=log) as service:
        table = await seated(service.platform)
        ears = await witnesses(service, table)
        ended = await disband(service, table, ASKED)
        assert ended.account.disbanding == ASKED
        for ear in ears:
            await ear.hear_of(ended.room.version)
            assert ear.notices[-1].match_ended == settlement_pb2.MatchEnded(disbanding=ASKED)
            assert ear.view.parts.account.account.disbanding == ASKED
    async with served(tmp_path, store=log) as later:
        late = await seen(later, table, 2, last_version=0)
        assert late.view.parts.account.account.disbanding == ASKED, "who comes back late is told too"
        assert late.missed[-1].match_ended.disbanding == ASKED
        assert (await match_settled(later.platform.watch())).account.disbanding == ASKED
        assert (await later.platform.record(table.room_id)).summary.disbanding == ASKED
        assert [summary.disbanding async for summary in later.platform.records()] == [ASKED]
        own: seat_pb.GetRecordResponse = await later.seats.GetRecord(
            seat_pb.GetRecordRequest(), metadata=table.metadata(0)
        )
        assert own.record.summary.disbanding == ASKED


async def test_without_a_word_it_is_the_platforms_wish(service: Service) -> None:
    table = await seated(service.platform)
    account = (await service.platform.disband_room(table.room_id)).account
    assert account.disbanding == settlement_pb2.Disbanding(platform=True)


async def test_a_room_disbanded_before_its_first_deal_says_who_and_why(tmp_path: Path) -> None:
    log = MemoryStore()
    async with served(tmp_path, store=log) as service:
        platform = service.platform
        going_on = await seated(platform, command_id="going on")
        room_id = (await platform.create_room("alice")).room_id
        for player in ("alice", "bob"):
            await platform.take_seat(room_id, player)
        assert not (await platform.room(room_id)).HasField("disbanding")
        ended = await disband(service, Table(room_id, ()), ASKED)
        assert ended.room.disbanding == ASKED
        assert (await platform.room(room_id)).disbanding == ASKED
        assert await listed_disbandings(service) == {room_id: ASKED}, "in memory"
        service.room(room_id).touched = float("-inf")
        assert service.kept.put_away() == 1
        assert await listed_disbandings(service) == {room_id: ASKED}, "put away"
    async with served(tmp_path, store=log) as later:
        assert await listed_disbandings(later) == {room_id: ASKED}, "not yet read"
        assert (await later.platform.room(room_id)).disbanding == ASKED, "replayed"
        assert not (await later.platform.room(going_on.room_id)).HasField("disbanding")
        assert [record async for record in later.platform.records()] == [], "no match began in it"


async def listed_disbandings(service: Service) -> dict[str, settlement_pb2.Disbanding]:
    """What lists say of who disbanded each room and why; a room about which they say nothing is left out."""
    rooms = await service.platform.rooms()
    return {room.room_id: room.disbanding for room in rooms if room.HasField("disbanding")}


async def test_a_room_that_expires_says_so(tmp_path: Path) -> None:
    clock = time_ns()
    async with served(tmp_path, limits=ROOMY, now=lambda: clock) as service:
        room = await service.platform.create_room("alice")
        taken = await service.platform.take_seat(room.room_id, "alice")
        clock += ROOMY.fill_minutes * MINUTE
        await service.server.housekeeping.expire()
        told = settlement_pb2.Disbanding(house=True, reason=settlement_pb2.DISBAND_REASON_EXPIRED)
        view = (await seen(service, Table(room.room_id, (taken.token,)), 0)).view
        assert view.parts.account.account.disbanding == told
        settled = await match_settled(service.platform.watch())
        assert (settled.account.disbanding, settled.expired) == (told, True)
        assert (await service.platform.room(room.room_id)).disbanding == told
        assert await listed_disbandings(service) == {room.room_id: told}


async def refused(service: Service, request: pb.DisbandRoomRequest) -> refusal_pb2.Refusal:
    with pytest.raises(CallRefused) as error:
        await service.platform.disband_room(
            request.room_id,
            seat=request.seat if request.HasField("seat") else None,
            reason=request.reason,
            text=request.text,
        )
    assert error.value.refusal is not None
    return error.value.refusal


async def test_who_asks_sits_on_a_seat_of_the_room(service: Service) -> None:
    room = await service.platform.create_room("alice")
    free = await refused(service, pb.DisbandRoomRequest(room_id=room.room_id, seat=2))
    assert free.seat_free.seat == 2
    none = await refused(service, pb.DisbandRoomRequest(room_id=room.room_id, seat=3))
    assert none.no_such_seat.seat == 3
    assert (await service.platform.room(room.room_id)).state == room_pb2.ROOM_STATE_OPEN
    await service.platform.take_seat(room.room_id, "bob", 2)
    ended = await service.platform.disband_room(room.room_id, seat=2)
    assert ended.account.disbanding == settlement_pb2.Disbanding(seat=2)


@pytest.mark.parametrize("reason", [settlement_pb2.DISBAND_REASON_EXPIRED, 99])
async def test_a_reason_that_a_platform_cannot_give(service: Service, reason: int) -> None:
    table = await seated(service.platform)
    given = settlement_pb2.DisbandReason.ValueType(reason)
    told = (await refused(service, pb.DisbandRoomRequest(room_id=table.room_id, reason=given))).invalid_field
    assert (told.field, told.given, list(told.allowed)) == ("reason", reason, [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("character", ["x", "王", "🂡"])
async def test_a_text_has_so_many_characters_at_most(service: Service, character: str) -> None:
    table = await seated(service.platform)
    too_long = pb.DisbandRoomRequest(room_id=table.room_id, text=character * (LONGEST + 1))
    told = (await refused(service, too_long)).invalid_field
    assert told == Refusal.InvalidField(
        field="text", given=LONGEST + 1, least=0, most=LONGEST, unit=Refusal.UNIT_CHARACTERS
    )
    ended = await service.platform.disband_room(table.room_id, text=character * LONGEST)
    assert ended.account.disbanding.text == character * LONGEST


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "a\u202eb", "\x00"])
async def test_a_text_that_cannot_be_printed(service: Service, text: str) -> None:
    table = await seated(service.platform)
    told = (await refused(service, pb.DisbandRoomRequest(room_id=table.room_id, text=text))).invalid_field
    assert (told.field, told.given, told.unit) == ("text", 1, Refusal.UNIT_CONTROL_CHARACTERS)


async def test_sent_again_with_another_reason_it_is_another_command(service: Service) -> None:
    table = await seated(service.platform)

    async def send(asked: settlement_pb2.Disbanding) -> pb.DisbandRoomResponse:
        request = pb.DisbandRoomRequest(
            room_id=table.room_id, command_id="end", seat=asked.seat, reason=asked.reason, text=asked.text
        )
        response: pb.DisbandRoomResponse = await service.rooms.DisbandRoom(
            request, metadata=bearer(service.key), timeout=PATIENCE
        )
        return response

    first = await send(ASKED)
    assert await send(ASKED) == first
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await send(settlement_pb2.Disbanding(seat=1, reason=ABSENT, text="another"))
    assert error.value.code() is grpc.StatusCode.ALREADY_EXISTS
