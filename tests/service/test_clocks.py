"""Time: what each clock measures, just before and just after every border, and what a wall clock that jumps may not do."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import grpc
import pytest
from erqiwang_core.match import Gathering, Ready, Running
from erqiwang_core.settlement import Settled
from erqiwang_core.units import Seat

from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.clocks import within
from erqiwang_grpc.events.actor import HOUSE
from erqiwang_grpc.rooms import housekeeping
from erqiwang_grpc.rooms.audience import Attachment
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import DAY, MINUTE, SECOND, Limits
from erqiwang_grpc.rooms.listener import Heartbeat
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.store import TimeNs
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import bidding_pb2, room_service_pb2, seat_service_pb2 as pb
from tests.durability.played import Ear, act as act_in_memory, node_on, opened, play, seated as seated_room
from tests.service.clocks import HandMonotonic
from tests.service.tables import PATIENCE, ROOMY, RawSeat, Service, act, eventually, seated, seen, served, step
from tests.store.holding import HoldingStore

HOUR: Final = 3_600 * SECOND
PASS: Final = pb.Command(pass_bid=bidding_pb2.PassBid())


class HandWall:
    """A wall clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1_700_000_000 * SECOND

    def __call__(self) -> TimeNs:
        return TimeNs(self.at)


# The wall clock jumps


@pytest.mark.parametrize("jump", [-HOUR, HOUR], ids=["back", "forward"])
async def test_a_wall_clock_that_jumps_by_an_hour_changes_nothing_for_who_plays(tmp_path: Path, jump: int) -> None:
    """Allowances, presence, heartbeats, timeouts and idleness are measured by the other clock."""
    wall, clock = HandWall(), HandMonotonic()
    limits = Limits(commands_per_second=20)
    async with served(tmp_path, limits=limits, now=wall, monotonic=clock) as service:
        table = await seated(service.platform)
        stream, other = RawSeat(service, table.tokens[0]), RawSeat(service, table.tokens[1])
        await stream.attach()
        await other.attach()
        await act(service, table, 0, pb.Command(bid=bidding_pb2.Bid(points=70)))
        wall.at += jump
        service.server.housekeeping.look_after_streams()
        service.kept.put_away()
        await service.server.housekeeping.expire()
        room = service.room(table.room_id)
        assert [room.audience.present(Seat(seat)) for seat in range(3)] == [True, True, False]
        for number in range(38):
            await stream.say(pb.PlayRequest(command_id=f"{number}", command=PASS))
            refused = (await stream.hear("refused")).refused
            assert refused.refusal.WhichOneof("reason") == "not_your_turn"
        await stream.say(pb.PlayRequest(command=PASS))
        assert (await stream.hear("refused")).refused.refusal.WhichOneof("reason") == "too_many_commands"
        await act(service, table, 1, PASS)


async def test_a_rooms_times_never_run_backwards(tmp_path: Path) -> None:
    wall, store = HandWall(), MemoryStore()
    began = wall.at
    async with served(tmp_path, store=store, now=wall) as service:
        table = await seated(service.platform)
        wall.at -= HOUR
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        await step(service, table)
        notice = (await stream.hear("notice")).notice
        assert notice.time.ToNanoseconds() == began
        assert (await seen(service, table, 0)).view.parts.turn.began.ToNanoseconds() == began
        assert stream.server_time == began, "a countdown is not an hour longer"
        wall.at += HOUR + SECOND
        await step(service, table)
        assert (await stream.hear("notice")).notice.time.ToNanoseconds() == began + SECOND
    # Another server, whose clock is behind, opens the room from its log and goes on from there.
    wall.at -= 2 * HOUR
    async with served(tmp_path, store=store, now=wall) as service:
        await step(service, table)
        await service.platform.disband_room(table.room_id)
        watching = service.platform.watch()
        times = [(await anext(watching)).time.ToNanoseconds() for _ in range(6)]
        assert times == sorted(times)
        assert times[-1] == began + SECOND
        record = await service.platform.record(table.room_id)
        assert record.summary.end_time.ToNanoseconds() == began + SECOND
        assert record.deals[0].start_time.ToNanoseconds() <= record.deals[0].end_time.ToNanoseconds()


