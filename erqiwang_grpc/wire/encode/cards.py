"""Cards on the table: calls, leads, tricks, and what is told when a seat is void of trump."""

from erqiwang_core.contract import BidMade, BidPassed, Called
from erqiwang_core.disclosure import Statement
from erqiwang_core.hand import ids
from erqiwang_core.shapes import Component, Lead, Pair, Single, Throw, Tractor
from erqiwang_core.trick import Trick

from erqiwang_grpc.v1 import bidding_pb2, card_pb2, playing_pb2
from erqiwang_grpc.wire.numbers import GROUPS


def call(called: Called) -> bidding_pb2.Call:
    """One call of the bidding."""
    match called:
        case BidMade(seat, points):
            return bidding_pb2.Call(seat=seat, points=points)
        case BidPassed(seat):
            return bidding_pb2.Call(seat=seat, passed=True)


def component(part: Component) -> card_pb2.Component:
    """A single, a pair or a tractor."""
    match part:
        case Single(level):
            return card_pb2.Component(kind=card_pb2.COMPONENT_KIND_SINGLE, level=level)
        case Pair(level):
            return card_pb2.Component(kind=card_pb2.COMPONENT_KIND_PAIR, pairs=1, level=level)
        case Tractor(length, level):
            return card_pb2.Component(kind=card_pb2.COMPONENT_KIND_TRACTOR, pairs=length, level=level)


def lead(led: Lead) -> card_pb2.Lead:
    """What is to be answered; a throw is what has several components."""
    parts = led.shape.components if isinstance(led.shape, Throw) else (led.shape,)
    return card_pb2.Lead(group=GROUPS[led.group], count=led.count, components=[component(part) for part in parts])


def trick(played: Trick) -> playing_pb2.Trick:
    """A trick, complete or not."""
    return playing_pb2.Trick(
        lead=lead(played.lead),
        plays=[playing_pb2.TrickPlay(seat=play.seat, cards=ids(play.cards)) for play in played.plays],
        ahead=played.ahead,
        failed_throw=played.failed_throw,
    )


def statement(told: Statement) -> playing_pb2.TrumpStatement:
    """What one seat tells of its trumps."""
    return playing_pb2.TrumpStatement(seat=told.seat, trumps=told.trumps, has_pair=told.has_pair)
