"""Encodes what a viewer is told: the beginning of its stream, notices of events, and messages beside them."""

from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.kernel.hand import EMPTY, ids
from erqiwang_core.match import SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.notices import BuriedBy, Cause, DealEnded, Dealt, Led, MatchOver, Notice, PublicNotice
from erqiwang_core.playing import CardsFollowed, Signalled, TrumpsShown

from erqiwang_grpc.rooms.listener import Aside, Beginning, Heartbeat, Missed, Presence
from erqiwang_grpc.rpc.wire.encode.cards import put_lead, statements
from erqiwang_grpc.rpc.wire.encode.parts import put_part, put_time, timestamp, view
from erqiwang_grpc.rpc.wire.encode.settlements import disbanding
from erqiwang_grpc.rpc.wire.numbers import NAMED, SIGNALS
from erqiwang_grpc.store.port import TimeNs, Version
from erqiwang_grpc.v1 import (
    bidding_pb2,
    burying_pb2,
    naming_pb2,
    playing_pb2,
    room_pb2,
    seat_service_pb2,
    settlement_pb2,
)


def notice(told: Notice | PublicNotice, version: Version, time: TimeNs, began: TimeNs) -> seat_service_pb2.Notice:
    """The notice of the event that made the room's version `version`, at `time`. The present turn began at `began`."""
    message = missed(Missed(version, time, told.cause))
    message.changed.SetInParent()
    for part in told.changed:
        put_part(message.changed, part, began)
    return message


def missed(told: Missed) -> seat_service_pb2.Notice:
    """The notice of an event that the viewer missed: only the cause, since the snapshot holds the changed parts."""
    message = seat_service_pb2.Notice(version=told.version)
    put_time(message.time, told.time)
    put_cause(message, told.cause)
    return message


def put_cause(into: seat_service_pb2.Notice, cause: Cause) -> None:
    """Fill in the cause of a notice."""
    match cause:
        case CardsFollowed():
            _put_followed(into.cards_followed, cause)
        case Led():
            _put_led(into.cards_led, cause)
        case BidMade(seat, points):
            into.bid_made.CopyFrom(bidding_pb2.BidMade(seat=seat, points=points))
        case BidPassed(seat):
            into.bid_passed.CopyFrom(bidding_pb2.BidPassed(seat=seat))
        case DeclarerFound(declarer, bid, shown):
            kitty = ids(EMPTY if shown is None else shown)
            into.declarer_found.CopyFrom(bidding_pb2.DeclarerFound(declarer=declarer, points=bid, shown_kitty=kitty))
        case TrumpNamed(trump):
            into.trump_named.CopyFrom(naming_pb2.TrumpNamed(trump=NAMED[trump]))
        case BuriedBy(declarer, void, stated):
            into.cards_buried.CopyFrom(
                burying_pb2.CardsBuried(declarer=declarer, void_seats=void, statements=statements(stated))
            )
        case SeatTaken(seat, player):
            into.seat_taken.CopyFrom(room_pb2.SeatTaken(seat=seat, player=player))
        case SeatLeft(seat):
            into.seat_left.CopyFrom(room_pb2.SeatLeft(seat=seat))
        case Dealt(number, first_bidder, commitment):
            into.deal_started.CopyFrom(
                room_pb2.DealStarted(deal=number, first_bidder=first_bidder, commitment=commitment)
            )
        case DealEnded():
            into.deal_ended.CopyFrom(settlement_pb2.DealEnded())
        case SeatReady(seat):
            into.seat_ready.CopyFrom(settlement_pb2.SeatReady(seat=seat))
        case MatchOver(asked):
            into.match_ended.CopyFrom(settlement_pb2.MatchEnded(disbanding=disbanding(asked)))


def _put_led(into: playing_pb2.CardsLed, cause: Led) -> None:
    into.seat = cause.seat
    into.cards.extend(ids(cause.cards))
    put_lead(into.lead, cause.lead)
    into.failed_throw = cause.failed_throw
    if cause.attempted is not None:
        into.attempted.extend(ids(cause.attempted))
    into.void_seats.extend(cause.void)
    into.statements.extend(statements(cause.statements))


def _put_followed(into: playing_pb2.CardsFollowed, cause: CardsFollowed) -> None:
    into.seat = cause.seat
    into.cards.extend(ids(cause.cards))
    into.ahead = cause.ahead
    if cause.taken is not None:
        into.taken.winner = cause.taken.winner
        into.taken.points = cause.taken.points
        into.taken.captured = cause.taken.captured
    into.void_seats.extend(cause.void)
    into.statements.extend(statements(cause.statements))


def snapshot(beginning: Beginning) -> seat_service_pb2.Snapshot:
    """The viewer's view, and the events that it missed."""
    return seat_service_pb2.Snapshot(
        version=beginning.version,
        view=view(beginning.view, beginning.room, beginning.turn_began),
        missed=[missed(told) for told in beginning.missed],
        server_time=timestamp(beginning.server_time),
    )


def beginning(begun: Beginning) -> tuple[seat_service_pb2.SeatMessage, ...]:
    """The messages that a stream begins with."""
    return seat_service_pb2.SeatMessage(snapshot=snapshot(begun)), aside(begun.presence)


def aside(told: Aside | TrumpsShown) -> seat_service_pb2.SeatMessage:
    """The message of something that is no event and is not stored."""
    match told:
        case Signalled(sender, signal):
            received = playing_pb2.SignalReceived(seat=sender, signal=SIGNALS[signal])
            return seat_service_pb2.SeatMessage(signal_received=received)
        case TrumpsShown():
            return seat_service_pb2.SeatMessage(trumps_shown=trumps_shown(told))
        case Presence(present):
            return seat_service_pb2.SeatMessage(presence=seat_service_pb2.Presence(present=present))
        case Heartbeat(version, time):
            heartbeat = seat_service_pb2.Heartbeat(version=version, server_time=timestamp(time))
            return seat_service_pb2.SeatMessage(heartbeat=heartbeat)


def trumps_shown(shown: TrumpsShown) -> playing_pb2.TrumpsShown:
    """The trumps of the other seats, for the seat that asked."""
    holdings = [playing_pb2.TrumpsShown.Holding(seat=seat, cards=ids(cards)) for seat, cards in shown.trumps]
    return playing_pb2.TrumpsShown(holdings=holdings)
