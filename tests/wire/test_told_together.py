"""Seats that are told of an event together are told what each would be told alone, to the byte."""

from dataclasses import replace

import pytest
from erqiwang_core import notices, view as views
from erqiwang_core.kernel.hand import EMPTY
from erqiwang_core.match import Disband, SeatReady, begin
from erqiwang_core.notices import Notice, Telling
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import Hand, Own, Shared
from erqiwang_core.units import Seat
from hypothesis import given, strategies as st

from erqiwang_grpc.rooms.listener import Told
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store.port import TimeNs, Version
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.deals.decks import never_shuffled
from tests.deals.plans import Plan, examples, plans, tables
from tests.deals.walk import Change, Step, advance, steps

TABLES = tables()
TIME = TimeNs(1_700_000_001_999_999_999)
BEGAN = TimeNs(1_700_000_000_000_000_123)


def alone(change: Change, version: Version, seat: Seat) -> pb.PlayResponse:
    told = notices.notice(change.before, change.event, change.after, seat)
    notice = encode.notice(told, version, TIME, BEGAN)
    return pb.PlayResponse(messages=[pb.SeatMessage(notice=notice)])


def check(change: Change, version: Version) -> list[encode.Packed]:
    """All seats are told the same bytes as each alone; gives them."""
    seats = change.after.chairs.seats()
    told = Told(version, TIME, BEGAN, notices.telling(change.before, change.event, change.after, seats))
    packed = [encode.packed_notice(told, seat) for seat in seats]
    for seat, message in zip(seats, packed, strict=True):
        assert message.version == version
        assert message.response == alone(change, version, seat).SerializeToString()
    return packed


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
@examples(0.1)
@given(data=st.data(), version=st.integers(1, 2**40))
def test_told_together_is_told_alone(
    options: st.SearchStrategy[RoomOptions], data: st.DataObject, version: int
) -> None:
    """Whole deals, failed throws and all, at small versions and at large ones."""
    for step in steps(data.draw(plans(options))):
        for change in step.changes:
            check(change, Version(version))


@examples(0.05)
@given(plan=plans())
def test_also_when_the_match_is_disbanded(plan: Plan) -> None:
    for step in steps(plan):
        disbanded = advance(step.after, Disband(), never_shuffled)
        assert isinstance(disbanded, Step), "a match may be disbanded at any moment"
        for change in disbanded.changes:
            check(change, Version(7))


@examples(0.05)
@given(plan=plans())
def test_what_waits_for_a_stream_is_joined_to_one_response(plan: Plan) -> None:
    """An aside between two notices too."""
    presence = encode.packed(pb.SeatMessage(presence=pb.Presence(present=[True, False, True])))
    waiting: list[encode.Packed] = []
    expected: list[pb.SeatMessage] = []
    for number, step in enumerate(steps(plan), start=1):
        for change in step.changes:
            waiting += [check(change, Version(number))[0], presence]
            expected += [
                *alone(change, Version(number), Seat(0)).messages,
                *pb.PlayResponse.FromString(presence.response).messages,
            ]
    assert pb.PlayResponse.FromString(b"".join(message.response for message in waiting)).messages == expected


@pytest.mark.parametrize("size", [*range(20, 130), *range(16_250, 16_400), 1 << 21])
def test_lengths_of_any_size_are_written_as_protobuf_writes_them(size: int) -> None:
    cause = SeatReady(Seat(1))
    progress = replace(views.progress(begin(RoomOptions())), commitment=bytes(size))
    telling = Telling((progress,), {Seat(0): Notice(cause, (Hand(EMPTY),))}, cause)
    message = encode.notice(telling.notice(Seat(0)), Version(1), TIME, BEGAN)
    response = encode.packed_notice(Told(Version(1), TIME, BEGAN, telling), Seat(0)).response
    assert response == pb.PlayResponse(messages=[pb.SeatMessage(notice=message)]).SerializeToString()


def test_parts_that_all_see_alike_have_lower_numbers_than_a_seats_own() -> None:
    """So that shared parts with a seat's own behind them are in the order of their numbers, as a message has them."""
    own = {"hand", "advice", "kitty", "buried", "captured_cards", "trump_counts", "disclosure"}
    fields = view_pb2.Parts.DESCRIPTOR.fields
    assert {field.name for field in fields if field.number >= 16} == own
    assert len(fields) == len(Shared.__args__) + len(Own.__args__)
