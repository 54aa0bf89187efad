"""A server that does not know whether a command stands: the client asks again under the command's id, and does not ask for ever."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final, final

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, Platform, SeatClient
from erqiwang_grpc.rooms.refusals import OutcomeUnknown, Refused, StoreUnavailable
from erqiwang_grpc.v1 import bidding_pb2, refusal_pb2, room_service_pb2, seat_service_pb2 as pb
from tests.client.clocks import Clock
from tests.client.scripted import Context, answering, playing, said, snapshot
from tests.service.tables import PATIENCE

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
UNKNOWN: Final = refusal_pb2.Refusal(outcome_unknown=refusal_pb2.Refusal.OutcomeUnknown())
FULL: Final = refusal_pb2.Refusal(store_unavailable=refusal_pb2.Refusal.StoreUnavailable())


@final
class Seat:
    """Answers each command as the next of a list says: with a refusal, or, with None, that it is accepted; then it may lose the stream."""

    def __init__(self, answers: Sequence[refusal_pb2.Refusal | None], *, loses: bool = False) -> None:
        self.ids: list[str] = []
        """The id of each command that came."""
        self._answers = answers
        self._loses = loses

    async def play(self, requests: AsyncIterator[pb.PlayRequest], context: Context) -> None:
        await anext(requests)
        await context.write(said(snapshot(1)))
        async for request in requests:
            if request.HasField("detach"):
                return
            refusal = self._answers[len(self.ids)]
            self.ids.append(request.command_id)
            if refusal is None:
                await context.write(said(pb.SeatMessage(accepted=pb.Accepted(command_id=request.command_id))))
            else:
                refused = pb.Refused(command_id=request.command_id, refusal=refusal)
                await context.write(said(pb.SeatMessage(refused=refused)))
                if self._loses:
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "the disk failed")


async def test_a_command_of_unknown_outcome_is_said_again_under_its_id() -> None:
    seat, clock = Seat([UNKNOWN, UNKNOWN, None]), Clock()
    async with (
        playing(seat.play) as (address, _),
        SeatClient([address], "token", timing=clock.timing) as client,
        asyncio.timeout(PATIENCE),
    ):
        acting = asyncio.create_task(client.act(BID, command_id="mine"))
        # The first wait is the heart's.
        for waits in (2, 3):
            await clock.asked_for(waits)
            assert len(seat.ids) == waits - 1, "not before the wait is over"
            clock.turn(3.0)
        assert isinstance(await acting, pb.Accepted)
        assert seat.ids == ["mine"] * 3
        assert clock.slept[1:3] == [3.0, 3.0]
        heard = [(await anext(client.messages())).WhichOneof("message") for _ in range(2)]
        assert heard == ["snapshot", "accepted"], "what is not settled yet is not told"


async def test_it_is_said_on_the_next_stream_where_the_server_has_left() -> None:
    """And once: the wait on the stream that was lost is over with it."""
    seat, clock = Seat([UNKNOWN, None], loses=True), Clock()
    async with (
        playing(seat.play) as (address, server),
        SeatClient([address], "token", timing=clock.timing) as client,
        asyncio.timeout(PATIENCE),
    ):
        acting = asyncio.create_task(client.act(BID, command_id="mine"))
        while not acting.done():
            clock.turn(1.0)
            await asyncio.sleep(0.01)
        assert isinstance(await acting, pb.Accepted)
        clock.turn(100.0)
        await asyncio.sleep(0.05)
        assert (seat.ids, server.streams) == (["mine"] * 2, 2)


async def test_the_fifth_answer_of_that_kind_is_the_callers() -> None:
    seat, clock = Seat([UNKNOWN] * 5 + [None]), Clock()
    async with (
        playing(seat.play) as (address, _),
        SeatClient([address], "token", timing=clock.timing) as client,
        asyncio.timeout(PATIENCE),
    ):
        acting = asyncio.create_task(client.act(BID, command_id="mine"))
        for waits in range(2, 6):
            await clock.asked_for(waits)
            clock.turn(3.0)
        answer = await acting
        assert isinstance(answer, pb.Refused)
        assert answer.refusal.HasField("outcome_unknown")
        assert len(seat.ids) == 5
        assert isinstance(await client.act(BID, command_id="mine"), pb.Accepted), "the caller may go on asking"


async def test_another_refusal_is_told_at_once() -> None:
    """Nothing was done: whether to try again is the caller's affair."""
    seat = Seat([FULL])
    async with (
        playing(seat.play) as (address, _),
        SeatClient([address], "token") as client,
        asyncio.timeout(PATIENCE),
    ):
        answer = await client.act(BID)
        assert isinstance(answer, pb.Refused)
        assert answer.refusal.HasField("store_unavailable")


