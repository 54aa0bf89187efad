"""A socket that does not read: it is sent a snapshot later, holds bounded memory, and delays nobody."""

import asyncio
from dataclasses import replace

import pytest

from erqiwang_grpc.edge.closes import NORMAL
from erqiwang_grpc.edge.outbox import Outbox
from erqiwang_grpc.edge.settings import Limits
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.edge.sockets import SUBPROTOCOLS, PlayerSocket, ServedEdge, edge_of
from tests.service.tables import PATIENCE, Service, eventually, seated, seen, step

TIGHT = Limits(messages_per_second=1_000_000, outbox_messages=8, system_bytes=8 * 1024, token_seconds=60)


def reads(player: PlayerSocket, is_so: bool) -> None:
    """Let the client read its connection, or not."""
    connection = player.socket._conn  # a client cannot ask for it in any other way
    assert connection is not None
    transport = connection.transport
    assert isinstance(transport, asyncio.Transport)
    if is_so:
        transport.resume_reading()
    else:
        transport.pause_reading()


async def clog(edge: ServedEdge, player: PlayerSocket) -> None:
    """Ask for snapshots and read none, until the edge can write no more."""
    (socket,) = edge.edge.sockets
    reads(player, False)

    async def ask() -> None:
        while True:
            await player.say(pb.PlayRequest(attach=pb.Attach()))
            await asyncio.sleep(0)

    asking = asyncio.create_task(ask())
    written, unchanged = 0, 0
    async with asyncio.timeout(2 * PATIENCE):
        while unchanged < 10:
            await asyncio.sleep(0.05)
            is_clogged = socket.outbox.is_crowded and edge.edge.counters.frames_out == written
            written, unchanged = edge.edge.counters.frames_out, unchanged + 1 if is_clogged else 0
    asking.cancel()
    await asyncio.wait([asking])


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_player_who_does_not_read_delays_nobody_and_gets_a_snapshot_later(
    service: Service, subprotocol: str
) -> None:
    table = await seated(service.platform)
    async with edge_of(service, limits=TIGHT) as edge, edge.player(table.tokens[0], subprotocol) as slow:
        await slow.hear("presence")
        await clog(edge, slow)
        async with edge.player(table.tokens[1], subprotocol) as other:
            await other.hear("presence")
            while not edge.edge.counters.resyncs:
                version = (await step(service, table)).last_version
                while other.folded.version < version:
                    await other.receive()
        reads(slow, True)
        now = await seen(service, table, 0)
        while slow.folded.version < now.version:
            assert await slow.receive()
        assert (slow.folded.view, slow.folded.version) == (now.view, now.version)
        versions = [message.notice.version for message in slow.heard if message.HasField("notice")]
        assert versions == sorted(set(versions)), "none is told twice"


async def test_a_player_who_never_reads_is_cut_in_the_end(service: Service) -> None:
    table = await seated(service.platform)
    async with edge_of(service, limits=replace(TIGHT, idle_seconds=1.0)) as edge, edge.player(table.tokens[0]) as slow:
        await slow.hear("presence")
        await clog(edge, slow)
        await eventually(lambda: not edge.edge.sockets)
        assert edge.edge.counters.idle == 1


async def test_a_player_who_says_nothing_and_reads_late_gets_a_snapshot(service: Service) -> None:
    """The writer is in the middle of a frame when all that waits is dropped, and nothing else wakes it afterwards."""
    table = await seated(service.platform)
    async with edge_of(service, limits=TIGHT) as edge, edge.player(table.tokens[0]) as slow:
        await slow.hear("presence")
        (socket,) = edge.edge.sockets
        reads(slow, False)
        big = pb.SeatMessage(refused=pb.Refused(command_id="x" * 10_000))
        (seat,) = edge.edge.seats._seats.values()
        counters = edge.edge.counters
        dropped, written, unchanged = 0, 0, 0
        async with asyncio.timeout(PATIENCE):
            # Until the last message was dropped, while the writer had been stuck for a while.
            while unchanged < 10 or counters.resyncs == dropped:
                unchanged = unchanged + 1 if counters.frames_out == written else 0
                dropped, written = counters.resyncs, counters.frames_out
                seat.ear.hear([big])
                await asyncio.sleep(0.02)
        await step(service, table)
        now = await seen(service, table, 0)
        reads(slow, True)
        while slow.folded.version < now.version:
            assert await slow.receive()
        assert (slow.folded.view, socket.outbox.is_crowded) == (now.view, False)


async def test_an_outbox_beyond_a_bound_drops_what_waits_and_says_so_after_what_came_later() -> None:
    by_number, by_size = Outbox(2, 1_000), Outbox(100, 10)
    assert [by_number.put(b"a") for _ in range(3)] == [True, True, False]
    assert [by_size.put(b"12345") for _ in range(3)] == [True, True, False]
    for outbox in (by_number, by_size):
        outbox.put(b"after")
        assert await outbox.take() == [b"after"]
        assert await outbox.take() == [], "it was dropped before"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await outbox.take()
        outbox.close(NORMAL)
        assert outbox.put(b"late")
        assert (await outbox.take(), outbox.closing) == ([], NORMAL)


async def test_one_message_beyond_the_bound_in_bytes_is_taken_alone() -> None:
    outbox = Outbox(2, 10)
    assert outbox.put(b"x" * 100)
    assert await outbox.take() == [b"x" * 100]
