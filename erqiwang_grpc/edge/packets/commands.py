"""What a packet from a seat asks of the server. A parameter of a wrong type becomes one that no command may have."""

from typing import Final

from erqiwang_grpc.edge.packets.from_seat import (
    Asked,
    ChupaiAsked,
    JiaofenAsked,
    MaipaiAsked,
    MingpaiAsked,
    TishiAsked,
    TouxiangAsked,
    XuanzhuAsked,
    ZhunbeiAsked,
)
from erqiwang_grpc.v1 import (
    bidding_pb2,
    burying_pb2,
    card_pb2,
    naming_pb2,
    playing_pb2,
    seat_service_pb2 as pb,
    settlement_pb2,
)

_NO_BID: Final = 1
_NO_CARD: Final = 2**32 - 1
_MOST_OF_ENUM: Final = 2**31 - 1


def command(asked: Asked) -> pb.Command:
    """The command that a packet stands for."""
    match asked:
        case JiaofenAsked(call=0):
            return pb.Command(pass_bid=bidding_pb2.PassBid())
        case JiaofenAsked(call=call):
            return pb.Command(bid=bidding_pb2.Bid(points=_NO_BID if call is None else call))
        case TouxiangAsked():
            return pb.Command(surrender=naming_pb2.Surrender())
        case XuanzhuAsked(flower=flower):
            return pb.Command(name_trump=naming_pb2.NameTrump(trump=card_pb2.Trump.ValueType(_enum(flower))))
        case MaipaiAsked(cards=cards):
            return pb.Command(bury=burying_pb2.Bury(cards=_cards(cards)))
        case ChupaiAsked(cards=cards):
            return pb.Command(play_cards=playing_pb2.PlayCards(cards=_cards(cards)))
        case MingpaiAsked():
            return pb.Command(show_trumps=playing_pb2.ShowTrumps())
        case TishiAsked(tip=tip):
            return pb.Command(signal=playing_pb2.Signal(signal=playing_pb2.SignalKind.ValueType(_enum(tip))))
        case ZhunbeiAsked():
            return pb.Command(ready=settlement_pb2.Ready())


def _cards(cards: tuple[int, ...] | None) -> tuple[int, ...]:
    return (_NO_CARD,) if cards is None else cards


def _enum(number: int | None) -> int:
    """0 names nothing: the server refuses it. So it does a number that it does not know, up to the highest of an enum."""
    return 0 if number is None or number > _MOST_OF_ENUM else number
