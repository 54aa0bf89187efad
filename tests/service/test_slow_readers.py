"""A client that does not read delays nobody, costs a bounded outbox, and is given one snapshot when it reads again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import grpc
import pytest
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.state import LOOKED_BACK
from erqiwang_grpc.rpc.outbox import Outbox
from erqiwang_grpc.rpc.seat_stream import SeatStream
from erqiwang_grpc.rpc.wire.encode import Packed, packed
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.service.tables import (
    ROOMY,
    RawSeat,
    Service,
    Table,
    act,
    acting,
    eventually,
    in_phase,
    play,
    seated,
    seen,
    served,
    suggested,
)

OUTBOX: Final = 32
NARROW: Final = (
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 1024),
    ("grpc.use_local_subchannel_pool", 1),
)
"""A connection that takes next to nothing from a server as long as nobody reads."""
SETTLED: Final = in_phase(view_pb2.PHASE_SETTLED)


@asynccontextmanager
async def unread(service: Service, table: Table, seat: int) -> AsyncIterator[RawSeat]:
    """A stream that has attached and reads nothing."""
    address = f"127.0.0.1:{service.server.port}"
    async with grpc.aio.insecure_channel(address, options=NARROW) as channel:
        stream = RawSeat(replace(service, channel=channel), table.tokens[seat])
        await stream.say(pb.PlayRequest(attach=pb.Attach()))
        await eventually(lambda: service.room(table.room_id).audience.present(Seat(seat)))
        yield stream
        stream.call.cancel()


def outbox_of(service: Service, table: Table, seat: int) -> Outbox:
    listener = next(each.listener for each in service.room(table.room_id).audience if each.seat == seat)
    assert isinstance(listener, SeatStream)
    return listener.outbox


async def act_until_settled(service: Service, table: Table, seat: int) -> None:
    """Play a seat by single calls."""
    while not SETTLED((snapshot := await seen(service, table, seat)).view):
        command = suggested(snapshot.view)
        if command is not None:
            await act(service, table, seat, command)


async def test_a_deal_beside_a_seat_whose_stream_is_never_read(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, outbox=OUTBOX)) as service, AsyncExitStack() as stack:
        table = await seated(service.platform)
        slow = await stack.enter_async_context(unread(service, table, 2))
        outbox = outbox_of(service, table, 2)
        others = [await stack.enter_async_context(service.client(token)) for token in table.tokens[:2]]
        await asyncio.gather(
            *(play(seat, until=SETTLED) for seat in others),
            act_until_settled(service, table, 2),
        )
        assert [seat.connections for seat in others] == [1, 1], "nobody else lost a notice"
        assert outbox.resyncs == 1, "it was emptied once, and then nothing was kept"
        await assert_one_snapshot(service, table, slow)


async def assert_one_snapshot(service: Service, table: Table, slow: RawSeat) -> None:
    """What was written before comes first, without a gap; one snapshot stands for all the rest."""
    version = (await slow.hear("snapshot")).snapshot.version
    while not (message := await slow.next()) or not message.HasField("snapshot"):
        assert message is not None
        if message.HasField("notice"):
            assert message.notice.version == version + 1
            version += 1
    assert message.snapshot == await seen(service, table, 2, version), "with what happened after what was taken last"
    assert len(message.snapshot.missed) == LOOKED_BACK
    assert message.snapshot.version > version + OUTBOX
    turn = await acting(service, table)
    assert turn is not None
    accepted = (await act(service, table, *turn)).accepted
    assert (await slow.hear("notice")).notice.version == accepted.first_version


async def fill(stream: RawSeat, outbox: Outbox) -> None:
    """Ask for more than the stream takes, until its outbox has overflowed."""
    while not outbox.resyncs:
        await stream.say(pb.PlayRequest(attach=pb.Attach()))


async def test_who_left_while_a_client_did_not_read_is_shown_absent_to_it(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, outbox=OUTBOX)) as service:
        table = await seated(service.platform)
        other = RawSeat(service, table.tokens[0])
        await other.attach()
        async with unread(service, table, 2) as slow:
            outbox = outbox_of(service, table, 2)
            await fill(slow, outbox)
            await other.say(pb.PlayRequest(detach=pb.Detach()))
            await other.rest()
            await eventually(lambda: not service.room(table.room_id).audience.present(Seat(0)))
            told = [(await slow.hear("presence")).presence.present for _ in "12"]
            assert [list(present) for present in told] == [[True, False, True], [False, False, True]]


async def test_a_displaced_stream_has_no_say_though_it_has_not_read_its_end(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, outbox=OUTBOX)) as service:
        table = await seated(service.platform)
        turn = await acting(service, table)
        assert turn is not None
        seat, command = turn
        async with unread(service, table, seat) as old:
            await fill(old, outbox_of(service, table, seat))
            new = RawSeat(service, table.tokens[seat])
            before = await new.attach()
            await old.say(pb.PlayRequest(command_id="late", command=command))
            await new.say(pb.PlayRequest(command_id="mine", command=command))
            accepted = (await new.hear("accepted")).accepted
            assert (accepted.command_id, accepted.first_version) == ("mine", before.version + 1)
            rest = await old.rest()
            assert rest[-1].goodbye.reason == pb.Goodbye.REASON_DISPLACED, "told last, whatever was thrown away"
            assert not any(message.HasField("accepted") for message in rest)
            assert old.refused is not None
            assert old.refused.reason == "DISPLACED"


async def taken(outbox: Outbox) -> list[pb.SeatMessage]:
    """What the writer of a stream writes now."""
    return list(pb.PlayResponse.FromString(await outbox.take()).messages)


async def test_a_full_outbox_keeps_nothing_but_the_last_word() -> None:
    snapshot = pb.SeatMessage(snapshot=pb.Snapshot(version=9))
    goodbye = pb.SeatMessage(goodbye=pb.Goodbye())
    outbox = Outbox(2, lambda _: (packed(snapshot),))
    for version in range(1, 6):
        outbox.put(packed(pb.SeatMessage(heartbeat=pb.Heartbeat(version=version))))
    outbox.close(Closing.DISPLACED, packed(goodbye))
    outbox.put(packed(pb.SeatMessage(heartbeat=pb.Heartbeat(version=6))))
    outbox.close(Closing.DETACHED)
    assert await taken(outbox) == [snapshot, goodbye]
    assert not await outbox.take()
    assert outbox.closing is Closing.DISPLACED


@pytest.mark.parametrize("named", [None, 0, 3])
async def test_a_resync_tells_what_happened_since_the_last_version_that_was_taken(named: int | None) -> None:
    asked: list[int | None] = []

    def afresh(since: int | None) -> tuple[Packed, ...]:
        asked.append(since)
        return (packed(pb.SeatMessage(snapshot=pb.Snapshot(version=8))),)

    def overflow() -> None:
        for _ in range(3):
            outbox.put(packed(pb.SeatMessage(notice=pb.Notice(version=99))))

    outbox = Outbox(2, afresh, named)
    overflow()
    await outbox.take()
    assert asked == [named], "nothing was taken yet: what the client has seen is what it said itself"
    overflow()
    await outbox.take()
    assert asked[1:] == [8], "the snapshot was"
    for message in (pb.SeatMessage(notice=pb.Notice(version=9)), pb.SeatMessage(presence=pb.Presence())):
        outbox.put(packed(message))
    await outbox.take()
    overflow()
    await outbox.take()
    assert asked[2:] == [9], "the notice was, and what has no version changes nothing"
    for version in (10, 11):
        outbox.put(packed(pb.SeatMessage(notice=pb.Notice(version=version))))
    await outbox.take()
    overflow()
    outbox.close(Closing.DRAINING)
    assert asked[3:] == [11], "the last of several"


CLOSINGS: Final = [closing for closing in Closing if closing is not Closing.UNSEATED]


@pytest.mark.parametrize("closing", CLOSINGS)
async def test_who_reads_after_the_end_is_told_what_was_true_at_the_end(closing: Closing) -> None:
    """Whoever takes the seat after that has cards of their own."""
    version = 1
    outbox = Outbox(1, lambda _: (packed(pb.SeatMessage(snapshot=pb.Snapshot(version=version))),))
    for _ in range(3):
        outbox.put(packed(pb.SeatMessage(heartbeat=pb.Heartbeat())))
    outbox.close(closing)
    version = 2
    assert [message.snapshot.version for message in await taken(outbox)] == [1]
    assert not await outbox.take()


async def test_who_was_unseated_is_told_nothing_of_what_the_seat_sees_now() -> None:
    goodbye = pb.SeatMessage(goodbye=pb.Goodbye(reason=pb.Goodbye.REASON_UNSEATED))
    outbox = Outbox(1, lambda _: (packed(pb.SeatMessage(snapshot=pb.Snapshot())),))
    for _ in range(3):
        outbox.put(packed(pb.SeatMessage(heartbeat=pb.Heartbeat())))
    outbox.close(Closing.UNSEATED, packed(goodbye))
    assert await taken(outbox) == [goodbye]


async def test_a_seat_that_was_given_away_shows_its_next_player_to_nobody_else(tmp_path: Path) -> None:
    """A stream that was not read, displaced or not, is read once another sits there and the cards are dealt."""
    async with served(tmp_path, limits=replace(ROOMY, outbox=OUTBOX)) as service:
        room = await service.platform.create_room("alice")
        taken = [await service.platform.take_seat(room.room_id, player) for player in ("alice", "bob")]
        table = Table(room.room_id, tuple(seat.token for seat in taken))
        async with unread(service, table, 0) as displaced, unread(service, table, 1) as left:
            await fill(displaced, outbox_of(service, table, 0))
            await fill(left, outbox_of(service, table, 1))
            async with service.client(table.tokens[0]):
                await eventually(lambda: len(service.room(room.room_id).audience) == 2)
            for seat in (0, 1):
                await service.platform.leave_seat(room.room_id, seat)
            for player in ("carol", "dora", "eve"):
                await service.platform.take_seat(room.room_id, player)
            for stream in (displaced, left):
                told = await stream.rest()
                views = [message.snapshot.view for message in told if message.HasField("snapshot")]
                assert views
                assert not any(view.parts.hand.cards for view in views)
