"""Numbers on the wire and in the log: one for each value of the core, and none without."""

from collections.abc import Iterable, Mapping
from typing import get_args

import pytest
from erqiwang_core.awards import AwardKind
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.trump import TRUMPS, Group, SuitTrump
from erqiwang_core.match import DisbandReason
from erqiwang_core.options import Deck, Payer, Start
from erqiwang_core.playing import SignalKind
from erqiwang_core.refusals import Code, Phase
from erqiwang_core.scoring import Outcome, Upgrade
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from erqiwang_grpc.events import numbers as stored_numbers
from erqiwang_grpc.rpc.wire import numbers
from erqiwang_grpc.stored.v1 import settlement_pb2 as stored_pb2
from erqiwang_grpc.v1 import card_pb2, playing_pb2, refusal_pb2, room_pb2, settlement_pb2, view_pb2


@pytest.mark.parametrize(
    ("table", "values", "wire"),
    [
        pytest.param(numbers.PHASES, Phase, view_pb2.Phase, id="phases"),
        pytest.param(numbers.GROUPS, Group, card_pb2.Group, id="groups"),
        pytest.param(numbers.NAMED, TRUMPS, card_pb2.Trump, id="trumps"),
        pytest.param(numbers.SIGNALS, SignalKind, playing_pb2.SignalKind, id="signals"),
        pytest.param(numbers.AWARD_KINDS, AwardKind, settlement_pb2.AwardKind, id="awards"),
        pytest.param(numbers.PAYERS, Payer, room_pb2.Payer, id="payers"),
        pytest.param(numbers.STARTS, Start, room_pb2.Start, id="starts"),
        pytest.param(numbers.DECKS, Deck, room_pb2.Deck, id="decks"),
        pytest.param(stored_numbers.AWARD_KINDS, AwardKind, stored_pb2.AwardKind, id="stored awards"),
    ],
)
def test_each_value_has_its_number(
    table: Mapping[object, int], values: Iterable[object], wire: EnumTypeWrapper
) -> None:
    assert set(table) == set(values)
    assert sorted(table.values()) == sorted(set(wire.values()) - {0}), "0 stands for nothing"


@pytest.mark.parametrize(
    ("table", "wire"),
    [
        pytest.param(numbers.DISBAND_REASONS, settlement_pb2.DisbandReason, id="told"),
        pytest.param(stored_numbers.DISBAND_REASONS, stored_pb2.DisbandReason, id="stored"),
    ],
)
def test_each_reason_to_disband_has_its_number_and_0_says_none(
    table: Mapping[DisbandReason, int], wire: EnumTypeWrapper
) -> None:
    assert set(table) == set(DisbandReason)
    assert sorted(table.values()) == sorted(wire.values())
    assert table[DisbandReason.UNSAID] == 0


def test_each_outcome_has_its_number() -> None:
    results = [Upgrade(2) if kind is Upgrade else kind() for kind in get_args(Outcome)]
    for made, wire in (
        ([numbers.outcome(result) for result in results], settlement_pb2.Outcome),
        ([stored_numbers.outcome(result) for result in results], stored_pb2.Outcome),
    ):
        assert sorted(made) == sorted(set(wire.values()) - {0})


@pytest.mark.parametrize("suit", Suit)
def test_a_suit_has_the_same_number_everywhere(suit: Suit) -> None:
    assert card_pb2.Suit.Name(card_pb2.Suit.ValueType(suit)) == f"SUIT_{suit.name}"
    assert card_pb2.Trump.Name(numbers.NAMED[SuitTrump(suit)]) == f"TRUMP_{suit.name}"
    assert int(numbers.NAMED[SuitTrump(suit)]) == int(numbers.GROUPS[Group(suit)]) == suit.value


@pytest.mark.parametrize("code", Code)
def test_a_code_is_the_packets_own(code: Code) -> None:
    assert refusal_pb2.Code.Name(refusal_pb2.Code.ValueType(code)) == f"CODE_{code.name}"


@pytest.mark.parametrize("kind", SignalKind)
def test_a_signal_is_the_packets_own(kind: SignalKind) -> None:
    assert int(numbers.SIGNALS[kind]) == kind.value
