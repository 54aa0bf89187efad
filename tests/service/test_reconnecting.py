"""Leaving and coming back: the view is the same as if one had never left, and what happened meanwhile is told."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import pytest
from erqiwang_core.dealing import Shuffled
from erqiwang_core.players import RandomLegal
from erqiwang_core.rules import Rules

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.rooms.state import LOOKED_BACK
from erqiwang_grpc.shuffling import commitment, seeded
from erqiwang_grpc.v1 import bidding_pb2, card_pb2, naming_pb2, playing_pb2, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.tables import (
    FOUR_PLAYERS,
    RawSeat,
    Service,
    Table,
    Witness,
    act,
    acting,
    attached,
    play,
    policy,
    seated,
    seen,
    served,
    suggested,
    witnesses,
)

ROOMS: Final = {
    "three, review": room_pb2.RoomOptions(),
    "three, no review": room_pb2.RoomOptions(no_review=True),
    "four": FOUR_PLAYERS,
}
ALL_ROOMS: Final = {
    **ROOMS,
    "four, no review": room_pb2.RoomOptions(no_review=True, four_player=FOUR_PLAYERS.four_player),
}
DEAL_OVER: Final = (view_pb2.PHASE_SETTLED, view_pb2.PHASE_OVER)


async def test_a_match_of_clients_that_drop_at_random(service: Service) -> None:
    table = await seated(service.platform)
    chance = Random(3)
    async with attached(service, table) as seats:
        await asyncio.gather(*(play(seat, before=_now_and_then(chance, seat)) for seat in seats))
        assert all(seat.view.parts.account == seats[0].view.parts.account for seat in seats)
        assert all(seat.connections > 5 for seat in seats)
        assert all(seat.version == seats[0].version for seat in seats)
        for number, seat in enumerate(seats):
            assert seat.view == (await seen(service, table, number)).view
    for seat in seats:
        assert await first_gap(seat) is None
    commands = service.room(table.room_id).state.accepted.brought
    assert len(commands) == len({brought.first for brought in commands.values()}), "no command was carried out twice"


def _now_and_then(chance: Random, seat: SeatClient) -> Callable[[], None]:
    return lambda: seat.drop() if chance.random() < 0.15 else None


async def first_gap(seat: SeatClient) -> int | None:
    """The first version that a client was not told of, between one snapshot and the next."""
    version = 0
    async for message in seat.messages():
        if message.HasField("snapshot"):
            assert message.snapshot.version >= version
            version = message.snapshot.version
        elif message.HasField("notice"):
            if message.notice.version != version + 1:
                return version
            version += 1
    return None


@pytest.mark.parametrize("options", ROOMS.values(), ids=ROOMS)
async def test_at_every_moment_a_snapshot_is_the_view_of_who_never_left(
    tmp_path: Path, options: room_pb2.RoomOptions
) -> None:
    async with served(tmp_path, shuffle=seeded(8)) as service:
        table = await seated(service.platform, options)
        staying = await witnesses(service, table)
        phases: set[int] = set()
        choose = policy(RandomLegal(), Random(8))
        while staying[0].view.parts.progress.deal < 2:
            turn = await acting(service, table, choose)
            assert turn is not None
            accepted = (await act(service, table, *turn)).accepted
            await all_agree(service, table, staying, accepted.last_version)
            phases.add(staying[0].view.parts.progress.phase)
        assert phases == set(range(view_pb2.PHASE_BIDDING, view_pb2.PHASE_OVER)), "every phase of a deal was met"
        await service.platform.disband_room(table.room_id)
        await all_agree(service, table, staying, staying[0].version + 1)


async def all_agree(service: Service, table: Table, staying: list[Witness], version: int) -> None:
    """What folding came to is what every seat would be given anew; when the turn began is part of it."""
    for seat, witness in enumerate(staying):
        await witness.hear_of(version)
        fresh = await seen(service, table, seat)
        assert fresh.version == witness.version
        assert fresh.view == witness.view


async def test_a_seat_that_is_taken_anew_does_not_begin_the_turn_again(service: Service) -> None:
    table = await seated(service.platform)
    staying = Witness(service, table.tokens[1])
    await staying.attach()
    began = staying.view.parts.turn.began.ToNanoseconds()
    await service.platform.take_seat(table.room_id, "alice")
    await staying.hear_of(staying.version + 1)
    assert (await seen(service, table, 1)).view == staying.view
    assert staying.view.parts.turn.began.ToNanoseconds() == began


async def test_snapshots_and_heartbeats_tell_the_time_that_turns_are_told_in(tmp_path: Path) -> None:
    """So that what is left of a countdown is known to a client whose own clock is wrong."""
    clock = 1_000_000_000
    async with served(tmp_path, now=lambda: clock) as service:
        table = await seated(service.platform)
        began = (await seen(service, table, 0)).view.parts.turn.began
        assert began.ToNanoseconds() == clock
        clock += 7_000_000_001
        looked = await service.seats.GetView(pb.GetViewRequest(), metadata=table.metadata(0))
        assert looked.snapshot.server_time.ToNanoseconds() == clock
        stream = RawSeat(service, table.tokens[0])
        await stream.attach()
        assert stream.server_time == clock
        clock += 20_000_000_000
        (attachment,) = service.room(table.room_id).audience
        attachment.pulse.written = float("-inf")
        service.server.housekeeping.look_after_streams()
        heartbeat = (await stream.hear("heartbeat")).heartbeat
        assert heartbeat.server_time.ToNanoseconds() == clock


async def test_at_every_moment_a_stream_begins_with_the_view_as_it_is(service: Service) -> None:
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[1])
    while (before := await seen(service, table, 1)).view.parts.progress.phase not in DEAL_OVER:
        stream.call.cancel()
        stream = RawSeat(service, table.tokens[1])
        assert await stream.attach() == before
        turn = await acting(service, table)
        assert turn is not None
        accepted = (await act(service, table, *turn)).accepted
        notices = [(await stream.hear("notice")).notice.version for _ in range(before.version, accepted.last_version)]
        assert notices == list(range(before.version + 1, accepted.last_version + 1))


def bidding_high(view: view_pb2.View) -> pb.Command | None:
    """Bid the highest there is, or pass; name spades; lead the lowest spade there is; the rest on the advice."""
    advice = view.parts.advice
    match advice.WhichOneof("choice"):
        case "call" if advice.call.may_pass:
            return pb.Command(pass_bid=bidding_pb2.PassBid())
        case "call":
            return pb.Command(bid=bidding_pb2.Bid(points=advice.call.bids[0]))
        case "name":
            return pb.Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.TRUMP_SPADES))
        case "lead" if spades := [card for card in view.parts.hand.cards if 39 <= card % 54 < 52]:
            return pb.Command(play_cards=playing_pb2.PlayCards(cards=spades[:1]))
        case _:
            return suggested(view)


def two_seats_short_of_trumps(rules: Rules) -> Shuffled:
    """Where trump is spades seat 2 holds none and seat 3 a single one."""
    sides = [card for card in rules.deck if card % 54 < 39 and card % 13 not in (1, 6)]
    spade = next(card for card in rules.deck if card % 54 == 47)
    second, third = sides[: rules.hand_size], [*sides[rules.hand_size : 2 * rules.hand_size - 1], spade]
    others = [card for card in rules.deck if card not in {*second, *third}]
    order = tuple(others[: 2 * rules.hand_size] + second + third + others[2 * rules.hand_size :])
    return Shuffled(order, bytes(32), commitment(bytes(32), order))


@pytest.mark.parametrize("options", ALL_ROOMS.values(), ids=ALL_ROOMS)
async def test_whoever_comes_back_is_told_what_happened_as_far_as_it_may_look_back(
    tmp_path: Path, options: room_pb2.RoomOptions
) -> None:
    four = options.HasField("four_player")
    async with served(tmp_path, shuffle=two_seats_short_of_trumps if four else seeded(5)) as service:
        table = await seated(service.platform, options)
        for seat in range(len(table.tokens)):
            told = (await seen(service, table, seat, 0)).missed
            assert [notice.WhichOneof("cause") for notice in told] == ["deal_started"]
        staying = await witnesses(service, table)
        began = staying[0].version
        kinds: set[str] = set()
        while (await seen(service, table, 0)).view.parts.progress.phase not in DEAL_OVER:
            turn = await acting(service, table, bidding_high)
            assert turn is not None
            head = (await act(service, table, *turn)).accepted.last_version
            seat = head % len(staying)
            await staying[seat].hear_of(head)
            expected = may_look_back(staying[seat].notices, options)
            for last in (began, max(began, head - 5), head - 1, head, head + 1):
                told = (await seen(service, table, seat, last)).missed
                assert list(told) == [notice for notice in expected if notice.version > last]
            whole = (await seen(service, table, seat, 0)).missed
            kinds.update(notice.WhichOneof("cause") or "" for notice in whole)
            assert list(whole)[-len(expected) :] == expected
            assert len(whole) <= LOOKED_BACK
            assert not (await seen(service, table, seat)).missed, "nothing is told to whoever names no version"
        assert kinds >= {"declarer_found", "cards_buried", "cards_led", "cards_followed", "deal_ended"}
        returning = RawSeat(service, table.tokens[0])
        assert await returning.attach(last_version=0) == await seen(service, table, 0, 0)


def may_look_back(notices: list[pb.Notice], options: room_pb2.RoomOptions) -> list[pb.Notice]:
    """Of all notices since the deal began, what is told again: a second reading of the rule."""
    told = [as_missed(notice) for notice in notices]
    leads = [place for place, notice in enumerate(told) if notice.HasField("cards_led")]
    if any(notice.HasField("trump_named") for notice in told):
        for notice in told:
            if notice.HasField("declarer_found"):
                notice.declarer_found.ClearField("shown_kitty")
    return told[leads[-1] if leads and options.no_review else 0 :][-LOOKED_BACK:]


def as_missed(notice: pb.Notice) -> pb.Notice:
    """The same without what it changed, which the snapshot holds."""
    missed = pb.Notice()
    missed.CopyFrom(notice)
    missed.ClearField("changed")
    return missed
