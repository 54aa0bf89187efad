"""The client of a gateway, against real servers: many seats, each as `SeatClient` would keep it, over lost connections."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from erqiwang_grpc.auth.files import PLATFORM_KEYS, Opened, add_platform_key, open_key_files
from erqiwang_grpc.auth.keys import PlatformId, Scope
from erqiwang_grpc.client import Ended, Gateway, GatewaySeat
from erqiwang_grpc.client.fold import Folded
from erqiwang_grpc.v1 import bidding_pb2, playing_pb2, record_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.processes import serving
from tests.service.tables import (
    PATIENCE,
    Service,
    Table,
    eventually,
    in_phase,
    is_over,
    play,
    play_all,
    seated,
    seen,
    step,
)

BID = pb.Command(bid=bidding_pb2.Bid(points=70))


@asynccontextmanager
async def gateway_of(service: Service) -> AsyncIterator[Gateway]:
    async with asyncio.timeout(PATIENCE), Gateway([service.address], service.gateway_key()) as gateway:
        yield gateway


def opened(gateway: Gateway, table: Table) -> list[GatewaySeat]:
    return [gateway.open(seat.token, seat.last_version) for seat in table.seats]


async def test_matches_are_played_over_a_lost_connection_and_every_view_is_the_servers(service: Service) -> None:
    tables = [await seated(service.platform) for _ in range(3)]
    async with gateway_of(service) as gateway:
        seats = [opened(gateway, table) for table in tables]
        everyone = [seat for table in seats for seat in table]
        await play_all(everyone, until=in_phase(view_pb2.PHASE_PLAYING, 2))
        gateway.drop()
        await play_all(everyone)
        assert gateway.connections == 2
        assert {seat.connections for seat in everyone} == {2}
        for table, clients in zip(tables, seats, strict=True):
            for number, seat in enumerate(clients):
                now = await seen(service, table, number)
                assert (seat.view, seat.version) == (now.view, now.version)
                assert is_over(seat.view)


async def test_messages_come_with_the_number_of_their_seat_and_fold_to_its_view(service: Service) -> None:
    table = await seated(service.platform)
    folded: dict[int, Folded] = {}
    async with gateway_of(service) as gateway:
        seats = opened(gateway, table)
        await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
        async for number, message in gateway.messages():
            folded.setdefault(number, Folded()).take(message)
            if all(
                number in folded and folded[number].version == seat.version for number, seat in gateway.seats.items()
            ):
                break
        for seat in seats:
            assert (folded[seat.number].view, folded[seat.number].present) == (seat.view, (True, True, True))


async def test_whoever_reads_messages_too_slowly_gets_snapshots_in_place_of_what_had_no_room(service: Service) -> None:
    table = await seated(service.platform)
    folded: dict[int, Folded] = {}
    snapshots: Counter[int] = Counter()
    key = service.gateway_key()
    async with asyncio.timeout(PATIENCE), Gateway([service.address], key, keep_messages=10) as gateway:
        seats = opened(gateway, table)
        await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
        async for number, message in gateway.messages():
            snapshots[number] += message.HasField("snapshot")
            before = folded.setdefault(number, Folded())
            if message.HasField("notice"):
                assert message.notice.version == before.version + 1
            before.take(message)
            if all(
                number in folded and folded[number].version == seat.version for number, seat in gateway.seats.items()
            ):
                break
        for seat in seats:
            assert folded[seat.number].view == seat.view
        assert set(snapshots.values()) == {2}, "the first, and one in place of what had no room"


async def test_a_command_whose_answer_was_lost_is_carried_out_once(service: Service) -> None:
    table = await seated(service.platform)
    async with gateway_of(service) as gateway:
        seat, *_ = opened(gateway, table)
        await seat.until(lambda: seat.version > 0)
        acting = asyncio.create_task(seat.act(BID))
        await asyncio.sleep(0)
        gateway.drop()
        answer = await acting
        assert isinstance(answer, pb.Accepted)
        assert (answer.first_version, service.room(table.room_id).version) == (6, 6)
        assert seat.unanswered == ()


async def test_a_seat_that_is_refused_ends_alone(service: Service) -> None:
    table = await seated(service.platform)
    async with gateway_of(service) as gateway:
        bad, good = gateway.open("nonsense"), gateway.open(table.tokens[0])
        await bad.until(lambda: False)
        assert bad.ended is not None
        assert bad.ended.code is grpc.StatusCode.NOT_FOUND
        assert await bad.act(BID) == bad.ended
        await good.until(lambda: good.version > 0)
        assert list(gateway.seats) == [good.number]


async def test_a_seat_that_was_taken_over_ends_alone_and_stays_away(service: Service) -> None:
    table = await seated(service.platform)
    async with gateway_of(service) as gateway:
        taken_over, other = gateway.open(table.tokens[0]), gateway.open(table.tokens[1])
        await taken_over.until(lambda: taken_over.version > 0)
        async with service.client(table.tokens[0]) as newer:
            await taken_over.until(lambda: False)
            assert taken_over.ended is not None
            assert taken_over.ended.code is grpc.StatusCode.ABORTED
            accepted = await step(service, table)
            await other.until(lambda: other.version == accepted.last_version)
            assert newer.ended is None


async def test_a_seat_is_closed_and_opened_again(service: Service) -> None:
    table = await seated(service.platform)
    async with gateway_of(service) as gateway:
        seat = gateway.open(table.tokens[0])
        await seat.until(lambda: seat.version > 0)
        await seat.close()
        assert seat.ended == Ended(grpc.StatusCode.OK, "")
        assert not service.room(table.room_id).audience
        again = gateway.open(table.tokens[0])
        await again.until(lambda: again.version > 0)


async def test_records_signals_and_snapshots(service: Service) -> None:
    table = await seated(service.platform)
    async with gateway_of(service) as gateway:
        seats = opened(gateway, table)
        await asyncio.gather(*(play(seat, until=in_phase(view_pb2.PHASE_PLAYING)) for seat in seats))
        declarer = seats[0].view.parts.contract.declarer
        signalling, listening = (seat for number, seat in enumerate(seats) if number != declarer)
        signalling.signal(playing_pb2.SIGNAL_KIND_NO_POINTS)
        async for number, message in gateway.messages():
            if message.HasField("signal_received"):
                assert number == listening.number
                break
        listening.resync(0)
        async for number, message in gateway.messages():
            if message.HasField("snapshot"):
                assert (number, message.snapshot.view) == (listening.number, listening.view)
                assert message.snapshot.missed
                break
        await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
        record = await listening.record()
        assert isinstance(record, record_pb2.MatchRecord)
        assert len(record.deals) == 1


async def test_a_wrong_key_ends_it_for_good(service: Service) -> None:
    async with asyncio.timeout(PATIENCE), Gateway([service.address], service.key) as gateway:
        seat = gateway.open("any")
        assert [heard async for heard in gateway.messages()] == []
        assert gateway.ended is not None
        assert gateway.ended.code is grpc.StatusCode.UNAUTHENTICATED
        assert seat.ended is not None


async def test_a_match_goes_on_over_a_restart_beside_an_address_where_nobody_listens(tmp_path: Path) -> None:
    """The gateway is told to go, waits, tries the next address, comes back, and opens its seats where they were."""
    assert isinstance(open_key_files(tmp_path, None, None), Opened)
    key = add_platform_key(tmp_path / PLATFORM_KEYS, PlatformId("local"), Scope.GATEWAY)
    assert isinstance(key, str)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        nobody = f"127.0.0.1:{listening.getsockname()[1]}"
    async with serving(tmp_path, "--new-rooms", "--commands-per-second", "100000") as first:
        port = first.port
        async with (
            grpc.aio.insecure_channel(first.address) as channel,
            Gateway([nobody, first.address], key) as gateway,
        ):
            platform = first.speaking(channel).platform
            seats = opened(gateway, await seated(platform))
            await platform.close()
            await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))
            versions = [seat.version for seat in seats]
            views = [view_pb2.View.FromString(seat.view.SerializeToString()) for seat in seats]
            assert await first.stop() == 0
            async with serving(tmp_path, "--commands-per-second", "100000", port=port):
                await eventually(lambda: all(seat.connections == 2 for seat in seats), PATIENCE)
                assert [seat.version for seat in seats] == versions
                assert [seat.view for seat in seats] == views
                await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
