"""The lists of parts that no type checker sees have every part, and have it once."""

from typing import get_args

from erqiwang_core import notices
from erqiwang_core.match import begin
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import Own, Shared
from erqiwang_core.units import Seat
from erqiwang_core.view import view

from erqiwang_grpc.rpc.wire import decode as read, encode
from erqiwang_grpc.store import RoomId, TimeNs
from erqiwang_grpc.v1 import view_pb2

MATCH = begin(RoomOptions())
SHARED = sorted(kind.__name__ for kind in get_args(Shared))
OWN = sorted(kind.__name__ for kind in get_args(Own))


def test_notices_compare_every_part() -> None:
    assert sorted(type(part(MATCH)).__name__ for part in notices.SEEN_ALIKE) == SHARED
    assert sorted(type(part(MATCH, Seat(0))).__name__ for part in notices.OWN) == OWN


def test_every_part_is_read_from_the_wire() -> None:
    sent = encode.view(view(MATCH, Seat(0)), RoomId("room"), TimeNs(0)).parts
    assert {field.name for field, _ in sent.ListFields()} == set(view_pb2.Parts.DESCRIPTOR.fields_by_name)
    assert sorted(type(part).__name__ for part in read.parts(sent, MATCH.options)) == sorted(SHARED + OWN)
