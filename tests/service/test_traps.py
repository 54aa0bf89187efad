"""What the gRPC stack does to servers that do not know it: each trap that was met once, met again."""

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Final

import grpc
import psutil
import pytest
from erqiwang_core.units import Seat
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rpc.server import SERVICES
from erqiwang_grpc.v1 import room_service_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.processes import attached_elsewhere, serving
from tests.service.tables import RawSeat, Served, Service, Table, attached, eventually, in_phase, play_all, seated, seen

OWN: Final = (("grpc.use_local_subchannel_pool", 1),)
"""A connection of its own."""
STREAMS: Final = 3_000
CALLS: Final = 10_000
AT_ONCE: Final = 50
BYTES_A_CALL: Final = 1_000
"""More than what the allocator's ups and downs come to; a call that stays costs 7,000."""
FROZEN_IS_NOTICED: Final = 10.0
GOAWAY_BY: Final = 6.0
"""The stack sends one ping a second at most, and a server that counts them has had enough after 4.2 seconds."""
ATTACH: Final = pb.PlayRequest(attach=pb.Attach())


async def many(number: int, make: Callable[[int], Awaitable[None]], at_once: int = AT_ONCE) -> None:
    """Do it so many times, so many of them at once."""
    numbers = iter(range(number))

    async def work() -> None:
        for each in numbers:
            await make(each)

    await asyncio.gather(*(work() for _ in range(at_once)))


async def test_a_burst_of_new_streams_fails_in_none(tmp_path: Path) -> None:
    """The server runs by itself, so that the streams come faster than it takes them."""
    roomy = (
        *("--commands-per-second", "1000000", "--platform-calls-per-second", "1000000"),
        *("--streams-per-seat", "1000"),
    )
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(tmp_path, "--in-memory", *roomy))
        # As many connections as the streams need: channels with the same arguments would share one.
        speaking = [
            server.speaking(await stack.enter_async_context(grpc.aio.insecure_channel(server.address, options=OWN)))
            for _ in range(STREAMS // 1_000)
        ]
        served = speaking[0]
        tokens: list[str] = []

        async def open_room(_: int) -> None:
            tokens.extend((await seated(served.platform)).tokens)

        await many(STREAMS // 3, open_room)
        # Every one is open before the first is read.
        calls = [
            speaking[number % len(speaking)].seats.Play(metadata=bearer(token)) for number, token in enumerate(tokens)
        ]
        await asyncio.gather(*(call.write(ATTACH) for call in calls))
        first = await asyncio.gather(*(call.read() for call in calls), return_exceptions=True)
        failures = [repr(answer) for answer in first if not isinstance(answer, pb.PlayResponse)]
        assert len(first) == STREAMS
        assert failures == []
        assert all(answer.messages[0].snapshot.version for answer in first if isinstance(answer, pb.PlayResponse))
        for call in calls:
            call.cancel()


async def test_a_frozen_client_is_noticed(service: Service) -> None:
    table = await seated(service.platform)
    room = service.room(table.room_id)
    watching = RawSeat(service, table.tokens[1])
    await watching.attach()
    async with attached_elsewhere(f"127.0.0.1:{service.server.port}", table.tokens[0]) as client:
        await eventually(lambda: room.audience.present(Seat(0)))
        while (await watching.hear("presence")).presence.present[0] is False:
            pass
        client.send_signal(signal.SIGSTOP)
        frozen = monotonic()
        presence = (await watching.hear("presence")).presence.present
        assert monotonic() - frozen < FROZEN_IS_NOTICED
        assert list(presence) == [False, True, False]
        assert service.server.seats.streams == 1


async def test_a_killed_client_is_noticed_at_once(service: Service) -> None:
    table = await seated(service.platform)
    async with attached_elsewhere(f"127.0.0.1:{service.server.port}", table.tokens[0]) as client:
        await eventually(lambda: service.room(table.room_id).audience.present(Seat(0)))
        client.kill()
        await eventually(lambda: service.server.seats.streams == 0)
        assert not service.room(table.room_id).audience.present(Seat(0))


async def test_a_half_close_ends_the_call_with_ok(service: Service) -> None:
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[0])
    await stream.attach()
    await stream.call.done_writing()
    await stream.rest()
    assert stream.refused is None
    assert await stream.call.code() == grpc.StatusCode.OK
    assert not service.room(table.room_id).audience.present(Seat(0))


async def test_what_was_said_before_a_half_close_is_answered(service: Service) -> None:
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[0])
    await stream.say(ATTACH)
    for number in range(50):
        await stream.say(pb.PlayRequest(command_id=f"{number}", command=pb.Command()))
    await stream.call.done_writing()
    refused = [message.refused.command_id for message in await stream.rest() if message.HasField("refused")]
    assert refused == [f"{number}" for number in range(50)]


