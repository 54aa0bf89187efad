"""Seats that are told of an event together are told what each would be told alone, to the byte."""

from erqiwang_core import notices
from hypothesis import given

from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store.port import TimeNs, Version
from erqiwang_grpc.v1 import seat_service_pb2 as pb
from tests.deals.plans import Plan, examples, plans
from tests.deals.walk import Change, steps

TIME = TimeNs(1_700_000_001_999_999_999)
VERSION = Version(7)


def check(change: Change) -> None:
    seats = change.after.chairs.seats()
    telling = notices.telling(change.before, change.event, change.after, seats)
    told = [telling.notice(seat) for seat in seats]
    together = [pb.Notice() for _ in seats]
    encode.put_notices(together, told, VERSION, TIME, TIME)
    assert together == [encode.notice(each, VERSION, TIME, TIME) for each in told]


@examples(0.15)
@given(plan=plans())
def test_told_together_is_told_alone(plan: Plan) -> None:
    for step in steps(plan):
        for change in step.changes:
            check(change)
