"""Two and three nodes as real processes on a real database: what their clients see of each other, and of a node that goes."""

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Final

import grpc
import pytest

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.store.postgres import Address
from erqiwang_grpc.testing import in_phase, is_over, play_all, seated
from erqiwang_grpc.v1 import playing_pb2, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.store.postgres.processes import clients, platform_of, serving

PATIENCE: Final = 60.0
MOST_SECONDS: Final = 2.0
"""Most seconds that a client may be without a stream when its node was killed."""
FOUR: Final = room_pb2.RoomOptions(four_player=room_pb2.FourPlayerGame())


async def until(seats: list[SeatClient], condition: Callable[[SeatClient], bool]) -> None:
    """Wait until a condition holds for every one of the seats."""
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(seat.until(partial(condition, seat)) for seat in seats))
    assert [seat.ended for seat in seats] == [None] * len(seats)


def signals(heard: list[pb.SeatMessage]) -> list[playing_pb2.SignalReceived]:
    return [message.signal_received for message in heard if message.HasField("signal_received")]


async def listen(seat: SeatClient, heard: list[pb.SeatMessage]) -> None:
    async for message in seat.messages():
        heard.append(message)  # noqa: PERF401  # each as it comes


@pytest.mark.parametrize("count", [2, 3])
async def test_presence_signals_and_displacement_cross_from_node_to_node(
    database: Address, tmp_path: Path, count: int
) -> None:
    async with serving(database, tmp_path, count) as nodes, platform_of(nodes) as platform:
        table = await seated(platform, FOUR)
        async with clients(nodes, table) as seats:
            await until(seats, lambda seat: seat.present == (True,) * 4)
            for node in nodes:
                async with platform_of([node]) as other:
                    assert all(each.present for each in (await other.room(table.room_id)).seats)
                    (listed,) = await other.rooms()
                    assert all(each.present for each in listed.seats)
            async with asyncio.timeout(PATIENCE):
                await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))
            declarer = seats[0].view.parts.contract.declarer
            heard: list[list[pb.SeatMessage]] = [[] for _ in seats]
            listening = [asyncio.create_task(listen(*each)) for each in zip(seats, heard, strict=True)]
            sender = (declarer + 1) % 4
            seats[sender].signal(playing_pb2.SIGNAL_KIND_NO_POINTS)
            others = {0, 1, 2, 3} - {declarer, sender}
            async with asyncio.timeout(PATIENCE):
                while not all(signals(heard[seat]) for seat in others):  # noqa: ASYNC110  # three lists ring no bell
                    await asyncio.sleep(0.01)
            given = playing_pb2.SignalReceived(seat=sender, signal=playing_pb2.SIGNAL_KIND_NO_POINTS)
            assert [signals(each) for each in heard] == [[given] if seat in others else [] for seat in range(4)]
            async with SeatClient([nodes[1].address], table.tokens[0]) as newer:
                await seats[0].until(lambda: False)
                assert seats[0].ended is not None
                assert seats[0].ended.code == grpc.StatusCode.ABORTED
                assert newer.present == (True,) * 4
                async with asyncio.timeout(PATIENCE):
                    await play_all([newer, *seats[1:]], until=in_phase(view_pb2.PHASE_SETTLED))
            await until(seats[1:], lambda seat: seat.present == (False, True, True, True))
            for each in listening:
                each.cancel()
        for number in range(count):
            assert nodes[number].said("room quarantined") + nodes[number].said("call failed") == 0


async def test_a_node_that_is_killed_costs_its_clients_a_short_reconnect_and_nothing_else(
    database: Address, tmp_path: Path
) -> None:
    async with serving(database, tmp_path, 3) as nodes, platform_of(nodes) as platform:
        table = await seated(platform)
        async with clients(nodes, table) as seats:
            playing = asyncio.create_task(play_all(seats, until=is_over))
            await until(seats, lambda seat: in_phase(view_pb2.PHASE_PLAYING)(seat.view))
            waits = []
            for killed in (0, 1):
                before = [seat.connections for seat in seats]
                hit = [seat for seat in seats if seat._servers.address == nodes[killed].address]  # who is there
                assert hit
                began = monotonic()
                await nodes[killed].kill()
                for seat in hit:
                    await until([seat], lambda seat: seat.connections > before[seats.index(seat)])  # noqa: B023  # awaited here
                    waits.append(monotonic() - began)
                untouched = [seat for seat in seats if seat not in hit]
                assert [seat.connections for seat in untouched] == [before[seats.index(seat)] for seat in untouched]
                # The platform asks the node that is gone first, and gets its answer from another.
                assert (await platform.room(table.room_id)).room_id == table.room_id
            async with asyncio.timeout(2 * PATIENCE):
                await playing
            assert len({seat.view.parts.progress.SerializeToString() for seat in seats}) == 1
        print("seconds without a stream, by client:", ", ".join(f"{wait:.2f}" for wait in waits))
        assert max(waits) < MOST_SECONDS


async def test_a_node_that_drains_sends_its_clients_and_its_platform_to_the_next(
    database: Address, tmp_path: Path
) -> None:
    async with serving(database, tmp_path, 2) as nodes, platform_of(nodes) as platform:
        table = await seated(platform)
        watching = platform.watch()
        assert (await anext(watching)).room_id == table.room_id
        async with clients(nodes, table) as seats:
            playing = asyncio.create_task(play_all(seats, until=is_over))
            await until(seats, lambda seat: in_phase(view_pb2.PHASE_PLAYING)(seat.view))
            assert await nodes[0].stop() == 0
            async with asyncio.timeout(2 * PATIENCE):
                await playing
            assert [seat.ended for seat in seats] == [None] * 3
            await until(seats, lambda seat: seat.present == (True,) * 3)
        events = []
        async with asyncio.timeout(PATIENCE):
            async for event in watching:
                events.append(event.WhichOneof("event"))
                if events[-1] == "match_settled":
                    break
        assert events.count("deal_settled") == 6


async def test_a_node_that_is_frozen_is_left_after_a_while(database: Address, tmp_path: Path) -> None:
    async with serving(database, tmp_path, 2) as nodes, platform_of(nodes) as platform:
        table = await seated(platform)
        async with clients(nodes, table) as seats:
            await until(seats, lambda seat: seat.present == (True,) * 3)
            os.kill(nodes[0].process.pid, signal.SIGSTOP)
            try:
                began = monotonic()
                await until([seats[0]], lambda seat: seat.connections == 2)
                print(f"a frozen node was left after {monotonic() - began:.0f} seconds")
                await until([seats[0], seats[1]], lambda seat: seat.present[:2] == (True, True))
            finally:
                os.kill(nodes[0].process.pid, signal.SIGCONT)
            # It wakes up, and hears that its streams are not the newest.
            async with asyncio.timeout(2 * PATIENCE):
                await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED))
            assert [seat.ended for seat in seats] == [None] * 3
