"""Refusals: to the sender alone, with code, reason and data; the stream stays open, and nothing has changed (rules §15)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import grpc
import pytest

from erqiwang_grpc.client import CallRefused, refusal_of
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.v1 import (
    bidding_pb2,
    burying_pb2,
    card_pb2,
    naming_pb2,
    playing_pb2,
    refusal_pb2,
    room_pb2,
    room_service_pb2,
    seat_service_pb2 as pb,
    settlement_pb2,
    view_pb2,
)
from tests.service.gateways import TRANSPORTS, Transport
from tests.service.tables import Service, Table, act, acting, seated, seen, served, step, suggested

Said: TypeAlias = Callable[[view_pb2.View], pb.Command]

BIDDING: Final = view_pb2.PHASE_BIDDING
NAMING: Final = view_pb2.PHASE_NAMING
BURYING: Final = view_pb2.PHASE_BURYING
PLAYING: Final = view_pb2.PHASE_PLAYING
STEP: Final = refusal_pb2.CODE_STEP
SEAT: Final = refusal_pb2.CODE_SEAT
PARAM: Final = refusal_pb2.CODE_PARAM
RULE: Final = refusal_pb2.CODE_RULE
STATUSES: Final = {
    STEP: grpc.StatusCode.FAILED_PRECONDITION,
    SEAT: grpc.StatusCode.FAILED_PRECONDITION,
    PARAM: grpc.StatusCode.INVALID_ARGUMENT,
    RULE: grpc.StatusCode.FAILED_PRECONDITION,
}


def always(command: pb.Command) -> Said:
    return lambda _: command


def bid(points: int) -> Said:
    return always(pb.Command(bid=bidding_pb2.Bid(points=points)))


def name(trump: int) -> Said:
    # The enum is open: any number may be on the wire.
    return always(pb.Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.Trump.ValueType(trump))))


def bury(choose: Callable[[Sequence[int]], Sequence[int]]) -> Said:
    return lambda view: pb.Command(bury=burying_pb2.Bury(cards=choose(view.parts.hand.cards)))


def cards(choose: Callable[[Sequence[int]], Sequence[int]]) -> Said:
    return lambda view: pb.Command(play_cards=playing_pb2.PlayCards(cards=choose(view.parts.hand.cards)))


def foreign(hand: Sequence[int]) -> int:
    """A card of the deck that is not in the hand."""
    return next(card for card in range(4, 108) if card not in hand and card % 13 not in (2, 3))


def three_of_a_side_suit(view: view_pb2.View) -> pb.Command:
    """Three kinds of one side suit, which together are no single, pair or tractor."""
    trump = view.parts.contract.trump
    for suit in range(1, 5):
        kinds = {card % 54: card for card in view.parts.hand.cards if card % 54 // 13 + 1 == suit}
        plain = [card for kind, card in kinds.items() if kind % 13 not in (1, 6)]
        if suit != trump and len(plain) >= 3:
            return pb.Command(play_cards=playing_pb2.PlayCards(cards=plain[:3]))
    raise AssertionError("a hand of 28 has such a suit")


READY: Final = always(pb.Command(ready=settlement_pb2.Ready()))
PASS: Final = always(pb.Command(pass_bid=bidding_pb2.PassBid()))
SURRENDER: Final = always(pb.Command(surrender=naming_pb2.Surrender()))
SHOW: Final = always(pb.Command(show_trumps=playing_pb2.ShowTrumps()))


def signal(kind: playing_pb2.SignalKind.ValueType) -> Said:
    return always(pb.Command(signal=playing_pb2.Signal(signal=kind)))


ROWS: Final = [
    # (phase, whether the seat whose turn it is speaks, what it says, the reason, its code)
    pytest.param(BIDDING, True, always(pb.Command()), "no_command", PARAM, id="nothing is said"),
    pytest.param(BIDDING, True, PASS, "first_bidder_must_bid", RULE, id="the first bidder must bid"),
    pytest.param(BIDDING, True, bid(71), "not_a_bid", PARAM, id="no multiple of 5"),
    pytest.param(BIDDING, True, bid(0), "not_a_bid", PARAM, id="0 is no bid of three players"),
    pytest.param(BIDDING, True, bid(2**32 - 1), "not_a_bid", PARAM, id="a bid beyond all"),
    pytest.param(BIDDING, False, bid(70), "not_your_turn", SEAT, id="another seat bids"),
    pytest.param(BIDDING, True, READY, "wrong_phase", STEP, id="ready in the bidding"),
    pytest.param(BIDDING, True, bury(lambda hand: hand[:8]), "wrong_phase", STEP, id="burying in the bidding"),
    pytest.param(
        BIDDING, False, cards(lambda hand: hand[:1]), "wrong_phase", STEP, id="the phase comes before the turn"
    ),
    pytest.param(BIDDING, True, SHOW, "wrong_phase", STEP, id="trumps shown in the bidding"),
    pytest.param(NAMING, True, name(0), "not_a_trump", PARAM, id="no trump named"),
    pytest.param(NAMING, True, name(5), "not_a_trump", PARAM, id="no trump is for four players"),
    pytest.param(NAMING, True, name(99), "not_a_trump", PARAM, id="no such trump"),
    pytest.param(NAMING, False, name(1), "not_your_turn", SEAT, id="a defender names"),
    pytest.param(NAMING, True, SURRENDER, "surrender_not_allowed", RULE, id="surrender below 70"),
    pytest.param(BURYING, True, bury(lambda hand: hand[:7]), "wrong_number_of_cards", PARAM, id="7 buried"),
    pytest.param(BURYING, True, bury(lambda hand: [*hand[:7], hand[0]]), "repeated_card", PARAM, id="one buried twice"),
    pytest.param(BURYING, True, bury(lambda hand: [*hand[:7], 108]), "not_a_card", PARAM, id="no such card"),
    pytest.param(BURYING, True, bury(lambda hand: [*hand[:7], 2**32 - 1]), "not_a_card", PARAM, id="a card beyond all"),
    pytest.param(
        BURYING, True, bury(lambda hand: [*hand[:7], foreign(hand)]), "card_not_held", PARAM, id="another's card buried"
    ),
    pytest.param(BURYING, False, bury(lambda hand: hand[:8]), "not_your_turn", SEAT, id="a defender buries"),
    pytest.param(PLAYING, True, cards(lambda _: []), "wrong_number_of_cards", PARAM, id="an empty lead"),
    pytest.param(PLAYING, True, cards(lambda hand: hand), "several_groups", RULE, id="the whole hand led"),
    pytest.param(PLAYING, True, three_of_a_side_suit, "side_suit_throw", RULE, id="a throw of a side suit"),
    pytest.param(PLAYING, True, cards(lambda hand: [foreign(hand)]), "card_not_held", PARAM, id="another's card led"),
    pytest.param(PLAYING, False, cards(lambda hand: hand[:1]), "not_your_turn", SEAT, id="a lead out of turn"),
    pytest.param(
        PLAYING,
        True,
        signal(playing_pb2.SIGNAL_KIND_CAN_BEAT),
        "declarer_may_not_signal",
        RULE,
        id="the declarer signals",
    ),
    pytest.param(
        PLAYING, False, signal(playing_pb2.SIGNAL_KIND_UNSPECIFIED), "not_a_signal", PARAM, id="no such signal"
    ),
    pytest.param(PLAYING, True, SHOW, "nobody_is_void", RULE, id="trumps shown while nobody is void"),
]


def at_65(view: view_pb2.View) -> pb.Command | None:
    """The first bidder bids 65, where surrender is not open; the rest on the advice."""
    call = view.parts.advice.call
    return bid(65)(view) if call.bids and not call.may_pass else suggested(view)


async def at(service: Service, phase: view_pb2.Phase.ValueType) -> tuple[Table, int]:
    """A table where a deal stands at the beginning of that phase, and the seat whose turn it is."""
    table = await seated(service.platform)
    while (await seen(service, table, 0)).view.parts.progress.phase != phase:
        await step(service, table, at_65)
    turn = await acting(service, table)
    assert turn is not None
    return table, turn[0]


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize(("phase", "is_in_turn", "said", "reason", "code"), ROWS)
async def test_refused(
    tmp_path: Path,
    transport: Transport,
    phase: view_pb2.Phase.ValueType,
    is_in_turn: bool,
    said: Said,
    reason: str,
    code: refusal_pb2.Code.ValueType,
) -> None:
    async with served(tmp_path, shuffle=seeded(1)) as service, transport(service) as seat_of:
        table, turn = await at(service, phase)
        seat = turn if is_in_turn else (turn + 1) % 3
        streams = [seat_of(token) for token in table.tokens]
        for stream in streams:
            await stream.attach()
        before = [await seen(service, table, each) for each in range(3)]
        command = said(before[seat].view)
        refused = await by_act(service, table, seat, command)
        assert refused.refusal is not None
        assert (refused.refusal.WhichOneof("reason"), refused.refusal.code) == (reason, code)
        assert (refused.code, refused.reason) == (STATUSES[code], reason.upper())
        assert refused.refusal.message
        await streams[seat].say(pb.PlayRequest(command_id="bad", command=command))
        on_stream = (await streams[seat].hear("refused")).refused
        assert on_stream == pb.Refused(command_id="bad", request=2, refusal=refused.refusal, version=before[0].version)
        assert [await seen(service, table, each) for each in range(3)] == before
        accepted = await step(service, table)
        for stream in streams:
            # What it is told next: nothing of the refusal, and the stream is open.
            while (message := await stream.next()) is not None and message.HasField("presence"):
                pass
            assert message is not None
            assert message.notice.version == accepted.first_version


async def by_act(service: Service, table: Table, seat: int, command: pb.Command) -> CallRefused:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await act(service, table, seat, command)
    return refusal_of(error.value)


async def test_what_a_refused_follow_tells_of_the_own_hand_is_true(tmp_path: Path) -> None:
    """It names a legal play, which is accepted, and the compulsory cards, which are in it."""
    async with served(tmp_path, shuffle=seeded(2)) as service:
        table, _ = await at(service, PLAYING)
        refusals = 0
        while refusals < 5:
            turn = await acting(service, table)
            assert turn is not None
            view = (await seen(service, table, turn[0])).view
            advice = view.parts.advice.follow
            wrong = [card for card in view.parts.hand.cards if card not in advice.may][: advice.count]
            if not advice.count or len(wrong) < advice.count:
                await act(service, table, *turn)
                continue
            refusal = (
                await by_act(service, table, turn[0], pb.Command(play_cards=playing_pb2.PlayCards(cards=wrong)))
            ).refusal
            assert refusal is not None
            breach = getattr(refusal, str(refusal.WhichOneof("reason")))
            assert set(breach.compulsory) == set(advice.must)
            assert set(breach.compulsory) <= set(breach.legal) <= set(view.parts.hand.cards)
            await act(service, table, turn[0], pb.Command(play_cards=playing_pb2.PlayCards(cards=breach.legal)))
            refusals += 1


async def test_a_no_review_room_shows_no_trumps(service: Service) -> None:
    table = await seated(service.platform, room_pb2.RoomOptions(no_review=True))
    while (await seen(service, table, 0)).view.parts.progress.phase != PLAYING:
        await step(service, table)
    assert (await by_act(service, table, 0, SHOW(view_pb2.View()))).reason == "NOT_IN_THIS_ROOM"


async def test_a_seat_of_a_room_that_is_not_full_waits(service: Service) -> None:
    room = await service.platform.create_room("alice")
    seat = await service.platform.take_seat(room.room_id, "alice")
    refused = await by_act(service, Table(room.room_id, (seat.token,)), 0, bid(70)(view_pb2.View()))
    assert refused.refusal is not None
    assert refused.refusal.wrong_phase.phase == view_pb2.PHASE_OPEN


async def test_a_seat_of_a_match_that_is_over_is_told_so(service: Service) -> None:
    table = await seated(service.platform)
    await service.platform.disband_room(table.room_id)
    refused = await by_act(service, table, 0, bid(70)(view_pb2.View()))
    assert refused.refusal is not None
    assert refused.refusal.wrong_phase.phase == view_pb2.PHASE_OVER


async def test_what_a_platform_may_be_refused(service: Service) -> None:
    platform = service.platform
    room = await platform.create_room("alice")
    await platform.take_seat(room.room_id, "alice", 0)
    for wrong, reason, status in (
        (platform.room("no such room"), "NO_SUCH_ROOM", grpc.StatusCode.NOT_FOUND),
        (platform.take_seat(room.room_id, "bob", 0), "SEAT_OCCUPIED", grpc.StatusCode.FAILED_PRECONDITION),
        (platform.take_seat(room.room_id, "alice", 1), "SEATED_ELSEWHERE", grpc.StatusCode.FAILED_PRECONDITION),
        (platform.take_seat(room.room_id, "bob", 3), "NO_SUCH_SEAT", grpc.StatusCode.INVALID_ARGUMENT),
        (platform.take_seat(room.room_id, "bob", 2**32 - 1), "NO_SUCH_SEAT", grpc.StatusCode.INVALID_ARGUMENT),
        (platform.leave_seat(room.room_id, 1), "SEAT_FREE", grpc.StatusCode.FAILED_PRECONDITION),
        (platform.leave_seat(room.room_id, 9), "NO_SUCH_SEAT", grpc.StatusCode.INVALID_ARGUMENT),
        (platform.take_seat(room.room_id, ""), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
        (platform.take_seat(room.room_id, "b" * 129), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
        (
            platform.take_seat(room.room_id, "bob", command_id="x" * 65),
            "INVALID_FIELD",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (platform.create_room(""), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
        (platform.create_room("a", room_pb2.RoomOptions(deals=7)), "INVALID_FIELD", grpc.StatusCode.INVALID_ARGUMENT),
        (anext(platform.watch("no cursor")), "INVALID_CURSOR", grpc.StatusCode.INVALID_ARGUMENT),
    ):
        with pytest.raises(CallRefused) as refused:
            await wrong
        assert (refused.value.reason, refused.value.code) == (reason, status)
        assert refused.value.refusal is not None
    after = await platform.room(room.room_id)
    assert after.version == 2, "nothing of it changed anything"
    with pytest.raises(CallRefused) as refused:
        await platform.leave_seat((await seated(platform)).room_id, 0)
    assert refused.value.reason == "WRONG_PHASE"


async def test_create_room_needs_an_id(service: Service) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.rooms.CreateRoom(
            room_service_pb2.CreateRoomRequest(owner="alice"),
            metadata=(("authorization", f"Bearer {service.key}"),),
        )
    refused = refusal_of(error.value)
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")


async def test_a_bid_that_is_not_lower(service: Service) -> None:
    table = await seated(service.platform)
    await act(service, table, 0, bid(65)(view_pb2.View()))
    refused = await by_act(service, table, 1, bid(65)(view_pb2.View()))
    assert refused.refusal is not None
    assert (refused.refusal.bid_not_lower.standing, refused.refusal.code) == (65, RULE)
