"""What a seat is told comes over the wire unchanged: a client's view is the seat's own."""

from erqiwang_core import notices
from erqiwang_core.match import Disband, DisbandReason, Match, Outside, answer
from erqiwang_core.notices import Notice, fold
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import View
from erqiwang_core.playing import ShowTrumps, Signal, SignalKind, Signalled, TrumpsShown
from erqiwang_core.units import Seat
from erqiwang_core.view import view
from hypothesis import given, strategies as st

from erqiwang_grpc.client import fold as wire_fold
from erqiwang_grpc.rooms.listener import Missed
from erqiwang_grpc.rpc.wire import decode as read, encode
from erqiwang_grpc.store.port import TimeNs, Version
from erqiwang_grpc.v1 import seat_service_pb2, view_pb2
from tests.deals.decks import never_shuffled
from tests.deals.plans import GAMES, Plan, examples, plans
from tests.deals.walk import Change, Step, advance, positions, steps

ROOM = "room"
BEGAN = TimeNs(1_700_000_000_000_000_123)
TIME = TimeNs(1_700_000_001_999_999_999)
VERSION = Version(7)


def sent(seen: View) -> view_pb2.View:
    """The view as a client parses it."""
    return view_pb2.View.FromString(encode.view(seen, ROOM, BEGAN).SerializeToString())


def sent_notice(told: Notice) -> seat_service_pb2.Notice:
    """The notice as a client parses it."""
    return seat_service_pb2.Notice.FromString(encode.notice(told, VERSION, TIME, BEGAN).SerializeToString())


def check_view(match: Match, seat: Seat) -> None:
    seen = view(match, seat)
    message = sent(seen)
    assert read.view(message) == seen
    assert len(message.parts.ListFields()) == len(view_pb2.Parts.DESCRIPTOR.fields), "a part is not set"
    assert (message.room_id, message.seat) == (ROOM, seat)
    assert message.parts.turn.began.ToNanoseconds() == (0 if seen.turn.seat is None else BEGAN)


@examples(0.15)
@given(plan=plans())
def test_a_view_comes_over_the_wire_unchanged(plan: Plan) -> None:
    for match in positions(plan, deals_played=2):
        for seat in match.chairs.seats():
            check_view(match, seat)


@examples(0.2)
@given(plan=plans())
def test_a_settlement_spells_its_sums_out(plan: Plan) -> None:
    *_, last = steps(plan)
    result = view(last.after, Seat(0)).settlement.result
    assert result is not None, "the walk ends with a settled deal"
    settled = result.settlement
    assert settled.contract is not None, "a deal that was played has had a declarer"
    message = encode.settlement(settled)
    assert message.step == settled.contract.row.step
    assert (message.grade, message.multiplier) == (settled.grade, settled.multiplier)
    assert [seat.score for seat in message.seats] == list(settled.scores)
    assert sum(seat.score for seat in message.seats) == 0


def check_notice(change: Change, seat: Seat) -> None:
    told = notices.notice(change.before, change.event, change.after, seat)
    message = sent_notice(told)
    assert (message.version, message.time.ToNanoseconds()) == (VERSION, TIME)
    came = read.notice(message, change.after.options)
    assert came.cause == told.cause
    assert set(came.changed) == set(told.changed)
    assert encode.missed(Missed(VERSION, TIME, told.cause)).WhichOneof("cause") == message.WhichOneof("cause")


@examples(0.15)
@given(plan=plans())
def test_a_notice_comes_over_the_wire_unchanged(plan: Plan) -> None:
    for step in steps(plan):
        for change in step.changes:
            for seat in change.after.chairs.seats():
                check_notice(change, seat)


def check_fold(change: Change, seat: Seat) -> None:
    """Folded as messages, and folded as values and then encoded: the same to the byte."""
    before = view(change.before, seat)
    told = notices.notice(change.before, change.event, change.after, seat)
    held = sent(before)
    wire_fold.put(held, sent_notice(told).changed)
    assert held.SerializeToString(deterministic=True) == sent(fold(before, told)).SerializeToString(deterministic=True)
    assert read.view(held) == view(change.after, seat)


@examples(0.1)
@given(plan=plans())
def test_folding_messages_is_folding_views(plan: Plan) -> None:
    for step in steps(plan):
        for change in step.changes:
            for seat in change.after.chairs.seats():
                check_fold(change, seat)


@examples(0.05)
@given(plan=plans(st.builds(RoomOptions, game=st.sampled_from(GAMES))), seat=st.sampled_from([Seat(0), Seat(2)]))
def test_folding_gives_the_view_from_whatever_version_one_has_attached_at(plan: Plan, seat: Seat) -> None:
    """However many notices came since the snapshot, also across the beginning of a deal."""
    held: list[view_pb2.View] = []
    for step in steps(plan, deals_played=2):
        for change in step.changes:
            held.append(sent(view(change.before, seat)))
            told = sent_notice(notices.notice(change.before, change.event, change.after, seat))
            for mine in held:
                wire_fold.put(mine, told.changed)
            now = sent(view(change.after, seat))
            assert all(mine == now for mine in held)


@examples(0.05)
@given(plan=plans())
def test_also_when_the_match_is_disbanded(plan: Plan) -> None:
    for match in positions(plan):
        disbanded = advance(match, Disband(Outside.PLATFORM, DisbandReason.ABSENT, "who knows 谁知道"), never_shuffled)
        assert isinstance(disbanded, Step), "a match may be disbanded at any moment"
        for change in disbanded.changes:
            check_notice(change, Seat(0))
            check_fold(change, Seat(0))


@examples(0.1)
@given(plan=plans(), signal=st.sampled_from(SignalKind))
def test_asides_come_over_the_wire(plan: Plan, signal: SignalKind) -> None:
    for match in positions(plan):
        for seat in match.chairs.seats():
            for request in (Signal(signal), ShowTrumps()):
                told = answer(match, seat, request)
                if isinstance(told, Signalled):
                    message = encode.aside(told).signal_received
                    assert read.aside(message, told.to[0]) == Signalled(seat, signal, told.to[:1])
                elif isinstance(told, TrumpsShown):
                    assert read.aside(encode.aside(told).trumps_shown, seat) == told