def abandoned(served: Served, table: Table) -> Sequence[Callable[[int], Awaitable[None]]]:
    """The ways in which a client may give a call up."""

    async def a_stream_in_use(number: int) -> None:
        call = served.seats.Play(metadata=table.metadata(number % 3))
        await call.write(ATTACH)
        await call.read()
        call.cancel()

    async def a_stream_before_attach(number: int) -> None:
        call = served.seats.Play(metadata=table.metadata(number % 3))
        # Calls of one connection are taken in order: once this one is answered, the stream before it is taken.
        await seen(served, table, number % 3)
        call.cancel()

    async def a_view(number: int) -> None:
        call = served.seats.GetView(pb.GetViewRequest(), metadata=table.metadata(number % 3))
        await asyncio.sleep(0)
        call.cancel()

    async def a_command(number: int) -> None:
        call = served.seats.Act(pb.ActRequest(command=pb.Command()), metadata=table.metadata(number % 3))
        await asyncio.sleep(0)
        call.cancel()

    async def a_watch(_: int) -> None:
        call = served.rooms.WatchRooms(room_service_pb2.WatchRoomsRequest(), metadata=bearer(served.key))
        await call.read()
        call.cancel()

    return (a_stream_in_use, a_stream_before_attach, a_view, a_command, a_watch)


async def test_no_task_and_no_stream_is_left_of_cancelled_calls(service: Service) -> None:
    table = await seated(service.platform)
    ways = abandoned(service, table)
    await many(50, ways[0])
    await eventually(lambda: service.server.seats.streams == 0)
    tasks = len(asyncio.all_tasks())
    await many(500, lambda number: ways[number % len(ways)](number))
    await eventually(lambda: service.server.seats.streams == 0 and len(asyncio.all_tasks()) <= tasks)
    assert service.room(table.room_id).audience.__len__() == 0
    gc.collect()
    left = [each for each in gc.get_objects() if type(each).__name__ in ("Attachment", "Outbox")]
    assert len(left) <= 3


async def test_nothing_grows_over_cancelled_calls(tmp_path: Path) -> None:
    roomy = (
        *("--commands-per-second", "1000000", "--platform-calls-per-second", "1000000"),
        *("--streams-per-seat", "1000"),
    )
    async with (
        serving(tmp_path, "--in-memory", *roomy) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        served = server.speaking(channel)
        table = await seated(served.platform)
        ways = abandoned(served, table)
        numbers = count()
        memory = psutil.Process(server.process.pid).memory_info

        async def cancel(_: int) -> None:
            number = next(numbers)
            await ways[number % len(ways)](number)

        await many(CALLS // 5, cancel)
        before = memory().rss
        await many(CALLS, cancel)
        assert memory().rss - before < BYTES_A_CALL * CALLS
        async with attached(served, table) as seats:
            await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))


async def test_a_client_may_ping_as_often_as_the_server(service: Service) -> None:
    """A server that thinks it too often says so with GOAWAY, and every stream of the connection is lost."""
    table = await seated(service.platform)
    options = (("grpc.keepalive_time_ms", 200), ("grpc.http2.max_pings_without_data", 0))
    async with SeatClient([service.address], table.tokens[0], options=options) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.until(lambda: client.connections > 1), GOAWAY_BY)
        assert client.connections == 1


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_reflection_lists_and_describes_both_services(service: Service, version: str) -> None:
    reflect: grpc.aio.StreamStreamMultiCallable[
        reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
    ] = service.channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        *(reflection_pb2.ServerReflectionRequest(file_containing_symbol=name) for name in SERVICES),
    ]
    listed, *described = [answer async for answer in reflect(iter(asked))]
    assert set(SERVICES) <= {each.name for each in listed.list_services_response.service}
    for name, answer in zip(SERVICES, described, strict=True):
        files = [FileDescriptorProto.FromString(file) for file in answer.file_descriptor_response.file_descriptor_proto]
        assert name in {f"{file.package}.{each.name}" for file in files for each in file.service}


async def test_health_is_told_for_each_service(service: Service) -> None:
    check: grpc.aio.UnaryUnaryMultiCallable[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]
    check = service.channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    for name in ("", *SERVICES):
        answer = await check(health_pb2.HealthCheckRequest(service=name))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