@final
class Rooms:
    """Answers each call as the next of a list says."""

    def __init__(self, *answers: Refused | grpc.StatusCode | bytes) -> None:
        self.ids: list[str] = []
        self._answers = answers

    def answer(self, _: str, request: bytes) -> Refused | grpc.StatusCode | bytes:
        answer = self._answers[min(len(self.ids), len(self._answers) - 1)]
        self.ids.append(room_service_pb2.CreateRoomRequest.FromString(request).command_id)
        return answer


OPENED: Final = room_service_pb2.CreateRoomResponse().SerializeToString()


async def test_a_platforms_command_of_unknown_outcome_is_sent_again_until_the_server_is_back() -> None:
    rooms, clock = Rooms(OutcomeUnknown(), grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAVAILABLE, OPENED), Clock()
    async with (
        answering(rooms.answer) as address,
        Platform([address], "key", timing=clock.timing) as platform,
        asyncio.timeout(PATIENCE),
    ):
        opening = asyncio.create_task(platform.create_room("alice", command_id="mine"))
        for waits in range(1, 4):
            await clock.asked_for(waits)
            clock.turn(clock.slept[-1])
        assert (await opening).command_id == "mine"
    assert rooms.ids == ["mine"] * 4
    assert clock.slept == [3.0, 0.2, 0.4]


async def test_a_platforms_command_whose_server_ended_meanwhile_is_sent_again() -> None:
    """Of a process that ends with the call under way, the client is told CANCELLED and no more."""
    rooms, clock = Rooms(grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE, OPENED), Clock()
    async with (
        answering(rooms.answer) as address,
        Platform([address], "key", timing=clock.timing) as platform,
        asyncio.timeout(PATIENCE),
    ):
        opening = asyncio.create_task(platform.create_room("alice", command_id="mine"))
        for waits in range(1, 3):
            await clock.asked_for(waits)
            clock.turn(clock.slept[-1])
        assert (await opening).command_id == "mine"
    assert rooms.ids == ["mine"] * 3


async def test_a_platform_is_told_in_the_end_that_the_outcome_is_unknown() -> None:
    rooms, clock = Rooms(OutcomeUnknown(), grpc.StatusCode.UNAVAILABLE), Clock()
    async with (
        answering(rooms.answer) as address,
        Platform([address], "key", timing=clock.timing) as platform,
        asyncio.timeout(PATIENCE),
    ):
        opening = asyncio.create_task(platform.create_room("alice", command_id="mine"))
        while not opening.done():
            clock.turn(0.1)
            await asyncio.sleep(0.001)
        with pytest.raises(CallRefused) as refused:
            await opening
    assert (refused.value.reason, refused.value.command_id) == ("OUTCOME_UNKNOWN", "mine")
    assert sum(clock.slept) < 10.0, "no longer than the deadline"
    assert len(rooms.ids) == len(clock.slept) + 1


@pytest.mark.parametrize("refused", [StoreUnavailable(), grpc.StatusCode.UNAVAILABLE])
async def test_what_was_not_done_or_not_answered_is_the_callers_affair(refused: Refused | grpc.StatusCode) -> None:
    rooms = Rooms(refused)
    async with answering(rooms.answer) as address, Platform([address], "key") as platform:
        with pytest.raises(CallRefused):
            await platform.create_room("alice")
    assert len(rooms.ids) == 1
