"""A hint is what a sensible player would do by the seat's view alone; a room may forbid it, and it is paid for."""

import asyncio
import threading
from pathlib import Path
from random import Random

import grpc
import pytest
from erqiwang_core.match import Command
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import View
from erqiwang_core.players import Sensible, shuffles
from erqiwang_core.players.contest import begun as begun_match
from erqiwang_core.units import Seat

from erqiwang_grpc.client import Gateway, SeatClient
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rooms.hints import Hints, hint
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.refusals import TooManyHints
from erqiwang_grpc.rpc.wire import decode
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.testing import seated_table
from erqiwang_grpc.v1 import room_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.gateways import SeatOf
from tests.service.tables import PATIENCE, Service, attached, in_phase, play_all, refused, seated, served

ASK = pb.PlayRequest(command_id="mine", hint=pb.GetHintRequest())


def sensible(view: view_pb2.View) -> pb.Command:
    """What a sensible player does with this view."""
    chosen = Sensible().act(decode.view(view), Random(5))
    assert chosen is not None
    return command(chosen)


async def test_on_every_stream_it_is_what_a_sensible_player_does_with_the_view(
    service: Service, seat_of: SeatOf
) -> None:
    table = await seated(service.platform)
    first = seat_of(table.tokens[0])
    snapshot = await first.attach()
    await first.say(ASK)
    given = (await first.hear("hint")).hint
    assert given == pb.Hint(command_id="mine", request=2, version=snapshot.version, command=sensible(snapshot.view))
    await first.say(pb.PlayRequest(command_id="next", command=given.command))
    assert (await first.hear("accepted")).accepted.request == 3


async def test_the_same_view_has_the_same_hint_and_asking_changes_nothing(service: Service) -> None:
    table = await seated(service.platform)
    given = [(await service.seats.GetHint(pb.GetHintRequest(), metadata=table.metadata(0))).hint for _ in range(3)]
    assert given[0] == given[1] == given[2]
    now = await service.seats.GetView(pb.GetViewRequest(), metadata=table.metadata(0))
    assert given[0].version == now.snapshot.version
    assert given[0].command == sensible(now.snapshot.view)


async def test_another_seats_turn_and_a_moment_with_nothing_to_decide_are_told_apart(
    service: Service, seat_of: SeatOf
) -> None:
    table = await seated(service.platform, room_pb2.RoomOptions())
    waiting = seat_of(table.tokens[1])
    await waiting.attach()
    await waiting.say(ASK)
    told = (await waiting.hear("refused")).refused
    assert (told.command_id, told.request) == ("mine", 2)
    assert told.refusal.not_your_turn.turn == 0
    room = await service.platform.create_room("alice")
    alone = seat_of((await service.platform.take_seat(room.room_id, "alice")).token)
    await alone.attach()
    await alone.say(ASK)
    assert (await alone.hear("refused")).refused.refusal.nothing_to_decide.phase == view_pb2.PHASE_OPEN


async def test_a_seat_that_is_ready_has_nothing_more_to_decide(service: Service) -> None:
    table = await seated(service.platform)
    async with attached(service, table) as seats:
        await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
        given = await seats[0].hint()
        assert isinstance(given, pb.Hint)
        assert given.command.HasField("ready")
        await seats[0].act(given.command)
        answer = await seats[0].hint()
        assert isinstance(answer, pb.Refused)
        assert answer.refusal.nothing_to_decide.phase == view_pb2.PHASE_SETTLED


async def test_a_room_may_forbid_hints_to_every_seat(service: Service, seat_of: SeatOf) -> None:
    table = await seated(service.platform, room_pb2.RoomOptions(no_hints=True))
    for token in table.tokens:
        seat = seat_of(token)
        assert (await seat.attach()).view.options.no_hints
        await seat.say(ASK)
        assert (await seat.hear("refused")).refused.refusal.WhichOneof("reason") == "hints_forbidden"
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await service.seats.GetHint(pb.GetHintRequest(), metadata=table.metadata(0))
    told = refused(ended.value)
    assert (told.code, told.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "HINTS_FORBIDDEN")


