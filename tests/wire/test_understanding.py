"""A client that is sent what it does not know says so, and fails in no other way."""

from collections.abc import Callable

import pytest
from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat
from hypothesis import given

from erqiwang_grpc.rpc.wire import decode as read
from erqiwang_grpc.rpc.wire.decode import NotUnderstood
from erqiwang_grpc.v1 import card_pb2, playing_pb2, refusal_pb2, seat_service_pb2, settlement_pb2, view_pb2
from tests.deals.plans import examples
from tests.wire.arbitrary import messages

OPTIONS = RoomOptions()
RULES = game_rules(OPTIONS.game, OPTIONS.review)
NEW_TRUMP = card_pb2.Trump.ValueType(6)
EMPTY_FIELD_200 = bytes([0xC2, 0x0C, 0])
PLAIN = ("no_such_seat", "not_a_card", "stale_version", "no_such_room", "invalid_option")
"""Reasons with nothing in them that could be unknown."""


def is_understood(reading: Callable[[], object]) -> bool:
    """Whether something could be read; that it could not is said by `NotUnderstood` and by nothing else."""
    try:
        reading()
    except NotUnderstood:
        return False
    return True


@examples(0.5)
@given(
    view=messages(view_pb2.View),
    notice=messages(seat_service_pb2.Notice),
    refusal=messages(refusal_pb2.Refusal),
    settlement=messages(settlement_pb2.Settlement),
    aside=messages(playing_pb2.SignalReceived) | messages(playing_pb2.TrumpsShown),
)
def test_anything_sent_is_read_or_not_understood(
    view: view_pb2.View,
    notice: seat_service_pb2.Notice,
    refusal: refusal_pb2.Refusal,
    settlement: settlement_pb2.Settlement,
    aside: playing_pb2.SignalReceived | playing_pb2.TrumpsShown,
) -> None:
    is_understood(lambda: read.view(view))
    is_understood(lambda: read.notice(notice, OPTIONS))
    is_understood(lambda: read.settlement(settlement, RULES))
    is_understood(lambda: read.aside(aside, Seat(0)))
    assert is_understood(lambda: read.refusal(refusal)) or refusal.WhichOneof("reason") not in PLAIN


@pytest.mark.parametrize(
    "reading",
    [
        pytest.param(lambda: read.refusal(refusal_pb2.Refusal()), id="a refusal without a reason"),
        pytest.param(lambda: read.notice(seat_service_pb2.Notice(), OPTIONS), id="a notice without a cause"),
        pytest.param(lambda: read.view(view_pb2.View()), id="a view without a phase"),
        pytest.param(
            lambda: read.parts(view_pb2.Parts(hand=view_pb2.HandPart(cards=[108])), OPTIONS), id="a card that is none"
        ),
        pytest.param(
            lambda: read.settlement(settlement_pb2.Settlement(declarer=1, bid=71), RULES), id="a bid that is none"
        ),
        pytest.param(
            lambda: read.parts(view_pb2.Parts(contract=view_pb2.ContractPart(declarer=0, trump=NEW_TRUMP)), OPTIONS),
            id="a trump of a game to come",
        ),
    ],
)
def test_what_is_not_known_is_said(reading: Callable[[], object]) -> None:
    assert not is_understood(reading)


def test_a_part_that_is_not_known_is_passed_over() -> None:
    """A newer server may have parts that this client has not: it goes on without them."""
    known = view_pb2.Parts(hand=view_pb2.HandPart(cards=[3]))
    newer = view_pb2.Parts.FromString(known.SerializeToString() + EMPTY_FIELD_200)
    assert newer != known
    assert read.parts(newer, OPTIONS) == read.parts(known, OPTIONS)
