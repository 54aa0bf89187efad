"""Quotas: a platform that takes all it can get meets its own quota, while another works on the same server."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import replace
from pathlib import Path
from time import monotonic

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, Created, Platform, refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.limits import MINUTE, Limits
from erqiwang_grpc.store import START, AppendAnswer, Batch, RoomId, Unavailable, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import refusal_pb2, room_service_pb2 as pb
from tests.durability.played import play as play_on
from tests.service.clocks import HandMonotonic
from tests.service.processes import serving
from tests.service.tables import PATIENCE, ROOMY, RawSeat, Service, Table, eventually, seated, served, step
from tests.store.holding import HoldingStore
from tests.store.passing_on import PassingOn

ROOMS = refusal_pb2.Refusal.QUOTA_ROOMS
WATCHERS = refusal_pb2.Refusal.QUOTA_WATCHERS
STREAMS = refusal_pb2.Refusal.QUOTA_STREAMS
CALLS = refusal_pb2.Refusal.QUOTA_CALLS
UNATTACHED = refusal_pb2.Refusal.QUOTA_UNATTACHED
MILLISECOND = 0.001 + 1e-9
"""Delays are rounded up to a millisecond."""


def reached(refused: CallRefused | None) -> tuple[refusal_pb2.Refusal.Quota.ValueType, int]:
    """Which quota was reached, and its size."""
    assert refused is not None
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_REACHED")
    assert refused.refusal is not None
    return refused.refusal.quota_reached.quota, refused.refusal.quota_reached.limit


async def refusal_to(call: Awaitable[object]) -> CallRefused:
    with pytest.raises(CallRefused) as refused:
        await call
    return refused.value


def other(service: Service) -> Platform:
    return Platform([service.address], service.tenant("other"))


@pytest.mark.parametrize(("total", "share"), [(1, 1), (2, 1), (3, 2), (20_000, 10_000)])
def test_a_platform_may_have_half_of_every_total_where_nothing_else_is_said(total: int, share: int) -> None:
    limits = Limits(rooms=total, streams=total, watchers=total, unattached=total)
    assert (limits.rooms_of_platform, limits.streams_of_platform, limits.watchers_of_platform) == (share,) * 3
    assert limits.unattached_of_platform == share


async def test_a_platform_that_opens_rooms_meets_its_quota_while_another_opens_its_own(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, rooms=4)) as service:
        for number in range(2):
            await service.platform.create_room("alice", command_id=f"{number}")
        third = await refusal_to(service.platform.create_room("alice", command_id="2"))
        assert reached(third) == (ROOMS, 2)
        assert (await service.platform.create_room("alice", command_id="1")).room.version == 1, (
            "one that is there already"
        )
        for number in range(2):
            await other(service).create_room("zoe", command_id=f"{number}")


async def test_a_quota_is_set_by_its_flag(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, "--platform-rooms", "1") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        platform = server.speaking(channel).platform
        await platform.create_room("alice", command_id="0")
        assert reached(await refusal_to(platform.create_room("alice", command_id="1"))) == (ROOMS, 1)


async def test_rooms_opened_at_once_do_not_slip_past_the_quota(tmp_path: Path) -> None:
    """None of them is stored before all have asked."""
    store = HoldingStore(MemoryStore())
    async with served(tmp_path, store=store, limits=replace(ROOMY, platform_rooms=3)) as service:
        store.holds_appends = True
        creating = [
            asyncio.create_task(service.platform.create_room("alice", command_id=f"{number}")) for number in range(20)
        ]
        await eventually(lambda: sum(task.done() for task in creating) == 17)
        store.go_on.set()
        answers = await asyncio.gather(*creating, return_exceptions=True)
        assert sum(isinstance(answer, Created) for answer in answers) == 3


async def test_rooms_that_wait_for_their_seats_count_though_they_are_not_in_memory(tmp_path: Path) -> None:
    clock, wall = HandMonotonic(), [1_700_000_000_000_000_000]
    limits = replace(ROOMY, platform_rooms=2)
    async with served(tmp_path, limits=limits, monotonic=clock, now=lambda: wall[0]) as service:
        first = await service.platform.create_room("alice", command_id="0")
        await service.platform.create_room("alice", command_id="1")
        clock.forward(30.1)
        service.kept.put_away()
        assert (service.kept.live, service.kept.open) == ((), 2)
        third = await refusal_to(service.platform.create_room("alice", command_id="2"))
        assert reached(third) == (ROOMS, 2)
        await service.platform.disband_room(first.room_id)
        clock.forward(30.1)
        service.kept.put_away()
        await service.platform.create_room("alice", command_id="2")
        wall[0] += limits.fill_minutes * MINUTE
        await service.server.housekeeping.expire()
        clock.forward(30.1)
        service.kept.put_away()
        for number in range(3, 5):
            await service.platform.create_room("alice", command_id=f"{number}")


async def test_a_room_that_failed_to_open_is_not_counted(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, platform_rooms=1)) as service:
        await service.platform.create_room("alice", command_id="0")
        refused = await refusal_to(service.platform.create_room("bob", command_id="0"))
        assert refused.reason == "COMMAND_ID_REUSED"
        assert reached(await refusal_to(service.platform.create_room("alice", command_id="1"))) == (ROOMS, 1)
        await service.platform.disband_room((await service.platform.rooms())[0].room_id)
        service.kept.forget([RoomId(room.id) for room in service.kept.live])
        await service.platform.create_room("alice", command_id="1")


class Full(PassingOn):
    """A store that takes nothing for a while."""

    is_full = True

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        return Unavailable("no space is left") if self.is_full else await super().append(room, expected, batch)


async def test_a_room_that_the_log_did_not_take_is_not_counted(tmp_path: Path) -> None:
    store = Full(MemoryStore())
    async with served(tmp_path, store=store, limits=replace(ROOMY, platform_rooms=1)) as service:
        for number in range(3):
            refused = await refusal_to(service.platform.create_room("alice", command_id=f"{number}"))
            assert refused.reason == "STORE_UNAVAILABLE"
            assert service.kept.open == 0
        store.is_full = False
        await service.platform.create_room("alice", command_id="9")


async def test_a_platform_that_watches_meets_its_quota_while_another_watches(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, watchers=2)) as service:
        await service.platform.create_room("alice")
        rival = other(service)
        await rival.create_room("zoe")
        watching = service.rooms.WatchRooms(pb.WatchRoomsRequest(), metadata=bearer(service.key))
        await watching.read()
        assert reached(await refusal_to(anext(service.platform.watch()))) == (WATCHERS, 1)
        assert (await anext(rival.watch())).created.owner == "zoe"
        watching.cancel()
        async with asyncio.timeout(PATIENCE):
            while not await is_watching(service.platform):
                pass


async def is_watching(platform: Platform) -> bool:
    """Whether one more stream was taken, which is not before the server knows that the last one has left."""
    try:
        return (await anext(platform.watch())).created.owner == "alice"
    except CallRefused:
        return False


async def test_the_seats_of_a_platform_meet_its_quota_of_streams_while_anothers_play(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, platform_streams=2)) as service:
        table = await seated(service.platform)
        taken = [RawSeat(service, token) for token in table.tokens[:2]]
        for stream in taken:
            await stream.attach()
        third = RawSeat(service, table.tokens[2])
        await third.rest()
        assert reached(third.refused) == (STREAMS, 2)
        theirs: Table = await seated(other(service))
        for token in theirs.tokens[:2]:
            await RawSeat(service, token).attach()
        await taken[0].call.done_writing()
        await taken[0].rest()
        await RawSeat(service, table.tokens[2]).attach()


async def test_streams_of_a_platform_that_never_attach_meet_its_quota_while_anothers_attach(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, unattached=4)) as service:
        table, theirs = await seated(service.platform), await seated(other(service))
        silent = [RawSeat(service, token) for token in (*table.tokens[:2], *theirs.tokens[:1])]
        await eventually(lambda: service.server.seats.streams == 3)
        third = RawSeat(service, table.tokens[2])
        await third.rest()
        assert reached(third.refused) == (UNATTACHED, 2)
        await RawSeat(service, theirs.tokens[1]).attach()
        await silent[0].attach()
        await RawSeat(service, table.tokens[2]).attach()


async def test_a_platform_that_calls_meets_its_quota_while_another_calls(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=Limits(platform_calls_per_second=10), monotonic=clock) as service:
        room = await service.platform.create_room("alice")
        for _ in range(19):
            await service.platform.room(room.room_id)
        assert reached(await refusal_to(service.platform.room(room.room_id))) == (CALLS, 10)
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await service.rooms.QuoteRoom(pb.QuoteRoomRequest(), metadata=bearer(service.key))
        assert reached(refusal_of(error.value)) == (CALLS, 10)
        assert refusal_of(error.value).retry_delay == 0.1
        assert reached(await refusal_to(anext(service.platform.watch()))) == (CALLS, 10)
        await seated(other(service))
        clock.forward(0.0999)
        assert reached(await refusal_to(service.platform.room(room.room_id))) == (CALLS, 10)
        clock.forward(0.0001)
        await service.platform.room(room.room_id)
        clock.forward(3_600)
        for _ in range(20):
            await service.platform.room(room.room_id)
        assert reached(await refusal_to(service.platform.room(room.room_id))) == (CALLS, 10), "an hour buys a burst"


async def test_a_list_is_paid_for_by_the_rooms_that_are_read_for_it(tmp_path: Path) -> None:
    clock, store = HandMonotonic(), MemoryStore()
    limits = replace(ROOMY, platform_calls_per_second=1)
    async with served(tmp_path, store=store) as before:
        for number in range(8):
            table = await seated(before.platform, command_id=f"{number}")
            await before.platform.disband_room(table.room_id)
    async with served(tmp_path, store=store, limits=limits, monotonic=clock) as service:
        assert len(await service.platform.rooms()) == 8
        rows = 8 * (Work.ROW.units + Work.LOOK.units)
        owed = Work.CALL.units + rows - 2
        assert await wait_for_a_list(service) == pytest.approx(owed + 1, abs=MILLISECOND)
        clock.forward(owed + 1 - MILLISECOND)
        assert await wait_for_a_list(service) == pytest.approx(MILLISECOND, abs=MILLISECOND)
        clock.forward(MILLISECOND)
        assert len([summary async for summary in service.platform.records()]) == 8
        assert await wait_for_a_list(service) == pytest.approx(rows + 1, abs=MILLISECOND)


async def test_a_list_that_finds_nothing_is_paid_for_by_the_rooms_that_are_looked_at_for_it(tmp_path: Path) -> None:
    clock, store = HandMonotonic(), MemoryStore()
    async with served(tmp_path, store=store) as before:
        for number in range(50):
            await before.platform.create_room("alice", command_id=f"{number}")
            await before.platform.take_seat((await before.platform.rooms())[0].room_id, "bob")
    limits = replace(ROOMY, platform_calls_per_second=1)
    async with served(tmp_path, store=store, limits=limits, monotonic=clock) as service:
        assert await service.platform.rooms(player="bob", labels={"hall": "none"}) == []
        assert await wait_for_a_list(service) == pytest.approx(50 * Work.LOOK.units, abs=MILLISECOND)


async def test_a_list_is_paid_for_by_the_events_that_are_read_to_check_it(tmp_path: Path) -> None:
    clock, store = HandMonotonic(), MemoryStore()
    async with served(tmp_path, store=store) as before:
        room = RoomId((await seated(before.platform)).room_id)
    listed, entries = await store.summary(room), await store.read(room)
    assert listed is not None
    newer = replace(listed.summary, body=b"newer")
    batch = Batch(entries[-1].time, entries[-1].actor, None, 99, (b"newer",) * 20, newer)
    await store.append(room, listed.version, batch)
    limits = replace(ROOMY, platform_calls_per_second=1)
    async with served(tmp_path, store=store, limits=limits, monotonic=clock) as service:
        assert await service.platform.rooms() == []
        owed = Work.CALL.units + Work.LOOK.units + (len(entries) + 20) * Work.EVENT.units - 2
        assert await wait_for_a_list(service) == pytest.approx(owed + 1, abs=MILLISECOND)
        clock.forward(owed + 1)
        assert await service.platform.rooms() == [], "it is not checked again"
        assert await wait_for_a_list(service) == pytest.approx(1 + Work.LOOK.units, abs=MILLISECOND)


async def history(folder: Path, store: MemoryStore) -> int:
    """Rooms that have ended, of the platform `local`; gives how many public events they have."""
    async with served(folder, store=store) as before:
        for number in range(12):
            table = await seated(before.platform, command_id=f"{number}")
            await before.platform.disband_room(table.room_id)
    batches = await store.feed("local", START, 1_000)
    assert isinstance(batches, tuple)
    return sum(len(batch.entries) for batch in batches)


async def test_a_watcher_pays_for_history_reads_it_at_that_rate_and_leaves_calls_their_share(tmp_path: Path) -> None:
    clock, store = HandMonotonic(), MemoryStore()
    events = await history(tmp_path, store)
    limits = replace(ROOMY, platform_calls_per_second=10)
    async with served(tmp_path, store=store, limits=limits, monotonic=clock) as service:
        began = clock()
        watching = service.platform.watch()
        rooms = [(await next_moving(watching, clock)).room_id for _ in range(events)]
        assert len(set(rooms)) == 12
        spent = Work.CALL.units + events * Work.WATCHED.units
        assert clock() - began == pytest.approx((spent - limits.platform_calls_per_second) / 10)
        for _ in range(10):
            await service.platform.server_info()
        assert reached(await refusal_to(service.platform.server_info())) == (CALLS, 10)
        await watching.aclose()


async def next_moving(watching: AsyncGenerator[pb.RoomEvent, None], clock: HandMonotonic) -> pb.RoomEvent:
    """The next event, for which the clock is moved on whenever the server makes the watcher wait."""
    hearing = asyncio.ensure_future(anext(watching))
    async with asyncio.timeout(PATIENCE):
        while not hearing.done():
            await asyncio.wait((hearing,), timeout=0.01)
            if (
                not hearing.done() and clock.sleeping and min(clock.sleeping) < 5.0
            ):  # a watcher that waits for news looks then
                clock.forward(min(clock.sleeping))
    return hearing.result()


async def test_a_watcher_that_waits_to_be_told_history_hears_of_a_drain_at_once(tmp_path: Path) -> None:
    clock, store = HandMonotonic(), MemoryStore()
    await history(tmp_path, store)
    limits = replace(ROOMY, platform_calls_per_second=1)
    async with served(tmp_path, store=store, limits=limits, monotonic=clock) as service:
        watching = service.rooms.WatchRooms(pb.WatchRoomsRequest(), metadata=bearer(service.key))
        await eventually(lambda: len(clock.sleeping) == 1)
        began = monotonic()
        await service.server.stop(grace=PATIENCE)
        assert monotonic() - began < PATIENCE / 2
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await watching.read()
        assert refusal_of(error.value).reason == "DRAINING"


async def test_a_record_is_paid_for_by_the_deals_that_are_read_for_it(tmp_path: Path) -> None:
    clock, store = HandMonotonic(), MemoryStore()
    async with served(tmp_path, store=store) as before:
        table = await seated(before.platform)
        while (await before.platform.record(table.room_id)).summary.settled_deals < 2:
            await step(before, table)
    limits = replace(ROOMY, platform_calls_per_second=10)
    async with served(tmp_path, store=store, limits=limits, monotonic=clock) as service:
        assert len((await service.platform.record(table.room_id)).deals) == 2
        anew = Work.RECORD.units + 2 * Work.DEAL.units
        for _ in range(int((20 - anew) / Work.RECORD.units)):
            await service.platform.record(table.room_id)
        assert reached(await refusal_to(service.platform.record(table.room_id))) == (CALLS, 10)


async def wait_for_a_list(service: Service) -> float:
    """In how many seconds the platform may ask for a list that is refused now."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.rooms.ListRooms(pb.ListRoomsRequest(), metadata=bearer(service.key))
    assert reached(refusal_of(error.value)) == (CALLS, 1)
    delay = refusal_of(error.value).retry_delay
    assert delay is not None
    return delay


