"""Leaving and coming back: the view is the same as if one had never left, and what was said only once is said again."""

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
from erqiwang_grpc.shuffling import commitment, seeded
from erqiwang_grpc.v1 import bidding_pb2, card_pb2, naming_pb2, playing_pb2, room_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.tables import (
    FOUR_PLAYERS,
    Chooser,
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
    commands = service.room(table.room_id).state.commands
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


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(ROOMS["three, review"], {"kitty": 1}, id="the kitty at 70"),
        pytest.param(
            ROOMS["three, no review"], {"kitty": 1, "trick": 28}, id="in no-review rooms the end of each trick"
        ),
        pytest.param(FOUR_PLAYERS, {"kitty": 1, "statement": 1}, id="what four players tell when two are void"),
    ],
)
async def test_what_was_said_once_is_said_again_to_whoever_missed_it(
    tmp_path: Path, options: room_pb2.RoomOptions, expected: dict[str, int]
) -> None:
    four = options.HasField("four_player")
    async with served(tmp_path, shuffle=two_seats_short_of_trumps if four else seeded(5)) as service:
        table = await seated(service.platform, options)
        staying = await witnesses(service, table)
        await play_deal(service, table, staying, bidding_high)
        once = [notice for notice in staying[0].notices if said_once(notice, options)]
        assert {kind: sum(said_once(notice, options) == kind for notice in once) for kind in expected} == expected
        assert len(once) == sum(expected.values())
        for seat, witness in enumerate(staying):
            for last in range(staying[0].version + 2):
                missed = [as_missed(n) for n in witness.notices if n.version > last and said_once(n, options)]
                assert list((await seen(service, table, seat, last)).missed) == missed
        assert not (await seen(service, table, 0)).missed, "nothing is repeated to whoever names no version"
        returning = RawSeat(service, table.tokens[0])
        assert len((await returning.attach(last_version=0)).missed) == len(once)


async def play_deal(service: Service, table: Table, staying: list[Witness], choose: Chooser) -> None:
    while staying[0].view.parts.progress.phase not in DEAL_OVER:
        turn = await acting(service, table, choose)
        assert turn is not None
        accepted = (await act(service, table, *turn)).accepted
        for witness in staying:
            await witness.hear_of(accepted.last_version)


def said_once(notice: pb.Notice, options: room_pb2.RoomOptions) -> str:
    """What a notice says that no later view does; empty where nothing."""
    if notice.declarer_found.shown_kitty:
        return "kitty"
    if notice.cards_led.statements or notice.cards_followed.statements:
        return "statement"
    return "trick" if options.no_review and notice.cards_followed.HasField("taken") else ""


def as_missed(notice: pb.Notice) -> pb.Notice:
    """The same without what it changed, which the snapshot holds."""
    missed = pb.Notice()
    missed.CopyFrom(notice)
    missed.ClearField("changed")
    return missed
