"""The outbox of a gateway, and how work is begun without a task."""

import asyncio

import pytest

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rpc.gateway.eager import begin
from erqiwang_grpc.rpc.gateway.outbox import Outbox, SeatBox
from erqiwang_grpc.rpc.wire.encode import Packed, packed
from erqiwang_grpc.v1 import gateway_service_pb2 as gateway_pb, seat_service_pb2 as pb


def beat(version: int) -> Packed:
    return packed(pb.SeatMessage(heartbeat=pb.Heartbeat(version=version)))


def notice(version: int) -> Packed:
    return packed(pb.SeatMessage(notice=pb.Notice(version=version)))


async def taken(outbox: Outbox) -> dict[int, list[pb.SeatMessage]]:
    """What the writer takes at once, by handle."""
    response = gateway_pb.ConnectResponse.FromString(await outbox.take())
    assert len({told.handle for told in response.seats}) == len(response.seats), "a seat stands once in a response"
    return {told.handle: list(told.messages) for told in response.seats}


def box(handle: int, asked: list[int | None] | None = None) -> SeatBox:
    """A box whose resync is a snapshot at version 99; notes from where it was asked for."""

    def afresh(since: int | None) -> tuple[Packed, ...]:
        if asked is not None:
            asked.append(since)
        return (packed(pb.SeatMessage(snapshot=pb.Snapshot(version=99))),)

    return SeatBox(handle, afresh, None)


async def test_what_waits_comes_in_the_order_of_each_seat_and_in_turns() -> None:
    outbox, first, second = Outbox(10_000, 10), box(1), box(2)
    for version in (1, 2):
        outbox.put(first, notice(version))
        outbox.put(second, notice(version + 10))
    told = await taken(outbox)
    assert list(told) == [1, 2]
    assert [[message.notice.version for message in messages] for messages in told.values()] == [[1, 2], [11, 12]]
    assert outbox.waiting == 0


async def test_the_seat_whose_message_has_no_room_falls_behind_and_makes_room_for_others() -> None:
    asked: list[int | None] = []
    large, small = box(1, asked), box(2)
    outbox = Outbox(5 * len(notice(1).response), 100)
    outbox.put(large, notice(1))
    await outbox.take()
    for version in range(2, 6):
        outbox.put(large, notice(version))
    outbox.put(small, notice(1))
    outbox.put(large, notice(6))
    assert (large.behind, small.behind, outbox.waiting) == (True, False, len(notice(1).response))
    outbox.put(large, notice(7))
    told = await taken(outbox)
    assert [message.snapshot.version for message in told[1]] == [99]
    assert [message.notice.version for message in told[2]] == [1]
    assert asked == [1], "from what was written last"
    outbox.put(large, notice(100))
    assert [message.notice.version for message in (await taken(outbox))[1]] == [100]


async def test_a_seat_with_too_many_messages_falls_behind_by_itself() -> None:
    outbox, busy, other = Outbox(10_000, 3), box(1), box(2)
    for version in range(1, 5):
        outbox.put(busy, notice(version))
    outbox.put(other, notice(1))
    told = await taken(outbox)
    assert told[1][0].HasField("snapshot")
    assert told[2][0].notice.version == 1
    assert outbox.resyncs == 1


async def test_a_seat_that_has_more_than_a_response_holds_waits_for_another_turn() -> None:
    outbox, busy, other = Outbox(10_000_000, 1_000), box(1), box(2)
    large = packed(pb.SeatMessage(accepted=pb.Accepted(command_id="x" * 10_000)))
    for _ in range(9):
        outbox.put(busy, large)
    outbox.put(other, notice(1))
    first, second = await taken(outbox), await taken(outbox)
    assert (len(first[1]), list(second), len(second[1])) == (7, [2, 1], 2), "the other seat's turn comes between"


async def test_a_seat_whose_snapshot_fails_ends_once() -> None:
    """A second end would end the next seat under the same handle."""
    outbox = Outbox(10_000, 1)

    def fails(_: int | None) -> tuple[Packed, ...]:
        outbox.finish(failing, Closing.FAILED, gateway_pb.SeatEnded(code=13), beat(7))
        return ()

    failing = SeatBox(1, fails, None)
    for version in (1, 2):
        outbox.put(failing, notice(version))
    (told,) = gateway_pb.ConnectResponse.FromString(await outbox.take()).seats
    assert (told.handle, told.ended.code, len(told.messages)) == (1, 13, 1)
    assert outbox.waiting == 0
    outbox.close(Closing.DETACHED)
    assert await outbox.take() == b"", "the end was told once"


@pytest.mark.parametrize("closing", [Closing.DISPLACED, Closing.UNSEATED])
async def test_a_seat_that_was_behind_at_its_end_is_told_what_was_true_then_unless_it_was_given_away(
    closing: Closing,
) -> None:
    outbox, seat = Outbox(10_000, 1), box(1)
    for version in (1, 2):
        outbox.put(seat, notice(version))
    outbox.finish(seat, closing, gateway_pb.SeatEnded(code=10), beat(7))
    outbox.put(seat, notice(3))
    (told,) = gateway_pb.ConnectResponse.FromString(await outbox.take()).seats
    assert told.ended.code == 10
    kinds = [message.WhichOneof("message") for message in told.messages]
    assert kinds == (["heartbeat"] if closing is Closing.UNSEATED else ["snapshot", "heartbeat"])
    assert outbox.waiting == 0


async def test_a_stream_ends_after_what_waits() -> None:
    outbox, seat = Outbox(10_000, 10), box(1)
    outbox.put(seat, notice(1))
    outbox.close(Closing.DRAINING, b"last")
    outbox.close(Closing.FAILED, b"later")
    outbox.put(seat, notice(2))
    assert len((await taken(outbox))[1]) == 1
    assert [await outbox.take(), await outbox.take()] == [b"last", b""]
    assert outbox.closing is Closing.DRAINING


async def test_a_heartbeat_is_sent_if_nothing_else_is() -> None:
    outbox, seat = Outbox(10_000, 10), box(1)
    outbox.beat(b"beat")
    assert await outbox.take() == b"beat"
    outbox.beat(b"beat")
    outbox.put(seat, notice(1))
    assert list(await taken(outbox)) == [1]
    outbox.close(Closing.DETACHED)
    assert await outbox.take() == b""


# Eager work


async def test_work_that_does_not_wait_is_done_at_once() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("done")

    assert begin(work()) is None
    assert done == ["done"]


async def test_work_that_waits_goes_on_in_a_task_and_what_it_raises_is_the_tasks() -> None:
    seen: list[object] = []
    first, second = (asyncio.get_running_loop().create_future() for _ in range(2))

    async def work() -> None:
        seen.append(await first)
        await asyncio.sleep(0)
        try:
            await second
        except ValueError as error:
            seen.append(str(error))
        raise KeyError("mine")

    task = begin(work())
    assert task is not None
    first.set_result("first")
    second.set_exception(ValueError("second"))
    with pytest.raises(KeyError):
        await task
    assert seen == ["first", "second"]


async def test_a_cancellation_reaches_the_work() -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = begin(work())
    assert task is not None
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_what_is_raised_before_any_wait_is_the_callers() -> None:
    async def work() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError):
        begin(work())
