"""What a server that was killed still knows when it is started again: rooms, commands, seats and their tokens."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client import Platform
from erqiwang_grpc.client.calls import CallRefused
from erqiwang_grpc.v1 import bidding_pb2, room_pb2, room_service_pb2, seat_service_pb2 as pb, settlement_pb2
from tests.service.processes import ServerProcess, serving
from tests.service.tables import Served, Table, act, acting, attached, play_all, seated, seen

QUICK = ("--commands-per-second", "100000")
PASS = pb.Command(pass_bid=bidding_pb2.PassBid())


async def killed(server: ServerProcess) -> None:
    server.process.kill()
    await server.process.wait()


async def test_a_command_that_was_accepted_before_the_kill_is_known_after_it(tmp_path: Path) -> None:
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        table = await seated(service.platform, command_id="open")
        turns: list[tuple[int, pb.Command, pb.Accepted]] = []
        for number in range(8):
            turn = await acting(service, table)
            assert turn is not None
            accepted = (await act(service, table, *turn, f"c{number}")).accepted
            turns.append((*turn, accepted))
        views = [await seen(service, table, seat) for seat in range(3)]
        await killed(server)
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        for number, (seat, command, accepted) in enumerate(turns):
            again = (await act(service, table, seat, command, f"c{number}")).accepted
            assert again.repeated_command
            assert (again.first_version, again.last_version) == (accepted.first_version, accepted.last_version)
        await is_refused_as_reused(service, table, turns[0][0], "c0")
        assert [await seen(service, table, seat) for seat in range(3)] == views
        assert (await service.platform.create_room("alice", command_id="open")).room_id == table.room_id
        assert len(await service.platform.rooms()) == 1


async def is_refused_as_reused(service: Served, table: Table, seat: int, command_id: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await act(service, table, seat, PASS, command_id)
    assert refused.value.code() is grpc.StatusCode.ALREADY_EXISTS


async def test_seat_tokens_stay_good_and_dead_ones_stay_dead(tmp_path: Path) -> None:
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        platform = server.speaking(channel).platform
        table = await seated(platform)
        dead = table.tokens[2]
        fresh = (await platform.take_seat(table.room_id, "carol", command_id="again")).token
        await killed(server)
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        table = Table(table.room_id, (*table.tokens[:2], fresh))
        async with attached(service, table) as seats:
            await play_all(seats)
        async with service.client(dead) as client:
            assert client.ended is not None
            assert client.ended.code is grpc.StatusCode.UNAUTHENTICATED
        # Sent again, the command gives no third epoch: the token that it gave is still the seat's.
        await service.platform.take_seat(table.room_id, "carol", command_id="again")
        assert (await seen(service, table, 2)).version > 0


async def test_a_platform_finds_the_rooms_and_records_of_before_the_kill(tmp_path: Path) -> None:
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        service = server.speaking(channel)
        table = await seated(service.platform)
        async with attached(service, table) as seats:
            await play_all(seats)
        record = await service.platform.record(table.room_id)
        watched = [event async for event in taken(service.platform, 4)]
        await killed(server)
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        platform = server.speaking(channel).platform
        assert await platform.record(table.room_id) == record
        assert [summary async for summary in platform.records("bob")] == [record.summary]
        assert [event async for event in taken(platform, 2, watched[1].cursor)] == watched[2:]
        with pytest.raises(CallRefused) as refused:
            await platform.record("no-such-room")
        assert refused.value.code is grpc.StatusCode.NOT_FOUND


async def test_who_disbanded_a_room_before_its_first_deal_is_known_after_the_kill(tmp_path: Path) -> None:
    asked = settlement_pb2.Disbanding(seat=0, reason=settlement_pb2.DISBAND_REASON_AGREED, text="散了 🀄")
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        platform = server.speaking(channel).platform
        room_id = (await platform.create_room("alice")).room_id
        await platform.take_seat(room_id, "alice")
        await platform.disband_room(room_id, seat=asked.seat, reason=asked.reason, text=asked.text)
        await killed(server)
    async with serving(tmp_path, *QUICK) as server, grpc.aio.insecure_channel(server.address) as channel:
        platform = server.speaking(channel).platform
        (listed,) = await platform.rooms(room_pb2.ROOM_STATE_DISBANDED)
        assert (listed.room_id, listed.disbanding) == (room_id, asked)
        assert (await platform.room(room_id)).disbanding == asked


async def taken(platform: Platform, number: int, cursor: str = "") -> AsyncIterator[room_service_pb2.RoomEvent]:
    """The first events of a feed."""
    async for event in platform.watch(cursor):
        yield event
        number -= 1
        if not number:
            return
