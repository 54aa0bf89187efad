"""Proto JSON as the edge writes it is that of protobuf's own library, default values included."""

import json
from contextlib import suppress

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings, strategies as st

from erqiwang_grpc.edge import json_text
from erqiwang_grpc.v1 import playing_pb2, room_pb2, seat_service_pb2 as pb
from tests.wire.arbitrary import messages


def same(message: Message) -> bool:
    expected = json_format.MessageToJson(message, always_print_fields_with_no_presence=True)
    return bool(json.loads(json_text.written(message)) == json.loads(expected))


@pytest.mark.parametrize("kind", [pb.SeatMessage, pb.PlayRequest, room_pb2.RoomOptions])
@settings(max_examples=25)
@given(st.data())
def test_any_message_is_written_as_protobufs_own_library_writes_it(kind: type[Message], data: st.DataObject) -> None:
    message = data.draw(messages(kind))
    with suppress(json_format.Error, ValueError):  # times outside of the years 1 to 9999 have no JSON
        assert same(message)


def test_the_cards_of_a_failed_throw_are_not_remembered() -> None:
    told = playing_pb2.CardsLed(seat=2, cards=[5], failed_throw=True)
    assert same(told)
    texts = json_text._TEXTS["erqiwang.v1.CardsLed"]
    remembered = texts.cache_info()
    told.attempted.extend([5, 77, 79])
    assert same(told)
    assert texts.cache_info() == remembered


@given(st.integers(-(10**10), 10**10), st.sampled_from([0, 1, 1_000, 1_000_000, 123_456_789, 120_000_000, 999_999_000]))
def test_times_are_written_with_the_digits_that_they_need(seconds: int, nanos: int) -> None:
    time = Timestamp(seconds=seconds, nanos=nanos)
    assert json.loads(json_text.written(time)) == time.ToJsonString()
