"""`Watch` with a seat token: the seat's stream for a client that cannot stream both ways."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import grpc
import pytest
from erqiwang_core.units import Seat

from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.service.clocks import HandMonotonic
from tests.service.spectating import Watch, ended
from tests.service.tables import (
    FOUR_PLAYERS,
    ROOMY,
    RawSeat,
    Service,
    act,
    acting,
    eventually,
    in_phase,
    seated,
    seen,
    served,
    step,
)

SETTLED: Final = in_phase(view_pb2.PHASE_SETTLED)


@pytest.mark.parametrize("options", [None, FOUR_PLAYERS], ids=["three", "four"])
async def test_a_deal_is_played_by_act_and_told_by_watch(service: Service, options: object) -> None:
    table = await seated(service.platform, FOUR_PLAYERS if options else None)
    watches = [Watch(service, token) for token in table.tokens]
    for watch in watches:
        await watch.hear("presence")
    while not SETTLED(watches[0].view):
        turn = await acting(service, table)
        assert turn is not None
        answer = await act(service, table, *turn)
        for watch in watches:
            await watch.hear_of(answer.accepted.last_version)
    for seat, watch in enumerate(watches):
        assert watch.view == (await seen(service, table, seat)).view


async def test_it_begins_with_what_was_missed(service: Service) -> None:
    table = await seated(service.platform)
    bid = await step(service, table)
    snapshot = (await Watch(service, table.tokens[1], last_version=bid.first_version - 1).hear("snapshot")).snapshot
    assert [missed.WhichOneof("cause") for missed in snapshot.missed] == ["bid_made"]


async def _play(service: Service, token: str) -> Callable[[], Awaitable[list[pb.SeatMessage]]]:
    stream = RawSeat(service, token)
    await stream.attach()
    return stream.rest


async def _watch(service: Service, token: str) -> Callable[[], Awaitable[list[pb.SeatMessage]]]:
    watch = Watch(service, token)
    await watch.hear("presence")
    return watch.rest


@pytest.mark.parametrize(("first", "second"), [(_play, _watch), (_watch, _play), (_watch, _watch)])
async def test_a_newer_stream_of_either_kind_displaces_the_older(
    service: Service,
    first: Callable[[Service, str], Awaitable[Callable[[], Awaitable[list[pb.SeatMessage]]]]],
    second: Callable[[Service, str], Awaitable[Callable[[], Awaitable[list[pb.SeatMessage]]]]],
) -> None:
    table = await seated(service.platform)
    rest = await first(service, table.tokens[0])
    await second(service, table.tokens[0])
    assert (await rest())[-1].goodbye.reason == pb.Goodbye.REASON_DISPLACED


async def test_a_seat_that_is_taken_again_ends_it(service: Service) -> None:
    table = await seated(service.platform)
    watch = Watch(service, table.tokens[0])
    await watch.hear("presence")
    await service.platform.take_seat(table.room_id, "alice")
    last = (await watch.rest())[-1]
    assert last.goodbye.reason == pb.Goodbye.REASON_UNSEATED
    assert watch.refused is not None
    assert (watch.refused.code, watch.refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNSEATED")
    assert (await ended(Watch(service, table.tokens[0]))).reason == "UNSEATED"


async def test_the_seat_is_present_until_the_call_is_cancelled(service: Service) -> None:
    table = await seated(service.platform)
    other, watch = RawSeat(service, table.tokens[1]), Watch(service, table.tokens[0])
    await other.attach()
    await watch.hear("presence")
    assert list((await other.hear("presence")).presence.present) in ([False, True, False], [True, True, False])
    await eventually(lambda: service.room(table.room_id).audience.present(Seat(0)))
    watch.call.cancel()
    while list((await other.hear("presence")).presence.present) != [False, True, False]:
        pass


async def test_who_takes_heartbeats_stays_present_though_it_sends_nothing(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        table = await seated(service.platform)
        watch, silent = Watch(service, table.tokens[0]), RawSeat(service, table.tokens[1])
        await watch.hear("presence")
        await silent.attach()
        audience = service.room(table.room_id).audience
        for _ in range(4):
            clock.forward(21)
            await watch.hear("heartbeat")
            # The heartbeat is read a moment before the server knows that it was taken.
            await eventually(lambda: all(each.seat or clock() - each.pulse.heard < 1 for each in audience))
        await eventually(lambda: audience.presence().present == (True, False, False))


async def test_it_counts_as_a_stream_of_the_seat_and_of_the_server(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, streams=2, platform_streams=2, streams_per_seat=1)) as service:
        table = await seated(service.platform)
        first, second = Watch(service, table.tokens[0]), Watch(service, table.tokens[1])
        await first.hear("snapshot")
        await second.hear("snapshot")
        for token in table.tokens:
            assert (await ended(Watch(service, token))).reason == "TOO_MANY_STREAMS"
        first.call.cancel()
        await eventually(lambda: service.server.seats.streams == 1)
        await Watch(service, table.tokens[2]).hear("snapshot")


async def test_it_costs_of_the_seats_allowance(tmp_path: Path) -> None:
    limits = replace(ROOMY, commands_per_second=1)
    async with served(tmp_path, limits=limits, monotonic=HandMonotonic()) as service:
        table = await seated(service.platform)
        for _ in range(2):
            await Watch(service, table.tokens[0]).hear("snapshot")
        assert (await ended(Watch(service, table.tokens[0]))).reason == "TOO_MANY_COMMANDS"


async def test_a_server_that_leaves_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        table = await seated(service.platform)
        watch = Watch(service, table.tokens[0])
        await watch.hear("presence")
        await service.server.stop()
        last = (await watch.rest())[-1]
        assert last.goodbye.reason == pb.Goodbye.REASON_DRAINING
        assert last.goodbye.HasField("retry_delay")
        assert watch.refused is not None
        assert watch.refused.code == grpc.StatusCode.UNAVAILABLE
