"""Encodes calls, leads, tricks, and statements about trumps.

Every notice of a play holds a lead and a trick. They are filled in inside the message that holds them, field by field,
which takes half the time of building them separately and copying them.
"""

from collections.abc import Iterable

from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.disclosure import Statement
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.shapes import Component, Lead, Pair, Single, Throw, Tractor
from erqiwang_core.kernel.trick import Trick

from erqiwang_grpc.rpc.wire.numbers import GROUPS
from erqiwang_grpc.v1 import bidding_pb2, card_pb2, playing_pb2


def call(called: Called) -> bidding_pb2.Call:
    """One call of the bidding."""
    match called:
        case BidMade(seat, points):
            return bidding_pb2.Call(seat=seat, points=points)
        case BidPassed(seat):
            return bidding_pb2.Call(seat=seat, passed=True)


def put_lead(into: card_pb2.Lead, lead: Lead) -> None:
    """Fill in the lead to follow. Several components make a throw."""
    into.group = GROUPS[lead.group]
    into.count = lead.count
    for part in lead.shape.components if isinstance(lead.shape, Throw) else (lead.shape,):
        _put_component(into.components.add(), part)


def _put_component(into: card_pb2.Component, part: Component) -> None:
    into.level = part.level
    match part:
        case Single():
            into.kind = card_pb2.COMPONENT_KIND_SINGLE
        case Pair():
            into.kind = card_pb2.COMPONENT_KIND_PAIR
            into.pairs = 1
        case Tractor(length):
            into.kind = card_pb2.COMPONENT_KIND_TRACTOR
            into.pairs = length


def put_trick(into: playing_pb2.Trick, trick: Trick) -> None:
    """Fill in a trick, complete or not."""
    put_lead(into.lead, trick.lead)
    into.ahead = trick.ahead
    into.failed_throw = trick.failed_throw
    plays = into.plays
    for played in trick.plays:
        play = plays.add()
        play.seat = played.seat
        play.cards.extend(ids(played.cards))


def statements(told: Iterable[Statement]) -> list[playing_pb2.TrumpStatement]:
    """What seats state about their trumps (part B)."""
    return [playing_pb2.TrumpStatement(seat=each.seat, trumps=each.trumps, has_pair=each.has_pair) for each in told]
