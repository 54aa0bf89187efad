"""Every refusal has its row and its message, and comes over the wire unchanged."""

from pathlib import Path
from typing import Final, get_args

import pytest
from erqiwang_core.kernel.following import (
    Breach,
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

from erqiwang_grpc.rooms.refusals import (
    Bounds,
    CommandIdReused,
    ForeignCursor,
    InvalidCursor,
    InvalidField,
    LogUnavailable,
    NoCommand,
    NoSuchRecord,
    NoSuchRoom,
    OutcomeUnknown,
    Quota,
    QuotaReached,
    Refused,
    RoomFull,
    RoomQuarantined,
    ServiceRefusal,
    StaleVersion,
    TooManyCommands,
    TooManyRooms,
    Unit,
)
from erqiwang_grpc.rpc.wire import decode as read, encode, errors_doc
from erqiwang_grpc.rpc.wire.rulings import RULINGS, ruling, sentence
from erqiwang_grpc.rpc.wire.status import DOMAIN, status
from erqiwang_grpc.store.port import Version
from erqiwang_grpc.v1 import refusal_pb2

HELD: Final = cards_of([CardId(3), CardId(57)])
LEGAL: Final = cards_of([CardId(3), CardId(57), CardId(107)])

REFUSALS_OF_THE_CORE: Final[tuple[Refusal, ...]] = (
    *(WrongPhase(phase) for phase in Phase),
    NoSuchSeat(7),
    NotYourTurn(Seat(0)),
    NotYourTurn(Seat(2)),
    SeatOccupied(Seat(1)),
    SeatFree(Seat(0)),
    SeatedElsewhere(Seat(3)),
    NotABid(71),
    NotATrump(-1),
    NotATrump(6),
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
    LogUnavailable(),
    *(InvalidField("owner", Bounds(unit, 129, 1, 128)) for unit in Unit),
    InvalidField("choice.options.deals", Bounds(Unit.VALUE, -7, 0, 12, (0, 6, 12))),
    TooManyRooms(100_000),
    *(QuotaReached(quota, 500) for quota in Quota),
    NoSuchRecord(),
    InvalidCursor("page_token"),
    RoomFull(3),
    ForeignCursor(),
    OutcomeUnknown(),
)
ALL: Final[tuple[Refused, ...]] = (*REFUSALS_OF_THE_CORE, *REFUSALS_OF_THE_SERVICE)
RETRIED: Final = (TooManyCommands, LogUnavailable, OutcomeUnknown, TooManyRooms, QuotaReached)
REASONS: Final = {field.name for field in refusal_pb2.Refusal.DESCRIPTOR.oneofs_by_name["reason"].fields}


def test_the_table_has_a_row_for_every_reason() -> None:
    with_faults = {*get_args(Refusal), *get_args(ServiceRefusal)} - {IllegalLead, IllegalFollow}
    assert set(RULINGS) == with_faults | {SeveralGroups, SideSuitThrow} | set(get_args(Breach))
    assert {row.reason for row in RULINGS.values()} == REASONS
    assert len(RULINGS) == len(REASONS), "a reason has two rows"


def test_the_examples_below_leave_none_out() -> None:
    assert {ruling(refused).reason for refused in ALL} == REASONS


@pytest.mark.parametrize("refused", REFUSALS_OF_THE_CORE, ids=repr)
def test_the_table_and_the_core_say_the_same_code(refused: Refusal) -> None:
    assert ruling(refused).code is code(refused)


@pytest.mark.parametrize("refused", ALL, ids=repr)
def test_a_refusal_comes_over_the_wire_unchanged(refused: Refused) -> None:
    message = refusal_pb2.Refusal.FromString(encode.refusal(refused).SerializeToString())
    row = ruling(refused)
    assert message.WhichOneof("reason") == row.reason
    assert (int(message.code), message.message) == (row.code.value, sentence(refused))
    assert read.refusal(message) == refused


@pytest.mark.parametrize("refused", ALL, ids=repr)
def test_a_status_says_all_that_the_refusal_does(refused: Refused) -> None:
    made, row = status(refused), ruling(refused)
    assert (made.code, made.message) == (row.status.value[0], sentence(refused))
    info, told = ErrorInfo(), refusal_pb2.Refusal()
    assert made.details[0].Unpack(info)
    assert (info.reason, info.domain) == (row.reason.upper(), DOMAIN)
    assert made.details[1].Unpack(told)
    assert told == encode.refusal(refused)
    more = [detail.TypeName() for detail in made.details[2:]]
    assert more == [RetryInfo.DESCRIPTOR.full_name] * isinstance(refused, RETRIED)


@given(number=st.integers(), kind=st.sampled_from((NotABid, NotATrump, NotASignal, NotACard, NoSuchSeat)))
def test_any_number_that_was_refused_can_be_told(
    number: int, kind: type[NotABid | NotATrump | NotASignal | NotACard | NoSuchSeat]
) -> None:
    refused = kind(number)
    told = read.refusal(encode.refusal(refused))
    assert type(told) is kind
    assert told == refused or not 0 <= number < 2**31


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
    assert status(refused).details[0].Unpack(info)
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
    page = Path(__file__).parents[2] / "docs" / "errors.md"
    assert page.read_text(encoding="utf-8") == errors_doc.page(), "python -m erqiwang_grpc.rpc.wire.errors_doc"
