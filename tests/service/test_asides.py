"""Signals, shown trumps and presence: told to their addressees alone, never logged, never part of a view."""

from pathlib import Path
from typing import Final

import grpc
import pytest
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.cards import SHORT_DECK
from erqiwang_core.rules import Rules

from erqiwang_grpc.shuffling import commitment
from erqiwang_grpc.v1 import card_pb2, naming_pb2, playing_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.gateways import TRANSPORTS, SeatOf, Transport
from tests.service.tables import Service, Table, act, seated, seen, served, step

NO_POINTS: Final = pb.Command(signal=playing_pb2.Signal(signal=playing_pb2.SIGNAL_KIND_NO_POINTS))
SHOW: Final = pb.Command(show_trumps=playing_pb2.ShowTrumps())


async def in_play(service: Service) -> Table:
    """A table at its first lead."""
    table = await seated(service.platform)
    while (await seen(service, table, 0)).view.parts.progress.phase != view_pb2.PHASE_PLAYING:
        await step(service, table)
    return table


async def test_a_signal_reaches_the_other_defender_alone_and_leaves_no_trace(service: Service, seat_of: SeatOf) -> None:
    table = await in_play(service)
    declarer = (await seen(service, table, 0)).view.parts.contract.declarer
    defenders = [seat for seat in range(3) if seat != declarer]
    before = [await seen(service, table, seat) for seat in range(3)]
    streams = [seat_of(token) for token in table.tokens]
    for stream in streams:
        await stream.attach()
    await streams[defenders[0]].say(pb.PlayRequest(command_id="s", command=NO_POINTS))
    heard = (await streams[defenders[1]].hear("signal_received")).signal_received
    assert (heard.seat, heard.signal) == (defenders[0], playing_pb2.SIGNAL_KIND_NO_POINTS)
    assert [await seen(service, table, seat) for seat in range(3)] == before
    for seat in (declarer, defenders[0]):
        await streams[seat].say(pb.PlayRequest(detach=pb.Detach()))
        kinds = {message.WhichOneof("message") for message in await streams[seat].rest()}
        assert kinds <= {"presence"}, "neither the declarer nor the sender hears of a signal"


async def test_the_declarer_may_not_signal(service: Service) -> None:
    table = await in_play(service)
    declarer = (await seen(service, table, 0)).view.parts.contract.declarer
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await act(service, table, declarer, NO_POINTS)
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION


def seat_2_without_trumps(rules: Rules) -> Shuffled:
    """Seat 2 is dealt side suits alone where trump is spades: all hearts and clubs but the 7s and 2s, and a few diamonds."""
    wanted = [card for card in SHORT_DECK if _is_side_card(card)][: rules.hand_size]
    others = [card for card in rules.deck if card not in wanted]
    order = tuple(others[: 2 * rules.hand_size] + wanted + others[2 * rules.hand_size :])
    return Shuffled(order, bytes(32), commitment(bytes(32), order))


def _is_side_card(card: int) -> bool:
    suit, rank = divmod(card % 54, 13)
    return suit < 3 and rank not in (1, 6)


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_shown_trumps_are_told_to_whoever_asks_and_to_nobody_else(tmp_path: Path, transport: Transport) -> None:
    async with served(tmp_path, shuffle=seat_2_without_trumps) as service, transport(service) as seat_of:
        table = await seated(service.platform)
        while (await seen(service, table, 0)).view.parts.progress.phase != view_pb2.PHASE_NAMING:
            await step(service, table)
        spades = pb.Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.TRUMP_SPADES))
        declarer = (await seen(service, table, 0)).view.parts.contract.declarer
        assert declarer != 2
        await act(service, table, declarer, spades)
        await step(service, table)
        assert list((await seen(service, table, 0)).view.parts.trump_void.void_seats) == [2]
        asking, other = seat_of(table.tokens[2]), seat_of(table.tokens[1])
        await asking.attach()
        await other.attach()
        await asking.say(pb.PlayRequest(command_id="show", command=SHOW))
        shown = (await asking.hear("trumps_shown")).trumps_shown
        hands = {seat: set((await seen(service, table, seat)).view.parts.hand.cards) for seat in (0, 1)}
        assert {holding.seat for holding in shown.holdings} == {0, 1}
        for holding in shown.holdings:
            assert set(holding.cards) == {card for card in hands[holding.seat] if not _is_side_card(card)}
        await other.say(pb.PlayRequest(detach=pb.Detach()))
        assert {message.WhichOneof("message") for message in await other.rest()} <= {"presence"}


async def test_presence_follows_the_streams(service: Service, seat_of: SeatOf) -> None:
    table = await seated(service.platform)
    watching = seat_of(table.tokens[0])
    await watching.attach()
    assert list((await watching.hear("presence")).presence.present) == [True, False, False]
    coming = seat_of(table.tokens[1])
    await coming.attach()
    assert list((await watching.hear("presence")).presence.present) == [True, True, False]
    await coming.say(pb.PlayRequest(detach=pb.Detach()))
    assert list((await watching.hear("presence")).presence.present) == [True, False, False]
    assert await coming.rest() != [], "its own presence, before the end"
    assert coming.refused is None
