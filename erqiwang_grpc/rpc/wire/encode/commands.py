"""Encodes commands, as a client sends them."""

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.burying import Bury
from erqiwang_core.match import Command, Ready
from erqiwang_core.naming import NameTrump, Surrender
from erqiwang_core.playing import Play, Request, ShowTrumps, Signal

from erqiwang_grpc.v1 import (
    bidding_pb2,
    burying_pb2,
    card_pb2,
    naming_pb2,
    playing_pb2,
    seat_service_pb2,
    settlement_pb2,
)


def command(asked: Command | Request) -> seat_service_pb2.Command:
    """The message of a command. Its numbers must fit their fields; the server checks everything else."""
    message = seat_service_pb2.Command
    match asked:
        case Bid(points):
            return message(bid=bidding_pb2.Bid(points=points))
        case Pass():
            return message(pass_bid=bidding_pb2.PassBid())
        case NameTrump(trump):
            return message(name_trump=naming_pb2.NameTrump(trump=card_pb2.Trump.ValueType(trump)))
        case Surrender():
            return message(surrender=naming_pb2.Surrender())
        case Bury(cards):
            return message(bury=burying_pb2.Bury(cards=cards))
        case Play(cards):
            return message(play_cards=playing_pb2.PlayCards(cards=cards))
        case Ready():
            return message(ready=settlement_pb2.Ready())
        case Signal(signal):
            return message(signal=playing_pb2.Signal(signal=playing_pb2.SignalKind.ValueType(signal)))
        case ShowTrumps():
            return message(show_trumps=playing_pb2.ShowTrumps())
