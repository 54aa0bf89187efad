"""What one gateway may take up: bytes that wait, requests that wait, seats, streams and allowances."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client import fold
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.counters import Kind
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import bidding_pb2, gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb, view_pb2
from tests.service.clocks import HandMonotonic
from tests.service.gateways import RawGateway, gateway_of, opened
from tests.service.tables import (
    PATIENCE,
    ROOMY,
    Service,
    Table,
    eventually,
    in_phase,
    seated,
    seen,
    served,
    step,
)
from tests.store.holding import HoldingStore

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
DETACH: Final = pb.PlayRequest(detach=pb.Detach())


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
            assert service.server.counters.resyncs == {Kind.GATEWAY_SEAT: len(tables)}
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
            assert not service.server.counters.resyncs, "it is read no faster than it reads"
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
