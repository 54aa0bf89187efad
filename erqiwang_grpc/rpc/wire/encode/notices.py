"""Notices: what a seat is told of an event; and the asides that are answered to their addressees alone."""

from collections.abc import Sequence

from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.kernel.hand import EMPTY, ids
from erqiwang_core.match import SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.notices import BuriedBy, Cause, DealEnded, Dealt, Led, MatchOver, Notice
from erqiwang_core.playing import CardsFollowed, Signalled, TrumpsShown

from erqiwang_grpc.rpc.wire.encode.cards import put_lead, statements
from erqiwang_grpc.rpc.wire.encode.parts import put_part, put_time
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


def notice(told: Notice, version: Version, time: TimeNs, began: TimeNs) -> seat_service_pb2.Notice:
    """What a seat is told of the event that brought `version` at `time`; the turn it leads to began at `began`."""
    message = missed(told.cause, version, time)
    message.changed.SetInParent()
    for part in told.changed:
        put_part(message.changed, part, began)
    return message


def put_notices(
    into: Sequence[seat_service_pb2.Notice], told: Sequence[Notice], version: Version, time: TimeNs, began: TimeNs
) -> None:
    """Put in what several seats are told of one event, as `notice` says it; what all are told alike is encoded once."""
    if len(told) == 1:
        into[0].CopyFrom(notice(told[0], version, time, began))
        return
    first = told[0]
    alike = _alike(told)
    common = notice(Notice(first.cause, first.changed[:alike]), version, time, began)
    for message, each in zip(into, told, strict=True):
        message.CopyFrom(common)
        if each.cause != first.cause:
            _put_other_cause(message, each.cause)
        for part in each.changed[alike:]:
            put_part(message.changed, part, began)


def _alike(told: Sequence[Notice]) -> int:
    """How many parts, from the first, all are told alike: those are the same objects, since the core builds them once."""
    for place, parts in enumerate(zip(*(each.changed for each in told), strict=False)):
        if any(part is not parts[0] for part in parts):
            return place
    return min(len(each.changed) for each in told)


def _put_other_cause(into: seat_service_pb2.Notice, cause: Cause) -> None:
    """Put in a cause in place of the one that is there."""
    field = into.WhichOneof("cause")
    assert field is not None, "a notice has a cause"
    into.ClearField(field)
    _put_cause(into, cause)


def missed(cause: Cause, version: Version, time: TimeNs) -> seat_service_pb2.Notice:
    """What has happened, to a seat that was away: the cause alone, since its snapshot holds all that was changed."""
    message = seat_service_pb2.Notice(version=version)
    put_time(message.time, time)
    _put_cause(message, cause)
    return message


def _put_cause(into: seat_service_pb2.Notice, cause: Cause) -> None:
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
        case MatchOver(disbanded):
            into.match_ended.CopyFrom(settlement_pb2.MatchEnded(disbanded=disbanded))


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


def aside(told: Signalled | TrumpsShown) -> seat_service_pb2.SeatMessage:
    """What is told to its addressees alone and not logged."""
    match told:
        case Signalled(sender, signal):
            received = playing_pb2.SignalReceived(seat=sender, signal=SIGNALS[signal])
            return seat_service_pb2.SeatMessage(signal_received=received)
        case TrumpsShown(_, trumps):
            holdings = [playing_pb2.TrumpsShown.Holding(seat=seat, cards=ids(cards)) for seat, cards in trumps]
            return seat_service_pb2.SeatMessage(trumps_shown=playing_pb2.TrumpsShown(holdings=holdings))