async def test_a_spectator_gets_none(service: Service) -> None:
    table = await seated(service.platform)
    watching = await service.platform.watch_token(table.room_id)
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await service.seats.GetHint(pb.GetHintRequest(), metadata=bearer(watching.token))
    assert refused(ended.value).code is grpc.StatusCode.UNAUTHENTICATED


async def test_a_hint_costs_what_a_command_does(tmp_path: Path) -> None:
    async with served(tmp_path, limits=Limits(commands_per_second=1)) as service:
        table = await seated(service.platform)
        for _ in range(2):
            await service.seats.GetHint(pb.GetHintRequest(), metadata=table.metadata(0))
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await service.seats.GetHint(pb.GetHintRequest(), metadata=table.metadata(0))
        assert refused(ended.value).reason == "TOO_MANY_COMMANDS"


async def test_a_match_played_by_hints_alone_is_played_to_its_end() -> None:
    async with seated_table() as table:

        async def follow(seat: SeatClient) -> None:
            while True:
                await seat.until(lambda: seat.view.parts.advice.WhichOneof("choice") is not None or over(seat.view))
                if over(seat.view):
                    return
                given = await seat.hint()
                assert isinstance(given, pb.Hint), given
                answer = await seat.act(given.command)
                assert isinstance(answer, pb.Accepted), answer

        await asyncio.gather(*(follow(seat) for seat in table.seats.values()))
        assert all(over(seat.view) for seat in table.seats.values())


def over(view: view_pb2.View) -> bool:
    return view.parts.progress.phase == view_pb2.PHASE_OVER


async def test_a_seat_that_is_told_one_way_gets_hints_too(service: Service) -> None:
    table = await seated(service.platform)
    async with service.one_way(table.tokens[0]) as first, service.one_way(table.tokens[1]) as second:
        given = await first.hint()
        assert isinstance(given, pb.Hint)
        assert given.command == sensible(first.view)
        answer = await second.hint()
        assert isinstance(answer, pb.Refused)
        assert answer.refusal.WhichOneof("reason") == "not_your_turn"


async def test_a_hint_that_a_lost_stream_has_swallowed_is_asked_for_again(service: Service) -> None:
    table = await seated(service.platform)
    async with service.client(table.tokens[0]) as seat:
        seat.drop()
        assert isinstance(await seat.hint(), pb.Hint)
    async with Gateway([service.address], service.gateway_key()) as gateway:
        opened = gateway.open(table.tokens[0])
        asking = asyncio.create_task(opened.hint())  # before the seat is attached
        await asyncio.sleep(0)
        gateway.drop()
        assert isinstance(await asyncio.wait_for(asking, PATIENCE), pb.Hint)


async def test_the_view_that_a_hint_is_made_of_is_the_seats_and_work_beyond_the_bound_is_refused() -> None:
    match = begun_match(RoomOptions(), shuffles(RoomOptions(), Random(2)))
    begun, go_on = threading.Event(), threading.Event()
    seen: list[View] = []

    def slow(view: View) -> Command | None:
        seen.append(view)
        begun.set()
        assert go_on.wait(PATIENCE)
        return hint(view)

    hints = Hints(2, slow)
    first, second = (asyncio.create_task(hints.of(match, Seat(0))) for _ in range(2))
    await asyncio.to_thread(begun.wait, PATIENCE)
    assert isinstance(await hints.of(match, Seat(0)), TooManyHints)
    second.cancel()
    await asyncio.wait([second])
    assert isinstance(await hints.of(match, Seat(0)), TooManyHints), "what its caller gave up is still to be worked out"
    go_on.set()
    given = await first
    assert [view.seat for view in seen[:1]] == [0]
    assert given == hint(seen[0])
    await asyncio.wait_for(hints.of(match, Seat(0)), PATIENCE)
    assert not isinstance(await hints.of(match, Seat(0)), TooManyHints), "both places are free again"
