"""Allowances: work is paid for in proportion, a burst is twice a second's worth, and who sends more is held back."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import grpc
import pytest
from hypothesis import given, strategies as st

from erqiwang_grpc.client import refusal_of
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.costs import Work
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.rate_limit import Allowance, AtOnce, Later, Pace, TooLong
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import bidding_pb2, playing_pb2, seat_service_pb2 as pb
from tests.durability.played import Ear
from tests.service.clocks import HandMonotonic
from tests.service.tables import RawSeat, Service, Table, act, eventually, seated, seen, served, step

PASS: Final = pb.Command(pass_bid=bidding_pb2.PassBid())
BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
HOUR: Final = 3_600.0


# The bucket


def test_an_idle_hour_buys_no_more_than_a_burst() -> None:
    allowance = Allowance(20, now=0.0)
    assert [allowance.take(1, HOUR) for _ in range(41)] == [0.0] * 40 + [pytest.approx(0.05)]


@pytest.mark.parametrize(("seconds", "is_enough"), [(0.049, False), (0.05, True), (0.051, True)])
def test_one_more_is_there_after_its_share_of_a_second(seconds: float, is_enough: bool) -> None:
    allowance = Allowance(20, now=5.0)
    while not allowance.take(1, 5.0):
        pass
    assert (allowance.take(1, 5.0 + seconds) == 0) is is_enough


def test_what_is_refused_costs_nothing() -> None:
    allowance = Allowance(1, now=0.0)
    allowance.spend(2, 0.0)
    assert [allowance.take(1, 0.5) for _ in range(3)] == [0.5] * 3
    assert allowance.take(1, 1.0) == 0


def test_what_was_done_before_its_cost_was_known_is_paid_off_first() -> None:
    allowance = Allowance(10, now=0.0)
    assert allowance.spend(50, 0.0) == pytest.approx(3.0)
    assert allowance.take(1, 3.0) == pytest.approx(0.1)
    assert allowance.take(1, 3.1) == 0


def test_what_costs_more_than_a_full_bucket_is_done_when_it_is_full() -> None:
    allowance = Allowance(1, now=0.0)
    assert allowance.take(10, 0.0) == 0
    assert allowance.take(10, 9.9) == pytest.approx(0.1)
    assert allowance.take(10, 10.0) == 0


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    allowance = Allowance(20, now=2 * HOUR)
    allowance.spend(39, 2 * HOUR)
    assert allowance.take(1, HOUR) == 0


@given(asked=st.lists(st.tuples(st.floats(0, 3), st.floats(0.1, 5)), max_size=60))
def test_over_any_time_no_more_is_taken_than_a_burst_and_the_rate(asked: list[tuple[float, float]]) -> None:
    allowance, now, taken = Allowance(10, now=0.0), 0.0, 0.0
    for pause, cost in asked:
        now += pause
        if not allowance.take(cost, now):
            taken += cost
    assert taken <= 20 + 10 * now + 1e-6


# The table of costs


def test_the_page_for_operators_shows_the_table_of_costs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| cost | for |\n| --- | --- |\n")
    rows, _, _ = table.partition("\n\n")
    assert rows.splitlines() == [f"| {work.units:g} | {work.value.what} |" for work in Work]


# The pace of a stream


def flood(pace: Pace, cost: float, now: float, most: int = 10_000) -> tuple[list[Later], float]:
    """Requests as fast as they are read; gives every wait, and when the stream ended."""
    waits: list[Later] = []
    for _ in range(most):
        verdict = pace.spend(cost, now)
        if isinstance(verdict, TooLong):
            return waits, now
        if isinstance(verdict, Later):
            waits.append(verdict)
            now += verdict.seconds
    raise AssertionError("the flood never ended")


@pytest.mark.parametrize("cost", [1.0, Work.HEARTBEAT.units])
def test_a_flood_is_read_at_its_rate_told_once_a_second_and_ended_after_ten(cost: float) -> None:
    pace = Pace(Allowance(20, now=0.0), patience=10.0)
    waits, ended = flood(pace, cost, now=0.0)
    assert ended == pytest.approx(10.0)
    assert len(waits) == pytest.approx(200 / cost, abs=1)
    assert 1 <= sum(wait.is_told for wait in waits) <= 10
    assert waits[0].is_told


def test_who_slows_down_in_time_is_not_ended() -> None:
    pace = Pace(Allowance(20, now=0.0), patience=10.0)
    now = 0.0
    for _ in range(5):
        waited = 0.0
        while waited < 9.9:
            verdict = pace.spend(1, now)
            assert not isinstance(verdict, TooLong)
            if isinstance(verdict, Later):
                waited += verdict.seconds
                now += verdict.seconds
        now += 1.1


def test_who_keeps_exactly_to_the_rate_is_never_slowed_even_behind_a_burst() -> None:
    pace = Pace(Allowance(20, now=0.0), patience=10.0)
    for _ in range(40):
        assert pace.spend(1, 0.0) == AtOnce()
    for number in range(1, 1_000):
        assert pace.spend(1, number / 19.9) == AtOnce()


def test_late_wakeups_do_not_keep_a_flood_going() -> None:
    """A busy server wakes the reader late, which gives the flood some more; it is ended all the same."""
    pace, now = Pace(Allowance(20, now=0.0), patience=10.0), 0.0
    for _ in range(2_000):
        verdict = pace.spend(1, now)
        if isinstance(verdict, TooLong):
            return
        if isinstance(verdict, Later):
            now += verdict.seconds + 0.2
    raise AssertionError("the flood never ended")


# Streams


async def filled(service: Service) -> tuple[Table, RawSeat]:
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[0])
    await stream.attach()
    return table, stream


COSTLY: Final = {
    "refused commands": (pb.PlayRequest(command=PASS), Work.COMMAND),
    "ids that are too long": (pb.PlayRequest(command_id="x" * 65, command=PASS), Work.COMMAND),
    "signals": (
        pb.PlayRequest(command=pb.Command(signal=playing_pb2.Signal(signal=playing_pb2.SIGNAL_KIND_NO_POINTS))),
        Work.COMMAND,
    ),
    "commands of no kind": (pb.PlayRequest(command=pb.Command()), Work.COMMAND),
    "attaching again": (pb.PlayRequest(attach=pb.Attach()), Work.SNAPSHOT),
    "heartbeats": (pb.PlayRequest(heartbeat=pb.Heartbeat()), Work.HEARTBEAT),
    "empty requests": (pb.PlayRequest(), Work.HEARTBEAT),
    "repeats": (pb.PlayRequest(command_id="one", command=BID), Work.COMMAND),
}


@pytest.mark.parametrize("kind", COSTLY)
async def test_whatever_a_stream_sends_is_paid_for_and_no_more_is_read_than_is_paid(tmp_path: Path, kind: str) -> None:
    clock = HandMonotonic()
    request, work = COSTLY[kind]
    async with served(tmp_path, limits=Limits(commands_per_second=3), monotonic=clock) as service:
        table = await seated(service.platform)
        await act(service, table, 0, BID, command_id="one")
        clock.forward(HOUR)
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        within = int((6 - Work.SNAPSHOT.units) / work.units)
        for _ in range(within + 1):
            await stream.say(request)
        refused = await told_too_many(stream)
        assert refused.refusal.too_many_commands.per_second == 3
        assert refused.command_id == request.command_id
        assert clock.is_waited_for(work.units / 3)
        clock.forward(1.0)
        await stream.say(pb.PlayRequest(attach=pb.Attach()))
        assert (await stream.hear("snapshot")).snapshot.view.seat == 0


async def told_too_many(stream: RawSeat) -> pb.Refused:
    while True:
        refused = (await stream.hear("refused")).refused
        if refused.refusal.WhichOneof("reason") == "too_many_commands":
            return refused


async def test_a_stream_beyond_its_allowance_is_read_slowly_told_once_a_second_and_ended_after_ten(
    tmp_path: Path,
) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=Limits(commands_per_second=4), monotonic=clock) as service:
        table, stream = await filled(service)
        for _ in range(60):
            await stream.say(pb.PlayRequest(command=PASS))
        began, last = clock(), pb.SeatMessage()
        while (message := await next_moving(stream, clock)) is not None:
            last = message
        assert clock() - began == pytest.approx(10.0)
        assert service.server.counters.refused == {Reason.FIRST_BIDDER_MUST_BID: 7 + 30, Reason.TOO_MANY_COMMANDS: 10}
        assert last.goodbye.reason == pb.Goodbye.REASON_TOO_MANY_COMMANDS
        assert 1 <= last.goodbye.retry_delay.seconds < 5
        assert stream.refused is not None
        assert (stream.refused.code, stream.refused.reason) == (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "TOO_MANY_COMMANDS",
        )
        assert (await seen(service, table, 1)).version == 5, "the others go on"
        clock.forward(1.0)
        assert (await RawSeat(service, table.tokens[0]).attach()).version == 5, "it may come back"


async def next_moving(stream: RawSeat, clock: HandMonotonic) -> pb.SeatMessage | None:
    """The next message, for which the clock is moved on whenever the server waits for it."""
    hearing = asyncio.create_task(stream.next())
    while not hearing.done():
        if clock.sleeping:
            clock.forward(min(clock.sleeping))
        await asyncio.wait((hearing,), timeout=0.001)
    return hearing.result()


async def test_a_displaced_stream_that_is_held_back_has_no_say_any_more(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=Limits(commands_per_second=4), monotonic=clock) as service:
        table, old = await filled(service)
        for _ in range(7):
            await old.say(pb.PlayRequest(command=PASS))
            await old.hear("refused")
        await old.say(pb.PlayRequest(command=PASS))
        await told_too_many(old)
        clock.forward(0.25)
        await old.say(pb.PlayRequest(command_id="late", command=BID))
        await eventually(lambda: clock.is_waited_for(0.25))
        room = service.room(table.room_id)
        displacing = room.attach(next(iter(room.audience)).seat, Ear(), None)
        clock.forward(0.25)
        await old.rest()
        assert old.refused is not None
        assert old.refused.reason == "DISPLACED"
        await eventually(lambda: not clock.sleeping)
        assert room.version == 5
        room.detach(displacing)


# Unary calls


async def retry_after(call: Awaitable[object]) -> float:
    """In how many seconds a call that is refused for the allowance may come again."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    refused = refusal_of(error.value)
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_COMMANDS")
    assert refused.refusal is not None
    assert refused.refusal.too_many_commands.per_second == 2
    delay = refusal_of(error.value).retry_delay
    assert delay is not None
    return delay


