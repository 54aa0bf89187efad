"""What a gateway's client keeps for its reader."""

import asyncio

from erqiwang_grpc.client.inbox import Inbox
from erqiwang_grpc.v1 import seat_service_pb2 as pb


def notice(version: int) -> pb.SeatMessage:
    return pb.SeatMessage(notice=pb.Notice(version=version))


def snapshot(version: int) -> pb.SeatMessage:
    return pb.SeatMessage(snapshot=pb.Snapshot(version=version))


async def test_a_seat_without_room_falls_behind_and_goes_on_with_a_snapshot_once_all_is_read() -> None:
    asked: list[tuple[int, int | None]] = []
    inbox = Inbox(2, lambda number, since: asked.append((number, since)))
    inbox.put(1, notice(6), 5)
    inbox.put(2, notice(9), 8)
    inbox.put(1, notice(7), 6)
    assert await inbox.take() == (1, notice(6))
    inbox.put(1, notice(8), 7)
    inbox.put(2, notice(10), 9)
    assert (await inbox.take(), await inbox.take(), asked) == ((2, notice(9)), (2, notice(10)), [])
    taking = asyncio.create_task(inbox.take())
    await asyncio.sleep(0)
    assert asked == [(1, 6)]
    inbox.put(1, notice(9), 8)
    inbox.put(1, snapshot(9), 9)
    inbox.put(1, notice(10), 9)
    assert (await taking, await inbox.take()) == ((1, snapshot(9)), (1, notice(10)))


async def test_a_snapshot_that_is_refused_is_asked_for_again() -> None:
    asked: list[tuple[int, int | None]] = []
    inbox = Inbox(1, lambda number, since: asked.append((number, since)))
    inbox.put(2, notice(1), None)
    inbox.put(1, snapshot(5), None)
    await inbox.take()
    taking = asyncio.create_task(inbox.take())
    await asyncio.sleep(0)
    inbox.put(1, pb.SeatMessage(refused=pb.Refused(command_id="another")), 5)
    inbox.put(1, pb.SeatMessage(refused=pb.Refused()), 5)
    async with asyncio.timeout(10):
        while len(asked) < 2:  # noqa: ASYNC110  # a list rings no bell
            await asyncio.sleep(0.01)
    inbox.put(1, snapshot(6), 5)
    assert await taking == (1, snapshot(6))
    assert asked == [(1, None), (1, None)]


async def test_a_seat_that_has_ended_is_asked_for_no_more() -> None:
    asked: list[tuple[int, int | None]] = []
    inbox = Inbox(1, lambda number, since: asked.append((number, since)))
    for version in (1, 2):
        inbox.put(1, notice(version), version)
    inbox.forget(1)
    inbox.end()
    assert (await inbox.take(), await inbox.take(), asked) == ((1, notice(1)), None, [])


async def test_without_room_for_any_nothing_is_kept_nor_asked_for() -> None:
    inbox = Inbox(0, lambda _, __: None)
    inbox.put(1, notice(1), None)
    inbox.end()
    assert await inbox.take() is None