async def test_the_wait_for_the_next_deal_began_with_the_settlement_whoever_is_ready_since() -> None:
    wall = HandWall()
    room = await seated_room(Rooms(replace(node_on(MemoryStore()), now=wall)))
    while not (isinstance(room.match, Running) and isinstance(room.match.deal, Settled)):
        wall.at += SECOND
        await play(room, 1)
    settled = wall.at
    assert room.state.standing.turn_began == settled
    for seat in (0, 1):
        wall.at += SECOND
        assert isinstance(await act_in_memory(room, Seat(seat), Ready()), Accepted)
        assert (room.state.standing.time, room.state.standing.turn_began) == (wall.at, settled)
    wall.at += SECOND
    assert isinstance(await act_in_memory(room, Seat(2), Ready()), Accepted)
    assert room.state.standing.turn_began == wall.at, "the deal has begun, and with it a turn"


@pytest.mark.parametrize(("seconds", "is_good"), [(-1, True), (0, False)], ids=["just before", "at"])
async def test_a_seat_token_lives_a_day_on_the_wall_clock(tmp_path: Path, seconds: int, is_good: bool) -> None:
    wall = HandWall()
    async with served(tmp_path, now=wall) as service:
        table = await seated(service.platform)
        wall.at += DAY + seconds * SECOND
        if is_good:
            await seen(service, table, 0)
        else:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await seen(service, table, 0)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize(("early", "ends"), [(1, False), (0, True)], ids=["just before", "at"])
async def test_a_room_that_was_put_away_unfilled_expires_on_the_wall_clock(early: int, ends: bool) -> None:
    wall, clock = HandWall(), HandMonotonic()
    store = MemoryStore()
    limits = Limits(fill_minutes=30)
    node = replace(node_on(store, limits, monotonic=clock), now=wall)
    rooms = Rooms(node)
    room = await opened(rooms)
    clock.forward(30.1)
    assert rooms.put_away() == 1
    wall.at += 30 * MINUTE - early
    await Housekeeping(rooms).expire()
    found = await rooms.find(room.id)
    assert isinstance(found, Room)
    assert isinstance(found.match, Gathering) is not ends
    assert (found.state.standing.ended_by == HOUSE) is ends


async def test_rooms_that_are_due_by_the_hundreds_expire_over_several_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_EXPIRED_AT_ONCE", 2)
    wall = HandWall()
    rooms = Rooms(replace(node_on(MemoryStore()), now=wall))
    made = [await opened(rooms, f"{number}") for number in range(5)]
    wall.at += 31 * MINUTE
    house = Housekeeping(rooms)
    ended = []
    for _ in range(4):
        await house.expire()
        ended.append(sum(not isinstance(room.match, Gathering) for room in made))
    assert ended == [2, 4, 5, 5]


async def test_a_room_that_is_opened_again_and_again_waits_for_one_deadline() -> None:
    wall, clock = HandWall(), HandMonotonic()
    store = HoldingStore(MemoryStore())
    rooms = Rooms(replace(node_on(store, monotonic=clock), now=wall))
    room = await opened(rooms)
    for _ in range(10):
        clock.forward(31)
        assert rooms.put_away() == 1
        await rooms.find(room.id)
    assert len(rooms.deadlines) == 1
    clock.forward(31)
    rooms.put_away()
    before = store.reads
    wall.at += 31 * MINUTE
    await Housekeeping(rooms).expire()
    assert store.reads == before + 1


async def test_a_match_that_has_begun_and_was_put_away_is_not_opened_again_at_its_rooms_deadline() -> None:
    wall, clock = HandWall(), HandMonotonic()
    store = HoldingStore(MemoryStore())
    rooms = Rooms(replace(node_on(store, monotonic=clock), now=wall))
    await seated_room(rooms)
    clock.forward(601)
    assert rooms.put_away() == 1
    before = store.reads
    wall.at += HOUR
    await Housekeeping(rooms).expire()
    assert (store.reads, rooms.live) == (before, ())


# Rooms that nobody uses


@pytest.mark.parametrize(("seconds", "goes"), [(11, False), (599.9, False), (600.1, True)])
async def test_an_idle_match_stays_in_memory_for_ten_minutes(seconds: float, goes: bool) -> None:
    clock = HandMonotonic()
    rooms = Rooms(node_on(MemoryStore(), Limits(idle_minutes=10), monotonic=clock))
    await seated_room(rooms)
    clock.forward(seconds)
    assert rooms.put_away() == goes