async def test_unary_calls_and_streams_of_a_seat_pay_from_one_allowance(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=Limits(commands_per_second=2), monotonic=clock) as service:
        table, stream = await filled(service)
        await stream.say(pb.PlayRequest(command=PASS))
        await stream.hear("refused")
        await seen(service, table, 0)
        await act(service, table, 0, BID, command_id="one")
        metadata = table.metadata(0)
        calls: tuple[tuple[Callable[[], Awaitable[object]], float], ...] = (
            (lambda: act(service, table, 0, BID, command_id="one"), 0.5),
            (lambda: service.seats.GetView(pb.GetViewRequest(), metadata=metadata), 0.5),
            (lambda: service.seats.GetRecord(pb.GetRecordRequest(), metadata=metadata), 1.0),
            (lambda: service.seats.Act(pb.ActRequest(command_id="x" * 65), metadata=metadata), 0.5),
        )
        for call, delay in calls:
            assert await retry_after(call()) == delay
        for call, delay in calls[:2]:
            clock.forward(delay - 0.001)
            assert await retry_after(call()) == pytest.approx(0.001)
            clock.forward(0.001)
            await call()
        assert (await seen(service, table, 1)).version == 6, "each seat has its own allowance"


async def test_a_new_stream_is_paid_for_before_it_displaces_another(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, limits=Limits(commands_per_second=1), monotonic=clock) as service:
        table, stream = await filled(service)
        await seen(service, table, 0)
        newer = RawSeat(service, table.tokens[0])
        await newer.say(pb.PlayRequest(attach=pb.Attach()))
        assert await newer.rest() == []
        assert newer.refused is not None
        assert newer.refused.reason == "TOO_MANY_COMMANDS"
        clock.forward(1.0)
        await stream.say(pb.PlayRequest(command=PASS))
        assert (await stream.hear("refused")).refused.refusal.WhichOneof("reason") == "first_bidder_must_bid"


