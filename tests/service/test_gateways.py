"""Many seats on one stream: each is opened, told and ended by itself, and nothing that befalls one ends the stream."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client import fold
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import bidding_pb2, gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb, view_pb2
from tests.service.clocks import HandMonotonic
from tests.service.gateways import GatewayEar, RawGateway, gateway_of
from tests.service.tables import (
    PATIENCE,
    ROOMY,
    RawSeat,
    Service,
    Table,
    eventually,
    in_phase,
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


async def opened(gateway: RawGateway, table: Table) -> list[GatewayEar]:
    """Every seat of the table, open."""
    ears = [gateway.seat(token) for token in table.tokens]
    for ear in ears:
        await ear.attach()
    return ears


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


async def test_an_error_of_one_seat_ends_that_seat(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    table, failing = await seated(service.platform), await seated(service.platform)
    async with gateway_of(service) as gateway:
        ears = await opened(gateway, table)
        broken = await opened(gateway, failing)
        room = service.room(failing.room_id)
        monkeypatch.setattr(room.audience, "beginning", None)
        await broken[0].say(pb.PlayRequest(attach=pb.Attach()))
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


# Bounds


NARROW: Final = (
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 1024),
    ("grpc.use_local_subchannel_pool", 1),
)
"""A connection that takes next to nothing from a server as long as nobody reads."""


@asynccontextmanager
async def unread(
    service: Service, tokens: list[str]
) -> "AsyncIterator[grpc.aio.StreamStreamCall[gateway_pb.ConnectRequest, gateway_pb.ConnectResponse]]":
    """A gateway that has opened these seats, and reads nothing."""
    async with grpc.aio.insecure_channel(service.address, options=NARROW) as channel:
        call = replace(service, channel=channel).gateways.Connect(metadata=bearer(service.gateway_key()))
        asked = [
            gateway_pb.SeatRequest(handle=handle, open=gateway_pb.OpenSeat(seat_token=token))
            for handle, token in enumerate(tokens)
        ]
        await call.write(gateway_pb.ConnectRequest(requests=asked))
        await eventually(lambda: service.server.gateways.seats == len(tokens))
        yield call
        call.cancel()


async def test_a_gateway_that_does_not_read_costs_bounded_memory_and_delays_no_table(tmp_path: Path) -> None:
    limits = replace(ROOMY, gateway_bytes=9_000)
    async with served(tmp_path, limits=limits) as service:
        tables = [await seated(service.platform) for _ in range(4)]
        async with unread(service, [table.tokens[2] for table in tables]) as slow:
            (connection,) = service.server.gateways._connections  # what waits inside is what this is about
            waiting: list[int] = []
            for table in tables:
                await deal(service, table, lambda: waiting.append(connection.outbox.waiting))
            assert 4_000 < max(waiting) <= 9_000
            assert connection.outbox.resyncs == len(tables), "each seat fell behind once, and then nothing was kept"
            views: dict[int, view_pb2.View] = {}
            snapshots = dict.fromkeys(range(len(tables)), 0)
            versions: dict[int, int] = {}
            while any(
                versions.get(handle) != service.room(table.room_id).version for handle, table in enumerate(tables)
            ):
                response = await asyncio.wait_for(slow.read(), PATIENCE)
                assert isinstance(response, gateway_pb.ConnectResponse)
                for told in response.seats:
                    for message in told.messages:
                        if message.HasField("snapshot"):
                            views[told.handle] = message.snapshot.view
                            versions[told.handle] = message.snapshot.version
                            snapshots[told.handle] += 1
                        elif message.HasField("notice"):
                            assert message.notice.version == versions[told.handle] + 1
                            fold.put(views[told.handle], message.notice.changed)
                            versions[told.handle] += 1
            assert set(snapshots.values()) == {2}, "the first, and one in place of what did not fit"
            assert service.server.counters.resyncs == len(tables)
            for handle, table in enumerate(tables):
                assert views[handle] == (await seen(service, table, 2)).view


async def test_a_gateway_that_asks_and_does_not_read_is_not_read_either(tmp_path: Path) -> None:
    """Every request is answered, so a gateway that does not read could fill the memory with answers."""
    limits = replace(ROOMY, gateway_bytes=60_000)
    async with served(tmp_path, limits=limits) as service, unread(service, []) as slow:
        await eventually(lambda: service.server.gateways.streams == 1)
        (connection,) = service.server.gateways._connections  # what waits inside is what this is about
        with pytest.raises(TimeoutError):
            await flood(slow)
        assert 20_000 < connection.outbox.waiting < 31_000


async def flood(call: "grpc.aio.StreamStreamCall[gateway_pb.ConnectRequest, gateway_pb.ConnectResponse]") -> None:
    """Open seats with bad tokens as fast as they are taken, until nothing was taken for a second."""
    handle = 0
    while True:
        bad = [
            gateway_pb.SeatRequest(handle=handle + more, open=gateway_pb.OpenSeat(seat_token="x"))
            for more in range(500)
        ]
        handle += 500
        await asyncio.wait_for(call.write(gateway_pb.ConnectRequest(requests=bad)), 1)


@asynccontextmanager
async def held_up(
    folder: Path, requests: list[gateway_pb.SeatRequest]
) -> AsyncIterator[tuple[Service, Table, HoldingStore]]:
    """A gateway whose first seat waits for the store, and has sent these requests meanwhile, each in its own message."""
    store = HoldingStore(MemoryStore())
    async with served(folder, store=store) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            ear = gateway.seat(table.tokens[0], 0)
            await ear.attach()
            store.holds_appends = True
            await ear.say(pb.PlayRequest(command_id="bid", command=BID))
            await store.held.wait()
            saying = asyncio.create_task(said_one_by_one(gateway, requests))
            yield service, table, store
            store.go_on.set()
            await asyncio.wait_for(saying, PATIENCE)


async def said_one_by_one(gateway: RawGateway, requests: list[gateway_pb.SeatRequest]) -> None:
    for request in requests:
        await gateway.say(request)


async def test_requests_that_wait_hold_bounded_memory(tmp_path: Path) -> None:
    """A request that waits holds its whole message, however long its id is."""
    large = [gateway_pb.SeatRequest(handle=0, command_id="x" * 60_000, command=BID)] * 200
    async with held_up(tmp_path, large) as (service, table, _):
        (connection,) = service.server.gateways._connections  # what waits inside is what this is about
        await eventually(lambda: connection._held >= 4_000_000)
        for _ in range(50):
            await seen(service, table, 1)
        assert connection._underway < 80, "71 of them are 4 MiB, and the bid"


async def test_others_get_a_turn_while_what_has_waited_is_carried_out(tmp_path: Path) -> None:
    wrong = [gateway_pb.SeatRequest(handle=0, command_id="x", command=pb.Command())] * 400
    async with held_up(tmp_path, wrong) as (service, _, store):
        (connection,) = service.server.gateways._connections  # what waits inside is what this is about
        await eventually(lambda: connection._underway == 401)
        store.go_on.set()
        turns = 0
        while connection._underway:
            turns += 1
            await asyncio.sleep(0)
        assert turns > 400 / 16


async def deal(service: Service, table: Table, after: Callable[[], None]) -> None:
    """Play a deal by single calls, and call `after` after each."""
    while not in_phase(view_pb2.PHASE_SETTLED)((await seen(service, table, 0)).view):
        await step(service, table)
        after()


async def test_seats_beyond_the_most_are_refused_alone(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, seats_per_gateway=2)) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            ears = [gateway.seat(token) for token in table.tokens]
            await ears[0].attach()
            await ears[1].attach()
            await ears[2].say(pb.PlayRequest(attach=pb.Attach()))
            await ears[2].rest()
            assert ears[2].refused is not None
            assert (ears[2].refused.code, ears[2].refused.reason) == (
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "TOO_MANY_STREAMS",
            )
            await ears[1].say(DETACH)
            await ears[1].rest()
            await gateway.seat(table.tokens[2]).attach()


async def test_more_gateways_than_a_server_or_a_platform_may_have(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, gateways=2)) as service:
        key, rival, third = service.gateway_key(), service.gateway_key("rival"), service.gateway_key("third")
        async with gateway_of(service, key):
            await eventually(lambda: service.server.gateways.streams == 1)
            async with gateway_of(service, key) as second:
                await second.end()
                assert second.refused is not None
                assert second.refused.reason == "QUOTA_REACHED"
            async with gateway_of(service, rival):
                await eventually(lambda: service.server.gateways.streams == 2)
                async with gateway_of(service, third) as beyond:
                    await beyond.end()
                    assert beyond.refused is not None
                    assert (beyond.refused.code, beyond.refused.reason) == (
                        grpc.StatusCode.RESOURCE_EXHAUSTED,
                        "TOO_MANY_STREAMS",
                    )


async def test_as_many_seats_as_are_reasonable_here(tmp_path: Path) -> None:
    """`erqiwang bench --idle-streams 30000 --ways gateway` opens 30,000."""
    async with served(tmp_path, limits=replace(ROOMY, gateway_bytes=1_000_000)) as service:
        tables = await asyncio.gather(*(seated(service.platform) for _ in range(300)))
        async with gateway_of(service) as gateway:
            ears = [gateway.seat(token) for table in tables for token in table.tokens]
            said = [
                gateway_pb.SeatRequest(handle=ear.handle, open=gateway_pb.OpenSeat(seat_token=ear.token))
                for ear in ears
            ]
            for begin in range(0, len(said), 100):
                await gateway.say(*said[begin : begin + 100])
            for ear in ears:
                assert (await ear.hear("snapshot")).snapshot.version == 5
            assert service.server.gateways.seats == 900
            assert service.server.counters.resyncs == 0, "it is read no faster than it reads"
        await eventually(lambda: not any(room.audience for room in service.kept.live))


# Allowances


async def test_a_seat_beyond_its_allowance_is_refused_alone_and_at_once(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=replace(ROOMY, commands_per_second=5), monotonic=clock) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            busy, other, _ = await opened(gateway, table)
            for number in range(15):
                await busy.say(pb.PlayRequest(command_id=f"{number}", command=pb.Command()))
            reasons = [(await busy.hear("refused")).refused.refusal.WhichOneof("reason") for _ in range(15)]
            assert reasons == ["no_command"] * 9 + ["too_many_commands"] * 6, "10 at once, and `open` was one of them"
            await other.say(pb.PlayRequest(command_id="other", command=pb.Command()))
            assert (await other.hear("refused")).refused.refusal.WhichOneof("reason") == "no_command"
            clock.forward(0.2)
            await busy.say(pb.PlayRequest(command_id="later", command=pb.Command()))
            assert (await busy.hear("refused")).refused.refusal.WhichOneof("reason") == "no_command"


async def test_a_stream_beyond_its_allowance_is_read_more_slowly(tmp_path: Path) -> None:
    clock = HandMonotonic()
    limits = replace(ROOMY, commands_per_gateway=10)
    async with served(tmp_path, limits=limits, monotonic=clock) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            ear, *_ = await opened(gateway, table)
            wrong = gateway_pb.SeatRequest(handle=ear.handle, command=pb.Command())
            await gateway.say(*[wrong] * 17)
            for _ in range(17):
                await ear.hear("refused")
            await gateway.say(*[wrong] * 5)
            await eventually(lambda: clock.is_waited_for(0.5))
            clock.forward(0.5)
            for _ in range(5):
                await ear.hear("refused")


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


@pytest.mark.parametrize("seats", [0, 3])
async def test_a_silent_stream_gets_one_heartbeat_however_many_seats_it_has(tmp_path: Path, seats: int) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        table = await seated(service.platform)
        async with gateway_of(service) as gateway:
            for token in table.tokens[:seats]:
                await gateway.seat(token).attach()
            await eventually(lambda: service.server.gateways.streams == 1)
            for number in (1, 2):
                clock.forward(21)
                service.server.housekeeping.look_after_streams()
                service.server.gateways.look_after()
                await eventually(lambda number=number: gateway.heartbeats == number)  # type: ignore[misc]  # a default binds it
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