@pytest.mark.parametrize(("seconds", "goes"), [(29.9, False), (30.1, True)])
@pytest.mark.parametrize("is_disbanded", [False, True], ids=["waiting", "disbanded"])
async def test_a_room_that_nobody_fills_stays_in_memory_for_half_a_minute(
    seconds: float, goes: bool, is_disbanded: bool
) -> None:
    wall, clock = HandWall(), HandMonotonic()
    rooms = Rooms(replace(node_on(MemoryStore(), monotonic=clock), now=wall))
    await opened(rooms)
    if is_disbanded:
        wall.at += HOUR
        await Housekeeping(rooms).expire()
    clock.forward(seconds)
    assert rooms.put_away() == goes


@pytest.mark.parametrize("touch", ["find", "act", "detach"])
async def test_idleness_begins_with_the_last_use(touch: str) -> None:
    clock = HandMonotonic()
    rooms = Rooms(node_on(MemoryStore(), Limits(idle_minutes=10, commands_per_second=1_000), monotonic=clock))
    room = await seated_room(rooms)
    attachment = room.attach(Seat(0), Ear(), None) if touch == "detach" else None
    clock.forward(599)
    if touch == "find":
        await rooms.find(room.id)
    elif touch == "act":
        await play(room, 1)
    elif attachment is not None:
        room.detach(attachment)
    clock.forward(599.9)
    assert rooms.put_away() == 0
    clock.forward(0.2)
    assert rooms.put_away() == 1


# Streams


@asynccontextmanager
async def two_streams(limits: Limits = ROOMY) -> AsyncIterator[tuple[HandMonotonic, Rooms, Room, list[Attachment]]]:
    clock = HandMonotonic()
    rooms = Rooms(node_on(MemoryStore(), limits, monotonic=clock))
    room = await seated_room(rooms)
    yield clock, rooms, room, [room.attach(Seat(seat), Ear(), None) for seat in range(2)]


def beats(attachment: Attachment) -> int:
    """How many heartbeats a stream has heard."""
    assert isinstance(attachment.listener, Ear)
    return sum(isinstance(aside, Heartbeat) for aside in attachment.listener.asides)


@pytest.mark.parametrize(("seconds", "is_said"), [(19.9, False), (20.1, True)])
async def test_a_stream_that_was_silent_for_twenty_seconds_hears_a_heartbeat(seconds: float, is_said: bool) -> None:
    async with two_streams() as (clock, rooms, _, (silent, other)):
        clock.forward(10)
        silent.pulse.written = other.pulse.written = clock()
        clock.forward(seconds)
        Housekeeping(rooms).look_after_streams()
        assert beats(silent) == is_said
        Housekeeping(rooms).look_after_streams()
        assert beats(silent) == is_said, "once"
        clock.forward(19.9)
        Housekeeping(rooms).look_after_streams()
        assert beats(silent) == 1


async def test_a_stream_that_is_written_to_hears_no_heartbeat_for_twenty_seconds_from_then_on(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=ROOMY, monotonic=clock) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        await stream.hear("presence")
        (attachment,) = service.room(table.room_id).audience
        for _ in range(3):
            clock.forward(19)
            accepted = await step(service, table)
            message = await stream.next()
            assert message is not None
            assert message.notice.version == accepted.first_version, "and nothing was said before it"
            await eventually(lambda: attachment.pulse.written == clock())
            service.server.housekeeping.look_after_streams()
        clock.forward(20.1)
        service.server.housekeeping.look_after_streams()
        assert (await stream.hear("heartbeat")).heartbeat.version == service.room(table.room_id).version


@pytest.mark.parametrize(("seconds", "is_shown"), [(59.9, True), (60.1, False)])
async def test_a_seat_that_was_not_heard_of_for_a_minute_is_shown_absent(seconds: float, is_shown: bool) -> None:
    async with two_streams() as (clock, rooms, room, (silent, talking)):
        clock.forward(30)
        room.audience.hear(talking)
        clock.forward(seconds - 30)
        Housekeeping(rooms).look_after_streams()
        assert (room.audience.present(silent.seat), room.audience.present(talking.seat)) == (is_shown, True)
        clock.forward(60)
        room.audience.hear(silent)
        Housekeeping(rooms).look_after_streams()
        assert (room.audience.present(silent.seat), room.audience.present(talking.seat)) == (True, False), (
            "who talks is there again"
        )
        assert tuple(room.audience) == (silent, talking), "nobody is cut off"


