"""Waits and heartbeats, just before and just after each border, by a clock that the test turns."""

import asyncio
from collections.abc import AsyncIterator
from itertools import repeat

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.client import SeatClient, Timing
from erqiwang_grpc.client.timing import LONGEST_WAIT, BackOff, Heart
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.client.clocks import Clock
from tests.client.scripted import Context, attached, playing, said, snapshot
from tests.client.test_endings import refusing
from tests.service.tables import PATIENCE, eventually


def test_waits_double_up_to_five_seconds_and_begin_again_after_a_success() -> None:
    longest = BackOff(Timing(between=lambda _, most: most))
    assert [longest.wait(None) for _ in range(9)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
    longest.begin_again()
    assert longest.wait(None) == 0.1


def test_the_shortest_wait_is_half_the_longest() -> None:
    shortest = BackOff(Timing(between=lambda least, _: least))
    assert [shortest.wait(None) for _ in range(8)] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.5, 2.5]


def test_a_client_that_has_failed_for_a_week_still_waits_five_seconds() -> None:
    back_off = BackOff(Timing(between=lambda _, most: most))
    assert [back_off.wait(None) for _ in repeat(None, 200_000)][-1] == 5.0


def test_nobody_comes_back_before_the_delay_the_server_asked_for_and_not_all_at_once() -> None:
    assert BackOff(Timing(between=lambda least, _: least)).wait(2.0) == 2.0
    assert BackOff(Timing(between=lambda _, most: most)).wait(2.0) == 3.0
    waits = {BackOff(Timing()).wait(2.0) for _ in range(50)}
    assert len(waits) > 40
    assert all(2.0 <= wait <= 3.0 for wait in waits)


def test_a_short_delay_does_not_shorten_the_wait() -> None:
    back_off = BackOff(Timing(between=lambda least, _: least))
    assert [back_off.wait(0.01) for _ in range(4)] == [0.05, 0.1, 0.2, 0.4]


async def test_a_heartbeat_is_due_twenty_seconds_after_the_last_word() -> None:
    clock = Clock()
    heart = Heart(clock.timing)
    due = asyncio.create_task(heart.due())
    await clock.asked_for(1)
    clock.turn(19.0)
    heart.spoken()
    clock.turn(1.0)
    await clock.asked_for(2)
    assert clock.slept == [20.0, 19.0]
    clock.turn(18.9)
    await asyncio.sleep(0)
    assert not due.done()
    clock.turn(0.1)
    async with asyncio.timeout(PATIENCE):
        await due


async def test_a_client_knows_the_servers_clock_from_the_last_message_that_told_it() -> None:
    """Its own wall clock is not asked; a clock that never steps back counts on in between."""
    clock, told = Clock(), asyncio.Event()

    async def telling(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        await context.write(said(pb.SeatMessage(snapshot=pb.Snapshot(version=1, server_time=Timestamp(seconds=1_000)))))
        await told.wait()
        await context.write(said(pb.SeatMessage(heartbeat=pb.Heartbeat(server_time=Timestamp(seconds=5_000)))))
        async for request in requests:
            if request.HasField("detach"):
                return

    async with (
        playing(telling) as (address, _),
        SeatClient([address], "token", timing=clock.timing) as client,
        asyncio.timeout(PATIENCE),
    ):
        assert client.server_time_ns == 1_000_000_000_000
        clock.turn(2.5)
        assert client.server_time_ns == 1_002_500_000_000
        told.set()
        assert [(await anext(client.messages())).WhichOneof("message") for _ in range(2)] == ["snapshot", "heartbeat"]
        assert client.server_time_ns == 5_000_000_000_000
        clock.turn(1.0)
        assert client.server_time_ns == 5_001_000_000_000


async def test_a_client_that_says_nothing_is_heard_of_every_twenty_seconds() -> None:
    clock, beats = Clock(), asyncio.Queue[bool]()

    async def listening(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        await context.write(said(snapshot(1)))
        async for request in requests:
            beats.put_nowait(request.HasField("heartbeat"))
            if request.HasField("detach"):
                return

    async with (
        playing(listening) as (address, _),
        SeatClient([address], "token", timing=clock.timing),
        asyncio.timeout(PATIENCE),
    ):
        for beat in range(1, 4):
            await clock.asked_for(beat)
            assert beats.empty()
            clock.turn(20.0)
            assert await beats.get()
    assert clock.slept[:3] == [20.0, 20.0, 20.0]


async def test_a_server_that_is_gone_is_tried_less_and_less_often() -> None:
    clock = Clock()
    refused = refusing(grpc.StatusCode.UNAVAILABLE)
    async with playing(refused, refused, refused, attached) as (address, server), asyncio.timeout(PATIENCE):
        entering = asyncio.create_task(SeatClient([address], "token", timing=clock.timing).__aenter__())
        for tries, wait in enumerate((0.1, 0.2, 0.4), start=1):
            await clock.asked_for(tries)
            assert (server.streams, clock.slept[-1]) == (tries, wait)
            clock.turn(wait)
        client = await entering
        assert client.connections == 1
        await client.__aexit__(None, None, None)


async def test_after_a_stream_that_has_begun_the_waits_begin_again() -> None:
    clock = Clock()

    async def lost(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        await context.write(said(snapshot(1)))
        await context.abort(grpc.StatusCode.UNAVAILABLE, "lost")

    def waits() -> list[float]:
        # The heart's own are longer than any of these.
        return [seconds for seconds in clock.slept if seconds <= LONGEST_WAIT]

    refused = refusing(grpc.StatusCode.UNAVAILABLE)
    expected = [0.1, 0.2, 0.1, 0.1, 0.2, 0.1]
    async with playing(refused, refused, lost, lost, refused, lost, attached) as (address, _):
        entering = asyncio.create_task(SeatClient([address], "token", timing=clock.timing).__aenter__())
        for number in range(1, len(expected) + 1):
            await eventually(lambda: waits() == expected[:number])  # noqa: B023  # it is done before the next turn
            clock.turn(waits()[-1])
        client = await entering
        async with asyncio.timeout(PATIENCE):
            await client.until(lambda: client.connections == 4)
        await client.__aexit__(None, None, None)


@pytest.mark.parametrize("delay", [1.5, 0.25])
async def test_a_server_that_leaves_says_when_to_come_back(delay: float) -> None:
    clock, wanted = Clock(), Duration()
    wanted.FromMilliseconds(int(1000 * delay))

    async def leaving(requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        goodbye = pb.Goodbye(reason=pb.Goodbye.REASON_DRAINING, retry_delay=wanted)
        await context.write(said(snapshot(1), pb.SeatMessage(goodbye=goodbye)))

    async with (
        playing(leaving, attached) as (address, server),
        SeatClient([address], "token", timing=clock.timing) as client,
        asyncio.timeout(PATIENCE),
    ):
        await clock.asked_for(1)
        # The heart may have asked for its 20 seconds before the goodbye was read.
        assert 1.5 * delay in clock.slept
        assert server.streams == 1
        clock.turn(1.5 * delay)
        await client.until(lambda: client.connections == 2)
