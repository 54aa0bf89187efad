"""Decodes notices of events, and replies that only one seat gets."""

from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.match import Player, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.notices import BuriedBy, Cause, DealEnded, Dealt, Led, MatchOver, Notice
from erqiwang_core.options import RoomOptions
from erqiwang_core.playing import CardsFollowed, Reply, Signalled, TrickTaken, TrumpsShown
from erqiwang_core.units import Points, Seat

from erqiwang_grpc.rpc.wire.decode.cards import cards, lead, seats, statements
from erqiwang_grpc.rpc.wire.decode.known import SIGNALS, TRUMPS, NotUnderstood, known
from erqiwang_grpc.rpc.wire.decode.parts import parts
from erqiwang_grpc.rpc.wire.decode.settlements import disbanding
from erqiwang_grpc.v1 import bidding_pb2, burying_pb2, playing_pb2, seat_service_pb2


def notice(message: seat_service_pb2.Notice, options: RoomOptions) -> Notice:
    """The notice of an event, in a room with these options. The changed parts are in the order of their fields."""
    return Notice(_cause(message), parts(message.changed, options))


def _cause(message: seat_service_pb2.Notice) -> Cause:
    match message.WhichOneof("cause"):
        case "seat_taken":
            return SeatTaken(Seat(message.seat_taken.seat), Player(message.seat_taken.player))
        case "seat_left":
            return SeatLeft(Seat(message.seat_left.seat))
        case "deal_started":
            dealt = message.deal_started
            return Dealt(dealt.deal, Seat(dealt.first_bidder), dealt.commitment)
        case "bid_made":
            return BidMade(Seat(message.bid_made.seat), Points(message.bid_made.points))
        case "bid_passed":
            return BidPassed(Seat(message.bid_passed.seat))
        case "declarer_found":
            return _declarer_found(message.declarer_found)
        case "trump_named":
            return TrumpNamed(known(TRUMPS, message.trump_named.trump))
        case "cards_buried":
            return _buried(message.cards_buried)
        case "cards_led":
            return _led(message.cards_led)
        case "cards_followed":
            return _followed(message.cards_followed)
        case "deal_ended":
            return DealEnded()
        case "seat_ready":
            return SeatReady(Seat(message.seat_ready.seat))
        case "match_ended":
            ended = message.match_ended
            return MatchOver(disbanding(ended.disbanding) if ended.HasField("disbanding") else None)
        case None:
            raise NotUnderstood("a notice of an unknown kind")


def _declarer_found(message: bidding_pb2.DeclarerFound) -> DeclarerFound:
    return DeclarerFound(Seat(message.declarer), Points(message.points), cards(message.shown_kitty) or None)


def _buried(message: burying_pb2.CardsBuried) -> BuriedBy:
    return BuriedBy(Seat(message.declarer), seats(message.void_seats), statements(message.statements))


def _led(message: playing_pb2.CardsLed) -> Led:
    return Led(
        seat=Seat(message.seat),
        cards=cards(message.cards),
        lead=lead(message.lead),
        failed_throw=message.failed_throw,
        attempted=cards(message.attempted) or None,
        void=seats(message.void_seats),
        statements=statements(message.statements),
    )


def _followed(message: playing_pb2.CardsFollowed) -> CardsFollowed:
    taken = message.taken
    return CardsFollowed(
        seat=Seat(message.seat),
        cards=cards(message.cards),
        ahead=Seat(message.ahead),
        taken=_taken(taken) if message.HasField("taken") else None,
        void=seats(message.void_seats),
        statements=statements(message.statements),
    )


def _taken(message: playing_pb2.TrickTaken) -> TrickTaken:
    return TrickTaken(Seat(message.winner), Points(message.points), message.captured)


def aside(message: playing_pb2.SignalReceived | playing_pb2.TrumpsShown, to: Seat) -> Reply:
    """A reply that is no event, as seat `to` was told it. The message names no other seat that a signal went to."""
    if isinstance(message, playing_pb2.SignalReceived):
        return Signalled(Seat(message.seat), known(SIGNALS, message.signal), (to,))
    return TrumpsShown(to, tuple((Seat(held.seat), cards(held.cards)) for held in message.holdings))