async def test_a_stream_that_talks_is_present_for_hours_and_one_that_is_only_written_to_is_not(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=ROOMY, monotonic=clock) as service:
        table = await seated(service.platform)
        talking, silent = RawSeat(service, table.tokens[0]), RawSeat(service, table.tokens[1])
        await talking.attach()
        await silent.attach()
        room = service.room(table.room_id)
        for _ in range(10):
            clock.forward(50)
            await talking.say(pb.PlayRequest(heartbeat=pb.Heartbeat()))
            await eventually(was_heard(room, clock()))
            service.server.housekeeping.look_after_streams()
            assert room.audience.present(Seat(0))
        assert not room.audience.present(Seat(1))


def was_heard(room: Room, moment: float) -> Callable[[], bool]:
    """Whether the first stream of the room was heard of at that moment."""
    return lambda: next(iter(room.audience)).pulse.heard == moment


@pytest.mark.parametrize(("seconds", "is_over"), [(29.9, False), (30.0, True)])
async def test_a_stream_has_half_a_minute_to_say_attach(tmp_path: Path, seconds: float, is_over: bool) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        await eventually(lambda: len(clock.sleeping) == 1)
        clock.forward(seconds)
        if not is_over:
            assert (await stream.attach()).version == 5
            clock.forward(30)
            await stream.say(pb.PlayRequest(attach=pb.Attach()))
            await stream.hear("snapshot")
            return
        assert await stream.rest() == []
        assert stream.refused is not None
        assert (stream.refused.code, stream.refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NOT_ATTACHED")
        assert service.server.seats.streams == 0


@pytest.mark.parametrize("request_", [pb.PlayRequest(heartbeat=pb.Heartbeat()), pb.PlayRequest(command=PASS)], ids=str)
async def test_a_stream_that_begins_with_anything_else_ends_at_once(service: Service, request_: pb.PlayRequest) -> None:
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[0])
    await stream.say(request_)
    assert await stream.rest() == []
    assert stream.refused is not None
    assert (stream.refused.code, stream.refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NOT_ATTACHED")
    assert service.server.seats.streams == 0


# Watchers


async def test_a_watcher_hears_something_every_twenty_seconds(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        request = room_service_pb2.WatchRoomsRequest()
        watching = service.rooms.WatchRooms(request, metadata=bearer(service.key))
        await service.platform.create_room("alice", command_id="1")
        assert await heard(watching) == 1
        # It wakes up every five seconds to look; the fourth time it has been silent for twenty.
        for _ in range(2):
            for seconds in (5.0, 5.0, 5.0):
                await eventually(lambda: clock.is_waited_for(5.0))
                clock.forward(seconds)
            await eventually(lambda: clock.is_waited_for(5.0))
            clock.forward(4.9)
            await service.platform.create_room("alice", command_id=f"{clock()}")
            assert await heard(watching) == 1, "what happens is told, and nothing was said before it"
            for _ in range(4):
                await eventually(lambda: clock.is_waited_for(5.0))
                clock.forward(5.0)
            assert await heard(watching) == 0, "silent for twenty seconds"


async def heard(
    watching: grpc.aio.UnaryStreamCall[room_service_pb2.WatchRoomsRequest, room_service_pb2.WatchRoomsResponse],
) -> int:
    """How many events the next message holds."""
    response = await asyncio.wait_for(watching.read(), PATIENCE)
    assert isinstance(response, room_service_pb2.WatchRoomsResponse)
    return len(response.events)


# Waiting by a clock


async def test_work_that_is_done_in_time_is_not_disturbed_and_leaves_no_sleeper() -> None:
    clock = HandMonotonic()

    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    assert await within(clock, 5, work()) == "done"
    await asyncio.sleep(0)
    assert clock.sleeping == ()


async def test_work_that_is_too_late_is_cancelled() -> None:
    clock, ended = HandMonotonic(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting_for = asyncio.create_task(within(clock, 5, work()))
    await eventually(lambda: clock.sleeping == (5,))
    clock.forward(4.9)
    await asyncio.sleep(0)
    assert not waiting_for.done()
    clock.forward(0.1)
    with pytest.raises(TimeoutError):
        await waiting_for
    await ended.wait()


async def test_who_is_cancelled_while_waiting_takes_the_work_along() -> None:
    clock, ended = HandMonotonic(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting_for = asyncio.create_task(within(clock, 5, work()))
    await eventually(lambda: clock.sleeping == (5,))
    waiting_for.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting_for
    await ended.wait()
    assert clock.sleeping == ()
