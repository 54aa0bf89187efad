"""The clients of `Watch`: a spectator, and a seat that is told one way, over lost connections and servers that leave."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, NotAttached, OneWaySeat, Spectator
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.testing import in_phase, is_over, play_all, seated, served
from erqiwang_grpc.v1 import bidding_pb2, playing_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.tables import FOUR_PLAYERS, attached, eventually

PATIENCE = 20.0
PASS = pb.Command(pass_bid=bidding_pb2.PassBid())


def _is_at(seat: OneWaySeat, version: int) -> bool:
    return seat.version == version


@pytest.mark.parametrize("options", [None, FOUR_PLAYERS], ids=["three", "four"])
async def test_seats_that_are_told_one_way_play_a_deal_and_a_spectator_sees_it(options: object) -> None:
    async with served() as service, AsyncExitStack() as stack:
        table = await seated(service.platform, FOUR_PLAYERS if options else None)
        token = await service.platform.watch_token(table.room_id, delay=0)
        watching = await stack.enter_async_context(service.spectator(token.token))
        seats = [await stack.enter_async_context(service.one_way(each)) for each in table.tokens]
        await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
        head = service.room(table.room_id).version
        await asyncio.wait_for(watching.until(lambda: watching.version == head), PATIENCE)
        for number, seat in enumerate(seats):
            await asyncio.wait_for(seat.until(partial(_is_at, seat, head)), PATIENCE)
            assert seat.view.parts.settlement == watching.view.parts.settlement
            assert seat.view.seat == number
        assert all(seats[0].present)
        assert not watching.view.HasField("seat")


async def test_a_spectator_is_told_the_end_of_the_match_and_then_nothing_more() -> None:
    async with served() as service:
        table = await seated(service.platform)
        token = await service.platform.watch_token(table.room_id, delay=0)
        async with service.spectator(token.token) as watching, attached(service, table) as seats:
            await play_all(seats)
            heard = [message async for message in watching.messages()]
        assert is_over(watching.view)
        assert heard[-1].notice.WhichOneof("cause") == "match_ended"
        assert watching.ended is not None
        assert watching.ended.code is grpc.StatusCode.OK
        async with service.spectator((await service.platform.watch_token(table.room_id)).token) as late:
            assert is_over(late.view)


@pytest.mark.parametrize("kind", ["one_way", "spectator"])
async def test_a_lost_connection_is_opened_again_and_nothing_is_missed(kind: str) -> None:
    async with served() as service:
        table = await seated(service.platform)
        watch_token = (await service.platform.watch_token(table.room_id, delay=0)).token
        watching: OneWaySeat | Spectator
        watching = service.one_way(table.tokens[0]) if kind == "one_way" else service.spectator(watch_token)
        async with watching, service.one_way(table.tokens[1]), service.client(table.tokens[0]) as playing:
            before = watching.version
            accepted = await playing.act(pb.Command(bid=bidding_pb2.Bid(points=70)))
            assert isinstance(accepted, pb.Accepted)
            if kind == "spectator":
                watching.drop()
                await asyncio.wait_for(watching.until(lambda: watching.connections == 2), PATIENCE)
                await asyncio.wait_for(watching.until(lambda: watching.version == accepted.last_version), PATIENCE)
                assert before < watching.version
            else:
                await asyncio.wait_for(watching.until(lambda: False), PATIENCE)
                assert watching.ended is not None, "a newer stream has displaced it"
                assert watching.ended.code is grpc.StatusCode.ABORTED


async def test_it_goes_to_the_next_server_when_one_leaves(tmp_path: Path) -> None:
    store = MemoryStore(shared=True)
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(served(tmp_path, store=store)) for _ in range(2)]
        table = await seated(second.platform)
        token = (await second.platform.watch_token(table.room_id, delay=0)).token
        addresses = [first.address, second.address]
        async with Spectator(addresses, token) as watching, OneWaySeat(addresses, table.tokens[0]) as seat:
            await first.server.stop()
            accepted = await asyncio.wait_for(seat.act(pb.Command(bid=bidding_pb2.Bid(points=70))), PATIENCE)
            assert isinstance(accepted, pb.Accepted)
            await asyncio.wait_for(watching.until(lambda: watching.version >= accepted.last_version), PATIENCE)
            assert (watching.connections, seat.connections) == (2, 2)


async def test_a_fresh_token_takes_over_when_the_old_one_expires() -> None:
    async with served() as service:
        table = await seated(service.platform)
        short = await service.platform.watch_token(table.room_id, delay=0, lifetime=2)
        longer = await service.platform.watch_token(table.room_id, delay=0)
        async with service.spectator(short.token) as ends, service.spectator(short.token) as goes_on:
            goes_on.renew(longer.token)
            await asyncio.wait_for(ends.until(lambda: False), PATIENCE)
            assert ends.ended is not None
            assert ends.ended.code is grpc.StatusCode.UNAUTHENTICATED
            await asyncio.wait_for(goes_on.until(lambda: goes_on.connections == 2), PATIENCE)
            assert goes_on.ended is None


async def test_a_room_younger_than_the_delay_is_waited_for_as_long_as_was_asked() -> None:
    async with served() as service:
        table = await seated(service.platform)
        token = (await service.platform.watch_token(table.room_id, delay=1.5)).token
        with pytest.raises(NotAttached):
            async with Spectator([service.address], token, attach_seconds=0.2):
                raise AssertionError("there was nothing to tell yet")
        async with service.spectator(token) as watching:
            assert watching.version >= 1
            assert watching.server_time_ns > 0


async def test_a_refused_command_is_an_answer_and_a_signal_has_none() -> None:
    async with served() as service:
        table = await seated(service.platform)
        async with service.one_way(table.tokens[0]) as seat:
            refused = await seat.act(PASS)
            assert isinstance(refused, pb.Refused)
            assert refused.refusal.WhichOneof("reason") == "first_bidder_must_bid"
            bid = pb.Command(bid=bidding_pb2.Bid(points=70))
            first = await seat.act(bid, command_id="the same")
            again = await seat.act(bid, command_id="the same")
            assert isinstance(first, pb.Accepted)
            assert isinstance(again, pb.Accepted)
            assert (again.last_version, again.repeated_command) == (first.last_version, True)
            signal = await seat.act(pb.Command(signal=playing_pb2.Signal(signal=playing_pb2.SIGNAL_KIND_UNSPECIFIED)))
            assert isinstance(signal, pb.Refused)


async def test_without_a_server_the_command_is_the_callers_to_repeat() -> None:
    async with served() as service:
        table = await seated(service.platform)
        async with service.one_way(table.tokens[0]) as seat:
            await service.server.stop()
            with pytest.raises(CallRefused) as refused:
                await seat.act(PASS)
            assert refused.value.command_id


async def test_who_leaves_is_gone_at_once() -> None:
    async with served() as service:
        table = await seated(service.platform)
        async with service.one_way(table.tokens[0]):
            assert service.server.seats.streams == 1
        await eventually(lambda: service.server.seats.streams == 0)