async def test_the_client_waits_as_it_is_asked_to_and_has_the_whole_list(tmp_path: Path) -> None:
    store = MemoryStore()
    async with served(tmp_path, store=store) as before:
        for number in range(40):
            await before.platform.create_room("alice", command_id=f"{number}")
    async with served(tmp_path, store=store, limits=replace(ROOMY, platform_calls_per_second=10)) as service:
        # The first list leaves more than a second's worth to be paid, so the second one is refused at first.
        assert [len(await service.platform.rooms()) for _ in range(2)] == [40, 40]
        assert service.server.counters.refused[Reason.QUOTA_REACHED] > 0


async def test_the_events_of_a_room_that_is_opened_from_the_store_are_paid_for(tmp_path: Path) -> None:
    """Opening a match of 200 events costs as much as 20 calls. Then the room is in memory, and a call costs one."""
    clock = HandMonotonic()
    limits = replace(ROOMY, platform_calls_per_second=10)
    async with served(tmp_path, limits=limits, monotonic=clock) as service:
        table = await seated(service.platform)
        room = service.room(table.room_id)
        await play_on(room, 200)
        clock.forward(60)
        room.touched = float("-inf")
        assert service.kept.put_away() == 1
        await service.platform.room(table.room_id)
        assert reached(await refusal_to(service.platform.room(table.room_id))) == (CALLS, 10)
        clock.forward(60)
        for _ in range(20):
            await service.platform.room(table.room_id)


