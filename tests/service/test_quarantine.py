"""A room whose log cannot be followed is set apart: readable, disbandable, told of; and no other room notices."""

import logging
from pathlib import Path
from typing import Final

import grpc
import pytest
from erqiwang_core.calls import BidMade
from erqiwang_core.dealing import Shuffled
from erqiwang_core.rules import RULES_VERSION, Rules
from erqiwang_core.units import Points, Seat

from erqiwang_grpc import events as stored
from erqiwang_grpc.client import CallRefused, Platform, refusal_of
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.logs import JsonLines
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import Actor, Appended, Batch, RoomId, TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import bidding_pb2, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.tables import (
    RawSeat,
    Service,
    Table,
    act,
    attached,
    in_phase,
    play_all,
    seated,
    seen,
    served,
)

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
NOT_UNDERSTOOD: Final = {
    "an event that no rule allows": stored.write(BidMade(Seat(0), Points(70))),
    "bytes that are no event": b"\xff\xff",
}
"""What a mistaken version may have logged: a bid after the bidding is over, or something else altogether."""


async def with_a_broken_end(store: MemoryStore, service: Service, body: bytes) -> Table:
    """A table in play whose log goes on with something that cannot be followed, put away so that it must be replayed."""
    table = await seated(service.platform)
    async with attached(service, table) as seats:
        await play_all(seats, until=in_phase(view_pb2.PHASE_PLAYING))
    room = service.room(table.room_id)
    stands = SummaryWriter().write(room.state.standing)
    batch = Batch(TimeNs(1), Actor("seat 0 alice"), None, RULES_VERSION, (body,), stands)
    assert isinstance(await store.append(RoomId(table.room_id), room.version, batch), Appended)
    room.touched = float("-inf")
    assert service.kept.put_away() == 1
    return table


@pytest.mark.parametrize("body", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
async def test_a_room_that_cannot_be_followed(tmp_path: Path, body: bytes) -> None:
    store = MemoryStore()
    async with served(tmp_path, store=store) as service:
        platform = service.platform
        other = await seated(platform)
        table = await with_a_broken_end(store, service, body)
        room = await platform.room(table.room_id)
        assert (room.quarantined, room.state) == (True, room_pb2.ROOM_STATE_PLAYING)
        view = (await seen(service, table, 0)).view
        assert view.parts.progress.phase == view_pb2.PHASE_PLAYING, "it stands where it could still be followed"
        await nothing_but_the_end_is_taken(service, table, room.version)
        await act(service, other, 0, BID)
        assert not (await platform.room(other.room_id)).quarantined
        ended = await platform.disband_room(table.room_id)
        assert ended.room.state == room_pb2.ROOM_STATE_DISBANDED
        assert [list(deal.scores) for deal in ended.account.deals] == [[0, 0, 0]]
        assert await ends_told(platform) == [table.room_id]
        service.room(table.room_id).touched = float("-inf")
        service.kept.put_away()
        assert (await platform.room(table.room_id)).state == room_pb2.ROOM_STATE_DISBANDED


async def nothing_but_the_end_is_taken(service: Service, table: Table, version: int) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await act(service, table, 0, BID)
    refused = refusal_of(error.value)
    assert refused.reason == "ROOM_QUARANTINED"
    assert refused.refusal is not None
    assert refused.refusal.room_quarantined.version == version
    stream = RawSeat(service, table.tokens[0])
    await stream.attach()
    await stream.say(pb.PlayRequest(command=BID))
    assert (await stream.hear("refused")).refused.refusal.room_quarantined.version == version
    with pytest.raises(CallRefused) as of_the_platform:
        await service.platform.take_seat(table.room_id, "alice")
    assert of_the_platform.value.reason == "ROOM_QUARANTINED"


async def ends_told(platform: Platform) -> list[str]:
    """Of which rooms `WatchRooms` tells the end: it misses none, whatever stands in its log before."""
    await platform.disband_room((await platform.create_room("last")).room_id)
    ends: list[str] = []
    async for event in platform.watch():
        if event.HasField("match_settled"):
            ends.append(event.room_id)
            if (await platform.room(event.room_id)).owner == "last":
                return ends[:-1]
    return ends


async def test_an_unexpected_error_stays_in_its_room(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Here the shuffle of one room fails, as a broken rule would."""
    whole = seeded(1)
    deals = 0

    def shuffle(rules: Rules) -> Shuffled:
        nonlocal deals
        deals += 1
        if deals == 2:
            raise ArithmeticError("with cards in its text: [1, 2, 3]")
        return whole(rules)

    async with served(tmp_path, shuffle=shuffle) as service:
        platform = service.platform
        other = await seated(platform)
        room = await platform.create_room("alice")
        for player in ("alice", "bob"):
            await platform.take_seat(room.room_id, player)
        with caplog.at_level(logging.ERROR), pytest.raises(CallRefused) as refused:
            await platform.take_seat(room.room_id, "carol")
        assert refused.value.reason == "ROOM_QUARANTINED"
        (record,) = caplog.records
        assert record.message == "room quarantined"
        line = JsonLines().format(record)
        assert "ArithmeticError" in line
        assert "[1, 2, 3]" not in line, "an exception's text may hold cards"
        assert (await platform.room(room.room_id)).quarantined
        await act(service, other, 0, BID)
        assert (await platform.disband_room(room.room_id)).room.state == room_pb2.ROOM_STATE_DISBANDED
