"""A caller always learns the id of a command that was not answered: when it gives up waiting, and when the stream ends for good."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final, final

import pytest

from erqiwang_grpc.client import Ended, SeatClient, Unanswered
from erqiwang_grpc.v1 import bidding_pb2, seat_service_pb2 as pb
from tests.client.scripted import Context, goodbye, playing, said, snapshot
from tests.service.tables import PATIENCE, eventually

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
PASS: Final = pb.Command(pass_bid=bidding_pb2.PassBid())


@final
class Seat:
    """Takes commands and answers none of them until it is told to, or parts after so many of them."""

    def __init__(self, *, parts_after: int | None = None) -> None:
        self.ids: list[str] = []
        """The id of each command that came."""
        self.answers = asyncio.Event()
        self._parts_after = parts_after

    async def play(self, requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        await context.write(said(snapshot(1)))
        async for request in requests:
            if request.HasField("detach"):
                return
            self.ids.append(request.command_id)
            if len(self.ids) == self._parts_after:
                await context.write(said(goodbye(pb.Goodbye.REASON_DISPLACED)))
                return
            if self._parts_after is None:
                await self.answers.wait()
                await context.write(said(pb.SeatMessage(accepted=pb.Accepted(command_id=request.command_id))))


async def test_a_caller_that_gave_up_is_told_the_id_and_may_ask_again() -> None:
    seat = Seat()
    async with (
        playing(seat.play) as (address, _),
        SeatClient([address], "token") as client,
        asyncio.timeout(PATIENCE),
    ):
        assert not client.unanswered
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.act(BID, 7), 0.1)
        (left,) = client.unanswered
        assert (left.command, left.expected_version) == (BID, 7)
        again = asyncio.create_task(client.act(left.command, left.expected_version, left.command_id))
        await eventually(lambda: len(seat.ids) > 0)
        seat.answers.set()
        answer = await again
        assert isinstance(answer, pb.Accepted)
        assert seat.ids == [left.command_id] == [answer.command_id]
        assert not client.unanswered, "it is answered"


async def test_the_end_of_a_stream_names_every_command_without_an_answer() -> None:
    seat = Seat(parts_after=2)
    async with (
        playing(seat.play) as (address, _),
        SeatClient([address], "token") as client,
        asyncio.timeout(PATIENCE),
    ):
        ends = await asyncio.gather(client.act(BID, 0), client.act(PASS))
        assert client.ended is not None
        assert set(map(id, ends)) == {id(client.ended)}
        assert client.ended.unanswered == client.unanswered
        assert client.unanswered == (Unanswered(seat.ids[0], BID, 0), Unanswered(seat.ids[1], PASS, None))
        late = await client.act(BID)
        assert isinstance(late, Ended)
        assert late.unanswered == client.ended.unanswered, "what is asked after the end is not sent"


async def test_who_leaves_is_told_of_them_too() -> None:
    seat = Seat(parts_after=9)
    async with playing(seat.play) as (address, _), asyncio.timeout(PATIENCE):
        async with SeatClient([address], "token") as client:
            acting = asyncio.create_task(client.act(BID))
            await eventually(lambda: len(seat.ids) > 0)
        ended = await acting
        assert isinstance(ended, Ended)
        assert [left.command_id for left in ended.unanswered] == seat.ids