async def test_a_stranger_opens_nobodys_room(tmp_path: Path) -> None:
    """Neither memory, nor its owner's quota, nor the time of an answer tells that the room is there."""
    store = HoldingStore(MemoryStore())
    async with served(tmp_path, store=store) as service:
        room_id = (await service.platform.create_room("alice")).room_id
        service.room(room_id).touched = float("-inf")
        assert service.kept.put_away() == 1
        reads = store.reads
        await refusal_to(other(service).room(room_id))
        assert (service.kept.live, store.reads) == ((), reads)


# How often the seats of a room change


async def test_a_room_cannot_be_made_long_by_giving_its_seats_again_and_again(tmp_path: Path) -> None:
    async with served(tmp_path, limits=Limits(seat_changes=5)) as service:
        room = (await service.platform.create_room("anna")).room.room_id
        await service.platform.take_seat(room, "anna", 0)
        await service.platform.take_seat(room, "bert", 1)
        await service.platform.leave_seat(room, 1)
        await service.platform.take_seat(room, "bert", 1)
        await service.platform.take_seat(room, "cleo", 2)  # the deal begins
        before = await service.platform.room(room)
        refused = await refusal_to(service.platform.take_seat(room, "bert", 1))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "SEAT_CHANGES_USED_UP")
        assert refused.refusal is not None
        assert refused.refusal.seat_changes_used_up.most == 5
        after = await service.platform.room(room)
        assert after.version == before.version
        await service.platform.disband_room(room)


async def test_a_seat_that_was_given_too_often_is_not_freed_either(tmp_path: Path) -> None:
    async with served(tmp_path, limits=Limits(seat_changes=1)) as service:
        room = (await service.platform.create_room("anna")).room.room_id
        await service.platform.take_seat(room, "anna", 0)
        refused = await refusal_to(service.platform.leave_seat(room, 0))
        assert refused.reason == "SEAT_CHANGES_USED_UP"
