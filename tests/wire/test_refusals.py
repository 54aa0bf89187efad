"""Every refusal has its row and its message, and comes over the wire unchanged."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from erqiwang_core.kernel.following import (
    GroupNotFollowed,
    PairsNotPlayed,
    TractorNotPlayed,
    WholeGroupNotPlayed,
)
from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.kernel.shapes import SeveralGroups, SideSuitThrow
from erqiwang_core.kernel.trump import Group
from erqiwang_core.refusals import (
    BidNotLower,
    CardNotHeld,
    DeclarerMayNotSignal,
    FirstBidderMustBid,
    IllegalFollow,
    IllegalLead,
    NobodyIsVoid,
    NoSuchSeat,
    NotABid,
    NotACard,
    NotASignal,
    NotATrump,
    NotInThisRoom,
    NotYourTurn,
    Phase,
    Refusal,
    RepeatedCard,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    SurrenderNotAllowed,
    WrongNumberOfCards,
    WrongPhase,
    code,
)
from erqiwang_core.units import CardId, Points, Seat
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from hypothesis import given, strategies as st

from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.refusals import (
    Bounds,
    CommandIdReused,
    ForeignCursor,
    HintsForbidden,
    InvalidCursor,
    InvalidField,
    NoCommand,
    NoSuchRecord,
    NoSuchRoom,
    NothingToDecide,
    OutcomeUnknown,
    Quota,
    QuotaReached,
    Refused,
    RoomFull,
    RoomQuarantined,
    SeatChangesUsedUp,
    ServiceRefusal,
    StaleVersion,
    StoreUnavailable,
    TooManyCommands,
    TooManyHints,
    TooManyRooms,
    Unit,
    WrittenByNewer,
    reason,
    sentence,
)
from erqiwang_grpc.rpc.wire import decode as read, encode
from erqiwang_grpc.rpc.wire.status import DOMAIN, refused_status
from erqiwang_grpc.store.port import Version
from erqiwang_grpc.v1 import refusal_pb2

HELD: Final = cards_of([CardId(3), CardId(57)])
LEGAL: Final = cards_of([CardId(3), CardId(57), CardId(107)])

REFUSALS_OF_THE_CORE: Final[tuple[Refusal, ...]] = (
    *(WrongPhase(phase) for phase in Phase),
    NoSuchSeat(7, 3),
    NotYourTurn(Seat(0)),
    NotYourTurn(Seat(2)),
    SeatOccupied(Seat(1)),
    SeatFree(Seat(0)),
    SeatedElsewhere(Seat(3)),
    NotABid(71, (Points(70), Points(65))),
    NotATrump(-1, (1, 2, 3, 4)),
    NotATrump(6, (1, 5)),
    NotASignal(0),
    NotACard(108),
    RepeatedCard(0),
    CardNotHeld(5),
    WrongNumberOfCards(0, 0),
    WrongNumberOfCards(8, 7),
    FirstBidderMustBid(Points(70)),
    BidNotLower(Points(0)),
    SurrenderNotAllowed(Points(65)),
    IllegalLead(SeveralGroups((Group.TRUMPS, Group.SPADES)), LEGAL),
    IllegalLead(SideSuitThrow(Group.CLUBS), LEGAL),
    IllegalFollow(WholeGroupNotPlayed(Group.TRUMPS), HELD, LEGAL),
    IllegalFollow(GroupNotFollowed(Group.DIAMONDS), HELD, LEGAL),
    IllegalFollow(TractorNotPlayed(3), HELD, LEGAL),
    IllegalFollow(PairsNotPlayed(2), HELD, LEGAL),
    DeclarerMayNotSignal(),
    NotInThisRoom(),
    NobodyIsVoid(),
)
REFUSALS_OF_THE_SERVICE: Final[tuple[ServiceRefusal, ...]] = (
    NoSuchRoom(),
    CommandIdReused(),
    StaleVersion(Version(0)),
    StaleVersion(Version(12)),
    NoCommand(),
    RoomQuarantined(Version(2**40)),
    TooManyCommands(20),
    StoreUnavailable(),
    *(InvalidField("owner", Bounds(unit, 129, 1, 128)) for unit in Unit),
    InvalidField("choice.options.deals", Bounds(Unit.VALUE, -7, 0, 12, (0, 6, 12))),
    TooManyRooms(100_000),
    *(QuotaReached(quota, 500) for quota in Quota),
    NoSuchRecord(),
    InvalidCursor("page_token"),
    RoomFull(3),
    ForeignCursor(),
    OutcomeUnknown(),
    SeatChangesUsedUp(1_000),
    WrittenByNewer(),
    HintsForbidden(),
    *(NothingToDecide(phase) for phase in Phase),
    TooManyHints(),
)
ALL: Final[tuple[Refused, ...]] = (*REFUSALS_OF_THE_CORE, *REFUSALS_OF_THE_SERVICE)
RETRIED: Final = (
    TooManyCommands,
    StoreUnavailable,
    WrittenByNewer,
    OutcomeUnknown,
    TooManyRooms,
    QuotaReached,
    TooManyHints,
)
REASONS: Final = {field.name for field in refusal_pb2.Refusal.DESCRIPTOR.oneofs_by_name["reason"].fields}


def test_every_refusal_has_a_row_and_every_row_a_refusal() -> None:
    rows = {why for why in Reason if why.value.code is not None}
    assert {why.name.lower() for why in rows} == REASONS
    assert {reason(refused) for refused in ALL} == rows, "the examples above leave none out"


@pytest.mark.parametrize("refused", REFUSALS_OF_THE_CORE, ids=repr)
def test_the_table_and_the_core_say_the_same_code(refused: Refusal) -> None:
    assert reason(refused).value.code is code(refused)


@pytest.mark.parametrize("refused", ALL, ids=repr)
def test_a_refusal_comes_over_the_wire_unchanged(refused: Refused) -> None:
    message = refusal_pb2.Refusal.FromString(encode.refusal(refused).SerializeToString())
    why = reason(refused)
    assert message.WhichOneof("reason") == why.name.lower()
    assert (int(message.code), message.message) == (why.value.code, sentence(refused))
    assert read.refusal(message) == refused


@pytest.mark.parametrize("refused", ALL, ids=repr)
def test_a_status_says_all_that_the_refusal_does(refused: Refused) -> None:
    made, why = refused_status(refused), reason(refused)
    assert (made.code, made.message) == (why.value.status, sentence(refused))
    info, told = ErrorInfo(), refusal_pb2.Refusal()
    assert made.details[0].Unpack(info)
    assert (info.reason, info.domain) == (why.name, DOMAIN)
    assert made.details[1].Unpack(told)
    assert told == encode.refusal(refused)
    more = [detail.TypeName() for detail in made.details[2:]]
    assert more == [RetryInfo.DESCRIPTOR.full_name] * isinstance(refused, RETRIED)


REPOSITORY: Final = Path(__file__).parents[2]
PARAMETERS: Final[dict[str, Callable[[int], Refused]]] = {
    "bid": lambda number: NotABid(number, (Points(70), Points(65))),
    "trump": lambda number: NotATrump(number, (1, 2, 3, 4)),
    "signal": NotASignal,
    "card": NotACard,
    "seat": lambda number: NoSuchSeat(number, 3),
}


@pytest.mark.parametrize("kind", PARAMETERS)
@given(number=st.integers())
def test_any_number_that_was_refused_can_be_told(kind: str, number: int) -> None:
    refused = PARAMETERS[kind](number)
    told = read.refusal(encode.refusal(refused))
    assert type(told) is type(refused)
    assert told == refused or not 0 <= number < 2**31


@pytest.mark.parametrize(
    ("kind", "bounds", "said"),
    [
        ("bid", {"points": "71", "bids": "70,65"}, "The game has no bid of 71: its bids are 70 or 65."),
        (
            "trump",
            {"trump": "71", "trumps": "1,2,3,4"},
            "The game has no trump choice 71: its choices are 1, 2, 3 or 4.",
        ),
        ("signal", {"signal": "71", "signals": "1,2,3"}, "There is no signal 71: signals are 1, 2 or 3."),
        ("card", {"card": "71", "highest": "107"}, "No card has the id 71: ids are 0 to 107."),
        ("seat", {"seat": "71", "seats": "3"}, "The table has no seat 71: its seats are 0 to 2."),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_what_would(kind: str, bounds: dict[str, str], said: str) -> None:
    status, info = refused_status(PARAMETERS[kind](71)), ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (status.message, dict(info.metadata)) == (said, bounds)


METADATA: Final[list[tuple[Refused, dict[str, str]]]] = [
    (WrongPhase(Phase.BIDDING), {"phase": "PHASE_BIDDING"}),
    (SeatOccupied(Seat(0)), {"seat": "0"}),
    (WrongNumberOfCards(8, 7), {"expected": "8", "given": "7"}),
    (IllegalLead(SeveralGroups((Group.TRUMPS, Group.SPADES)), LEGAL), {"groups": "GROUP_TRUMPS,GROUP_SPADES"}),
    (IllegalFollow(PairsNotPlayed(2), HELD, LEGAL), {"group": "GROUP_UNSPECIFIED", "pairs": "2"}),
    (NoSuchRoom(), {}),
    (
        InvalidField("player", Bounds(Unit.BYTES, 129, 1, 128)),
        {"field": "player", "given": "129", "least": "1", "most": "128", "unit": "UNIT_BYTES"},
    ),
    (
        InvalidField("choice.options.deals", Bounds(Unit.VALUE, 7, 0, 12, (0, 6, 12))),
        {
            "field": "choice.options.deals",
            "given": "7",
            "least": "0",
            "most": "12",
            "unit": "UNIT_UNSPECIFIED",
            "allowed": "0,6,12",
        },
    ),
]


@pytest.mark.parametrize(("refused", "told"), METADATA, ids=repr)
def test_the_metadata_says_what_the_refusal_does_but_for_cards(refused: Refused, told: dict[str, str]) -> None:
    info = ErrorInfo()
    assert refused_status(refused).details[0].Unpack(info)
    assert dict(info.metadata) == told


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (Bounds(Unit.BYTES, 0, 1, 128), "`x` must have 1 to 128 bytes, and has 0."),
        (Bounds(Unit.SECONDS, 3601, 0, 3600), "`x` must have 0 to 3600 seconds, and has 3601."),
        (Bounds(Unit.VALUE, 7, 0, 12, (0, 6, 12)), "`x` must have 0, 6 or 12, and has 7."),
        (Bounds(Unit.CONTROL_CHARACTERS, 2, 0, 0), "`x` must have 0 control characters, and has 2."),
    ],
    ids=repr,
)
def test_the_sentence_names_the_field_and_what_it_can_have(bounds: Bounds, said: str) -> None:
    assert sentence(InvalidField("x", bounds)) == said


def test_the_page_of_errors_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/errors.py", "--check"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
