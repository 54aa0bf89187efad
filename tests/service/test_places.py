"""Streams that are only held open: bounded in number, and none of them holds up the server's end."""

import asyncio
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final, TypeAlias

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from erqiwang_grpc.client import NotAttached, SeatClient
from tests.service.clocks import HandMonotonic
from tests.service.tables import PATIENCE, ROOMY, RawSeat, Service, eventually, seated, served


def watch(channel: grpc.aio.Channel) -> grpc.aio.UnaryStreamCall[bytes, health_pb2.HealthCheckResponse]:
    """Watch the server's health."""
    watching: grpc.aio.UnaryStreamMultiCallable[bytes, health_pb2.HealthCheckResponse] = channel.unary_stream(
        "/grpc.health.v1.Health/Watch", response_deserializer=health_pb2.HealthCheckResponse.FromString
    )
    return watching(b"")


Reflecting: TypeAlias = "grpc.aio.StreamStreamCall[bytes, reflection_pb2.ServerReflectionResponse]"


def reflect(channel: grpc.aio.Channel) -> Reflecting:
    """A stream of reflection."""
    reflecting: grpc.aio.StreamStreamMultiCallable[bytes, reflection_pb2.ServerReflectionResponse]
    reflecting = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    return reflecting()


def status(answer: object) -> int:
    """What a health watch says."""
    assert isinstance(answer, health_pb2.HealthCheckResponse), answer
    return answer.status


LIST: Final = reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString()


async def test_each_kind_is_bounded(tmp_path: Path) -> None:
    limits = replace(ROOMY, unattached=1, health_watchers=1, reflections=1)
    async with served(tmp_path, limits=limits) as service:
        table = await seated(service.platform)
        RawSeat(service, table.tokens[0])
        await eventually(lambda: service.server.seats.streams == 1)
        second = RawSeat(service, table.tokens[1])
        assert await second.rest() == []
        assert second.refused is not None
        assert second.refused.reason == "TOO_MANY_STREAMS"
        watching = watch(service.channel)
        assert status(await watching.read()) == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await watch(service.channel).read()
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        asking = reflect(service.channel)
        await asking.write(LIST)
        await asking.read()
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await reflect(service.channel).read()
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_stream_of_reflection_is_answered_at_a_pace_and_all_of_them_together_at_another(
    tmp_path: Path,
) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        first = reflect(service.channel)
        await asks(first, 41)
        await answers(first, 40)
        await eventually(lambda: clock.is_waited_for(1 / 20))
        clock.forward(1 / 20)
        await answers(first, 1)
        for _ in range(9):
            await another(service, 40)
        # So far 401 answers, and ten came back into the allowance of all while the first stream waited.
        await another(service, 9)
        late = reflect(service.channel)
        await asks(late, 1)
        await eventually(lambda: clock.is_waited_for(1 / 200))
        clock.forward(1 / 200)
        await answers(late, 1)


async def another(service: Service, number: int) -> None:
    """One more stream of reflection, which gets so many answers at once."""
    asking = reflect(service.channel)
    await asks(asking, number)
    await answers(asking, number)


async def asks(asking: Reflecting, number: int) -> None:
    for _ in range(number):
        await asking.write(LIST)


async def answers(asking: Reflecting, number: int) -> None:
    for _ in range(number):
        answer = await asyncio.wait_for(asking.read(), PATIENCE)
        assert isinstance(answer, reflection_pb2.ServerReflectionResponse), answer


async def test_none_holds_up_the_end(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        table = await seated(service.platform)
        late = RawSeat(service, table.tokens[0])
        await eventually(lambda: service.server.seats.streams == 1)
        watching = watch(service.channel)
        await watching.read()
        asking = reflect(service.channel)
        await asking.write(LIST)
        await asking.read()
        began = monotonic()
        await service.server.stop(grace=PATIENCE)
        assert monotonic() - began < PATIENCE / 2
        assert status(await watching.read()) == health_pb2.HealthCheckResponse.NOT_SERVING
        await late.rest()
        assert late.refused is not None
        assert late.refused.reason == "DRAINING"


async def test_a_client_that_waits_in_silence_gives_up(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, streams_per_connection=1)) as service:
        table = await seated(service.platform)
        async with service.client(table.tokens[0]):
            with pytest.raises(NotAttached, match=r"grpc\.use_local_subchannel_pool"):
                await SeatClient([service.address], table.tokens[1], attach_seconds=0.5).__aenter__()
