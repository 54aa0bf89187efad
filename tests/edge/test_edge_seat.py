"""One seat on the gateway stream: what it asks of the server, and what its ear hears."""

from collections.abc import Sequence

from erqiwang_grpc.edge.closes import Close
from erqiwang_grpc.edge.seats import EdgeSeat
from erqiwang_grpc.v1 import (
    bidding_pb2,
    gateway_service_pb2 as gateway_pb,
    playing_pb2,
    refusal_pb2,
    seat_service_pb2 as pb,
)
from tests.service.tables import eventually

SNAPSHOT = pb.SeatMessage(snapshot=pb.Snapshot(version=7))
BID = pb.Command(bid=bidding_pb2.Bid(points=70))
SIGNAL = pb.Command(signal=playing_pb2.Signal(signal=playing_pb2.SIGNAL_KIND_NO_POINTS))


class Ear:
    def __init__(self) -> None:
        self.heard: list[pb.SeatMessage] = []

    def hear(self, messages: Sequence[pb.SeatMessage]) -> None:
        self.heard.extend(messages)

    def end(self, why: Close) -> None:
        raise AssertionError(why)


def opened() -> tuple[EdgeSeat, Ear, list[gateway_pb.SeatRequest]]:
    """A seat that has asked to be opened, what it hears, and what it asks for."""
    asked: list[gateway_pb.SeatRequest] = []
    ear = Ear()
    seat = EdgeSeat(3, "token", 5, ear, asked.append)
    seat.open()
    return seat, ear, asked


def accepted(number: int, command_id: str = "") -> pb.SeatMessage:
    return pb.SeatMessage(accepted=pb.Accepted(request=number, command_id=command_id))


def refused(number: int) -> pb.SeatMessage:
    return pb.SeatMessage(refused=pb.Refused(request=number, refusal=refusal_pb2.Refusal()))


def test_what_is_asked_before_the_first_snapshot_is_sent_after_it() -> None:
    seat, ear, asked = opened()
    seat.ask(2, pb.PlayRequest(command=BID, command_id="a", expected_version=7))
    assert [(each.open.seat_token, each.open.last_version) for each in asked] == [("token", 5)]
    seat.hear([SNAPSHOT])
    assert (asked[1].command_id, asked[1].expected_version, asked[1].command) == ("a", 7, BID)
    seat.hear([accepted(2, "a")])
    assert ear.heard == [SNAPSHOT, accepted(2, "a")]


def test_heartbeats_and_signals_do_not_disturb_the_numbers() -> None:
    seat, ear, asked = opened()
    seat.hear([SNAPSHOT])
    for number in range(2, 400):
        seat.ask(number, pb.PlayRequest(command=SIGNAL) if number % 2 else pb.PlayRequest(heartbeat=pb.Heartbeat()))
    seat.ask(400, pb.PlayRequest(command=BID))
    assert len(asked) == 1 + 199 + 1, "heartbeats are not for the server"
    seat.hear([accepted(201)])
    assert ear.heard[-1].accepted.request == 400


def test_after_a_loss_what_can_be_repeated_is_sent_again_in_order_and_the_rest_is_not() -> None:
    seat, ear, asked = opened()
    seat.hear([SNAPSHOT])
    seat.ask(2, pb.PlayRequest(command=BID, command_id="a"))
    seat.ask(3, pb.PlayRequest(command=BID))
    seat.ask(4, pb.PlayRequest(record=pb.GetRecordRequest()))
    seat.lose()
    seat.ask(5, pb.PlayRequest(command=BID, command_id="b"))
    asked.clear()
    seat.open()
    assert asked.pop(0).open.last_version == 7
    seat.hear([SNAPSHOT])
    assert [(each.WhichOneof("request"), each.command_id) for each in asked] == [
        ("command", "a"),
        ("record", ""),
        ("command", "b"),
    ]
    seat.hear([accepted(4, "b")])
    assert ear.heard[-1].accepted.request == 5


def test_more_than_is_held_while_no_server_is_reached_is_refused() -> None:
    seat, ear, _ = opened()
    for number in range(2, 100):
        seat.ask(number, pb.PlayRequest(command=BID, command_id=str(number)))
    assert [message.refused.request for message in ear.heard] == list(range(66, 100))
    assert ear.heard[0].refused.refusal.HasField("store_unavailable")


def test_answers_carry_their_numbers_also_where_much_was_held() -> None:
    seat, ear, _ = opened()
    for number in range(2, 66):
        seat.ask(number, pb.PlayRequest(command=BID, command_id=str(number)))
    seat.hear([SNAPSHOT])
    for number in range(66, 130):
        seat.ask(number, pb.PlayRequest(command=BID, command_id=str(number)))
    seat.hear([accepted(number, str(number)) for number in range(2, 130)])
    assert [message.accepted.request for message in ear.heard[1:]] == list(range(2, 130))


def test_trumps_that_were_shown_are_not_asked_for_again_after_a_loss() -> None:
    seat, ear, asked = opened()
    seat.hear([SNAPSHOT])
    show = pb.Command(show_trumps=playing_pb2.ShowTrumps())
    seat.ask(2, pb.PlayRequest(command=show, command_id="first"))
    seat.ask(3, pb.PlayRequest(command=show, command_id="second"))
    shown = pb.SeatMessage(trumps_shown=playing_pb2.TrumpsShown())
    seat.hear([shown])
    assert ear.heard[-1] == shown
    seat.lose()
    asked.clear()
    seat.open()
    seat.hear([SNAPSHOT])
    assert [each.command_id for each in asked] == ["", "second"]


async def test_a_seat_that_is_behind_hears_nothing_until_its_snapshot_which_is_asked_for_until_it_comes() -> None:
    seat, ear, asked = opened()
    seat.hear([SNAPSHOT])
    seat.fall_behind(6)
    seat.hear([pb.SeatMessage(notice=pb.Notice(version=8))])
    seat.catch_up()
    assert (asked[-1].WhichOneof("request"), asked[-1].resync.last_version) == ("resync", 6)
    seat.hear([refused(2)])
    assert ear.heard == [SNAPSHOT]
    await eventually(lambda: len(asked) == 3)
    assert asked[-1].resync.last_version == 6
    seat.hear([pb.SeatMessage(snapshot=pb.Snapshot(version=9)), pb.SeatMessage(notice=pb.Notice(version=10))])
    assert [message.WhichOneof("message") for message in ear.heard] == ["snapshot", "snapshot", "notice"]
    assert seat.version == 10