async def test_a_record_is_paid_for_by_the_deals_that_are_read_and_a_settled_deal_is_read_once(tmp_path: Path) -> None:
    clock = HandMonotonic()
    store = MemoryStore()
    limits = Limits(commands_per_second=2)
    async with served(tmp_path, limits=limits, store=store, monotonic=clock) as service:
        table = await seated(service.platform)
        for settled in (1, 2):
            while (await service.platform.record(table.room_id)).summary.settled_deals < settled:
                clock.forward(HOUR)
                await step(service, table)
        # The platform has just read both deals, so they are kept: two commands is what is left to be paid.
        metadata = table.metadata(0)
        clock.forward(HOUR)
        for _ in range(2):
            told: pb.GetRecordResponse = await service.seats.GetRecord(pb.GetRecordRequest(), metadata=metadata)
            assert len(told.record.deals) == 2
        assert await retry_after(service.seats.GetRecord(pb.GetRecordRequest(), metadata=metadata)) == 1.0
    async with served(tmp_path, limits=limits, store=store, monotonic=clock) as again:
        metadata = table.metadata(0)
        told = await again.seats.GetRecord(pb.GetRecordRequest(), metadata=metadata)
        owed = Work.RECORD.units + 2 * Work.DEAL.units - 4
        assert await retry_after(again.seats.GetView(pb.GetViewRequest(), metadata=metadata)) == (owed + 1) / 2
