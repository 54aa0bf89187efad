"""Many seats on one stream: each is opened, told and ended by itself, and nothing that befalls one ends the stream."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time
from typing import Final

import grpc
import pytest
from erqiwang_core.burying import CardsBuried
from erqiwang_core.kernel.hand import EMPTY

from erqiwang_grpc.client import fold
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.state import RecentEvent
from erqiwang_grpc.store import TimeNs, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import bidding_pb2, gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb, view_pb2
from tests.service.clocks import HandMonotonic
from tests.service.gateways import GatewayEar, RawGateway, gateway_of, opened
from tests.service.tables import (
    PATIENCE,
    ROOMY,
    RawSeat,
    Service,
    Table,
    eventually,
    is_over,
    seated,
    seen,
    served,
    step,
    suggested,
)
from tests.service.test_access import another_servers, claims, signed
from tests.store.holding import HoldingStore

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
DETACH: Final = pb.PlayRequest(detach=pb.Detach())


@asynccontextmanager
async def on_disk(folder: Path) -> AsyncIterator[Service]:
    """A server whose rooms are on disk: there commands wait for the flush, and go on in tasks of their own."""
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    try:
        async with served(folder, store=store) as service:
            yield service
    finally:
        await store.close()


# A whole match


async def play_by_gateway(gateway: RawGateway, table: Table) -> list[view_pb2.View]:
    """Play a match by the suggestions of the views alone; gives the views, folded from what was told."""
    views = [view_pb2.View() for _ in table.tokens]

    async def play(number: int, ear: GatewayEar) -> None:
        view, awaiting, version = views[number], False, 0
        await ear.say(pb.PlayRequest(attach=pb.Attach(last_version=0)))
        while not is_over(view):
            message = await ear.next()
            assert message is not None, ear.refused
            match message.WhichOneof("message"):
                case "snapshot":
                    view.CopyFrom(message.snapshot.view)
                    version = message.snapshot.version
                case "notice":
                    assert message.notice.version == version + 1
                    fold.put(view, message.notice.changed)
                    version += 1
                case "accepted":
                    awaiting = False
                case "refused":
                    raise AssertionError(message)
                case _:
                    pass
            command = suggested(view)
            if command is not None and not awaiting:
                awaiting = True
                await ear.say(pb.PlayRequest(command_id=f"{version}", command=command))

    await asyncio.gather(*(play(number, gateway.seat(token)) for number, token in enumerate(table.tokens)))
    return views


async def test_a_match_is_played_on_one_stream_and_every_fold_is_the_view(service: Service) -> None:
    tables = [await seated(service.platform) for _ in range(2)]
    async with gateway_of(service) as gateway:
        for table, views in zip(
            tables, await asyncio.gather(*(play_by_gateway(gateway, table) for table in tables)), strict=True
        ):
            assert views == [(await seen(service, table, seat)).view for seat in range(3)]


async def test_a_match_on_disk_is_played_by_a_gateway(tmp_path: Path) -> None:
    async with on_disk(tmp_path) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            views = await play_by_gateway(gateway, table)
        assert views == [(await seen(service, table, seat)).view for seat in range(3)]


async def test_several_seats_and_turns_come_in_one_response(service: Service) -> None:
    tables = [await seated(service.platform) for _ in range(40)]
    async with gateway_of(service) as gateway:
        ears = [await opened(gateway, table) for table in tables]
        gateway.responses.clear()
        said = [gateway_pb.SeatRequest(handle=seats[0].handle, command_id="a", command=BID) for seats in ears]
        await gateway.say(*said)
        for seats in ears:
            await seats[0].hear("accepted")
        assert len(gateway.responses) < 20, "40 turns"
        assert max(len(response.seats) for response in gateway.responses) > 6


async def test_requests_of_one_seat_are_carried_out_in_their_order_and_numbered(tmp_path: Path) -> None:
    async with on_disk(tmp_path) as service, gateway_of(service) as gateway:
        table = await seated(service.platform)
        ear, *_ = await opened(gateway, table)
        said = [gateway_pb.SeatRequest(handle=ear.handle, command_id=f"{number}", command=BID) for number in range(10)]
        await gateway.say(*said)
        assert (await ear.hear("accepted")).accepted.request == 2
        for number in range(1, 10):
            refused = (await ear.hear("refused")).refused
            assert (refused.command_id, refused.request) == (f"{number}", number + 2)


# What befalls one seat


def garbled(_: Service, table: Table) -> str:
    return table.tokens[0][:-3] + "AAA"


def strangers(service: Service, table: Table) -> str:
    return another_servers(service, claims(table))


def nowhere(service: Service, table: Table) -> str:
    return signed(service, claims(table, room="nowhere"))


def of_another_platform(service: Service, table: Table) -> str:
    return signed(service, claims(table, platform="rival"))


def older(service: Service, table: Table) -> str:
    return signed(service, claims(table, epoch=0))


def expired(service: Service, table: Table) -> str:
    return signed(service, claims(table, exp=int(time()) - 1))


@pytest.mark.parametrize(
    ("forge", "code", "reason"),
    [
        (lambda _, __: "", grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM"),
        (lambda _, __: "nonsense", grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM"),
        (garbled, grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM"),
        (strangers, grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM"),
        (nowhere, grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM"),
        (of_another_platform, grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM"),
        (older, grpc.StatusCode.UNAUTHENTICATED, "UNSEATED"),
        (expired, grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_EXPIRED"),
    ],
)
async def test_a_bad_token_is_refused_for_its_seat_alone(
    service: Service, forge: Callable[[Service, Table], str], code: grpc.StatusCode, reason: str
) -> None:
    table = await seated(service.platform)
    async with gateway_of(service) as gateway:
        good, bad = gateway.seat(table.tokens[1]), gateway.seat(forge(service, table))
        await good.attach()
        await bad.say(pb.PlayRequest(attach=pb.Attach()))
        assert await bad.rest() == []
        assert bad.refused is not None
        assert (bad.refused.code, bad.refused.reason) == (code, reason)
        accepted = await step(service, table)
        assert (await good.hear("notice")).notice.version == accepted.first_version
        again = gateway.seat(table.tokens[0], bad.handle)
        await again.attach()


async def test_all_refusals_of_other_peoples_rooms_are_the_same_to_the_byte(service: Service) -> None:
    """Whether a room exists is told to its own platform alone."""
    table = await seated(service.platform)
    rival = service.gateway_key("rival")
    async with gateway_of(service, rival) as gateway:
        told = []
        for token in (table.tokens[0], nowhere(service, table), "nonsense"):
            ear = gateway.seat(token)
            await ear.say(pb.PlayRequest(attach=pb.Attach()))
            await ear.rest()
            told.append(ear.ended)
        assert told[0] is not None
        assert told[0].code == grpc.StatusCode.NOT_FOUND.value[0]
        assert told[1:] == told[:-1]


async def test_a_closed_seat_is_free_and_its_handle_too(service: Service) -> None:
    here, there = await seated(service.platform), await seated(service.platform)
    async with gateway_of(service) as gateway:
        first = gateway.seat(here.tokens[0], 7)
        await first.attach()
        await first.say(DETACH)
        await first.rest()
        assert first.ended == gateway_pb.SeatEnded()
        assert not service.room(here.room_id).audience
        second = gateway.seat(there.tokens[2], 7)
        assert (await second.attach()).view.seat == 2
        assert service.server.gateways.seats == 1


async def test_a_request_for_a_seat_that_has_ended_is_dropped(service: Service) -> None:
    table = await seated(service.platform)
    async with gateway_of(service) as gateway:
        ear, other, _ = await opened(gateway, table)
        await ear.say(DETACH)
        await ear.say(pb.PlayRequest(command_id="late", command=BID))
        accepted = await step(service, table)
        assert (await other.hear("notice")).notice.version == accepted.first_version == 6, (
            "the command was not carried out"
        )
        await ear.rest()
        assert ear.refused is None


async def test_an_error_of_one_seat_ends_that_seat(service: Service) -> None:
    table, failing = await seated(service.platform), await seated(service.platform)
    async with gateway_of(service) as gateway:
        ears = await opened(gateway, table)
        broken = await opened(gateway, failing)
        room = service.room(failing.room_id)
        # Nobody has buried yet, so telling who has is a bug.
        buried = CardsBuried(EMPTY, None, (), ())
        room.state.lately.append(RecentEvent(Version(room.version + 1), TimeNs(0), buried))
        await broken[0].say(pb.PlayRequest(attach=pb.Attach(last_version=room.version)))
        await broken[0].rest()
        assert broken[0].refused is not None
        assert (broken[0].refused.code, broken[0].refused.reason) == (grpc.StatusCode.INTERNAL, "FAILED")
        accepted = await step(service, table)
        assert (await ears[0].hear("notice")).notice.version == accepted.first_version


# Broken messages


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (b"\xff\xff\xff", r"Message 2 of the stream is no ConnectRequest\."),
        (
            b"\x0a\x02\x08\x05",
            r"Message 2 of the stream, request 1, handle 5: it holds no request that this server knows\.",
        ),
        (
            gateway_pb.ConnectRequest(
                requests=[
                    gateway_pb.SeatRequest(handle=9, resync=gateway_pb.Resync()),
                    gateway_pb.SeatRequest(handle=1, open=gateway_pb.OpenSeat()),
                ]
            ).SerializeToString(),
            r"Message 2 of the stream, request 2, handle 1: it opens a handle that is open\.",
        ),
    ],
    ids=["no message", "an empty request", "a handle that is open"],
)
async def test_a_broken_message_ends_the_stream_and_the_status_says_which(
    service: Service, message: bytes, said: str
) -> None:
    table = await seated(service.platform)
    other = RawSeat(service, table.tokens[1])
    await other.attach()
    connect: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = service.channel.stream_stream(
        "/erqiwang.v1.GatewayService/Connect"
    )
    call = connect(metadata=bearer(service.gateway_key()))
    opening = gateway_pb.SeatRequest(handle=1, open=gateway_pb.OpenSeat(seat_token=table.tokens[0]))
    await call.write(gateway_pb.ConnectRequest(requests=[opening]).SerializeToString())
    await call.read()
    await call.write(message)
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await to_the_end(call)
    assert ended.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert re.match(said, ended.value.details() or ""), ended.value.details()
    await eventually(lambda: service.server.gateways.streams == 0)
    await eventually(lambda: len(service.room(table.room_id).audience) == 1)
    accepted = await step(service, table)
    assert (await other.hear("notice")).notice.version == accepted.first_version


async def to_the_end(call: "grpc.aio.StreamStreamCall[bytes, bytes]") -> None:
    while await call.read() is not grpc.aio.EOF:
        pass


# Silence


async def test_seats_are_present_as_long_as_their_gateway_is_heard(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            await gateway.seat(table.tokens[0]).attach()
            await gateway.seat(table.tokens[1]).attach()
            room = service.room(table.room_id)

            def present() -> list[bool]:
                service.server.housekeeping.look_after_streams()
                return list(room.audience.presence().present)

            clock.forward(59)
            await gateway.say()
            await eventually(lambda: next(iter(room.audience)).pulse.heard == clock())
            clock.forward(59)
            assert present() == [True, True, False]
            clock.forward(2)
            assert present() == [False, False, False]
            await gateway.say()
            await eventually(lambda: room.audience.presence().present == (True, True, False))


def has_beaten(gateway: RawGateway, times: int) -> bool:
    """Whether the stream has had so many heartbeats."""
    return gateway.heartbeats == times


@pytest.mark.parametrize("seats", [0, 3])
async def test_a_silent_stream_gets_one_heartbeat_however_many_seats_it_has(tmp_path: Path, seats: int) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            for token in table.tokens[:seats]:
                await gateway.seat(token).attach()
            await eventually(lambda: len(gateway.responses) > 0)
            begun = gateway.heartbeats
            assert begun == 1 or seats, "a stream without seats begins with one"
            for number in (1, 2):
                clock.forward(21)
                service.server.housekeeping.look_after_streams()
                service.server.gateways.look_after()
                await eventually(partial(has_beaten, gateway, begun + number))
            kinds = [
                each.WhichOneof("message")
                for response in gateway.responses
                for told in response.seats
                for each in told.messages
            ]
            assert "heartbeat" not in kinds


# Leaving


async def test_a_leaving_server_answers_what_is_under_way_and_says_goodbye_to_the_gateway(tmp_path: Path) -> None:
    async with on_disk(tmp_path) as service:
        tables = [await seated(service.platform) for _ in range(20)]
        async with gateway_of(service) as gateway:
            ears = [(await opened(gateway, table))[0] for table in tables]
            await gateway.say(
                *(gateway_pb.SeatRequest(handle=ear.handle, command_id="bid", command=BID) for ear in ears)
            )
            await ears[0].hear("accepted")
            await service.server.stop(PATIENCE)
            await gateway.end()
            assert gateway.goodbye.reason == pb.Goodbye.REASON_DRAINING
            assert 100 <= gateway.goodbye.retry_delay.ToMilliseconds() <= 2_000
            assert gateway.refused is not None
            assert (gateway.refused.code, gateway.refused.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
            for ear in ears[1:]:
                await ear.hear("accepted")
                assert not any(message.HasField("goodbye") for message in await ear.rest()), "the stream's is for all"


async def test_a_leaving_server_waits_for_no_allowance(tmp_path: Path) -> None:
    clock = HandMonotonic()
    limits = replace(ROOMY, commands_per_gateway=10)
    async with served(tmp_path, limits=limits, monotonic=clock) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            ear, *_ = await opened(gateway, table)
            bid = gateway_pb.SeatRequest(handle=ear.handle, command_id="bid", command=BID)
            await gateway.say(*[gateway_pb.SeatRequest(handle=9, resync=gateway_pb.Resync())] * 17)
            await gateway.say(*[bid] * 5)
            await eventually(lambda: clock.is_waited_for(0.5))
            stopping = asyncio.create_task(service.server.stop(PATIENCE))
            await gateway.end()
            assert gateway.refused is not None
            assert gateway.refused.reason == "DRAINING"
            clock.forward(0.5)
            await stopping
            assert service.room(table.room_id).version == 5, "the bid was read, and is not carried out"


async def test_a_half_close_ends_the_stream_once_everything_is_answered(tmp_path: Path) -> None:
    async with on_disk(tmp_path) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            ear, *_ = await opened(gateway, table)
            await ear.say(pb.PlayRequest(command_id="bid", command=BID))
            await gateway.call.done_writing()
            await gateway.end()
            assert gateway.refused is None
            assert await gateway.call.code() == grpc.StatusCode.OK
            await ear.hear("accepted")
        await eventually(lambda: not service.room(table.room_id).audience)


async def test_a_seat_that_is_being_opened_at_a_half_close_is_answered_and_displaces_nobody(tmp_path: Path) -> None:
    store = HoldingStore(MemoryStore(shared=True))
    async with served(tmp_path, store=store) as service:
        table = await seated(service.platform)
        other = RawSeat(service, table.tokens[0])
        await other.attach()
        async with gateway_of(service) as gateway:
            ear = gateway.seat(table.tokens[0])
            store.holds_reads = True
            await ear.say(pb.PlayRequest(attach=pb.Attach()))
            await store.held.wait()
            (connection,) = service.server.gateways._connections
            await gateway.call.done_writing()
            await eventually(lambda: connection._leaving is not None)
            store.holds_reads = False
            store.go_on.set()
            assert (await ear.rest(), ear.ended) == ([], gateway_pb.SeatEnded())
            await gateway.end()
            assert await gateway.call.code() == grpc.StatusCode.OK
        accepted = await step(service, table)
        assert (await other.hear("notice")).notice.version == accepted.first_version


async def test_a_gateway_that_breaks_off_leaves_its_seats(service: Service) -> None:
    table = await seated(service.platform)
    other = RawSeat(service, table.tokens[2])
    await other.attach()
    async with gateway_of(service) as gateway:
        await gateway.seat(table.tokens[0]).attach()
        await gateway.seat(table.tokens[1]).attach()
    while list((await other.hear("presence")).presence.present) != [False, False, True]:
        pass
    await eventually(lambda: service.server.gateways.streams == 0)
