"""Advice: what the seat may do now."""

from erqiwang_core.bidding import Bid, Command, Pass
from erqiwang_core.parts import (
    Advice,
    BuryAdvice,
    CallAdvice,
    Choice,
    FollowAdvice,
    LeadAdvice,
    NameAdvice,
    ReadyAdvice,
)
from erqiwang_core.units import Points

from erqiwang_grpc.rpc.wire.decode.cards import cards
from erqiwang_grpc.rpc.wire.decode.known import TRUMPS, NotUnderstood, known
from erqiwang_grpc.v1 import view_pb2


def advice(message: view_pb2.AdvicePart) -> Advice:
    """The advice; it holds None while the seat has to wait."""
    return Advice(_choice(message))


def _choice(message: view_pb2.AdvicePart) -> Choice | None:
    match message.WhichOneof("choice"):
        case "call":
            return _call(message.call)
        case "name":
            return _name(message.name)
        case "bury":
            return BuryAdvice(message.bury.count, cards(message.bury.suggestion.cards))
        case "lead":
            return LeadAdvice(cards(message.lead.suggestion.cards))
        case "follow":
            return _follow(message.follow)
        case "ready":
            return ReadyAdvice()
        case None:
            return None


def _call(message: view_pb2.CallAdvice) -> CallAdvice:
    bids = tuple(Points(points) for points in message.bids)
    return CallAdvice(bids, message.may_pass, _suggested_call(message))


def _suggested_call(message: view_pb2.CallAdvice) -> Command:
    match message.WhichOneof("suggestion"):
        case "bid":
            return Bid(message.bid.points)
        case "pass_bid":
            return Pass()
        case None:
            raise NotUnderstood("advice without a call")


def _name(message: view_pb2.NameAdvice) -> NameAdvice:
    return NameAdvice(
        trumps=tuple((known(TRUMPS, choice.trump), choice.pairs) for choice in message.choices),
        may_surrender=message.may_surrender,
        suggestion=known(TRUMPS, message.suggestion.trump),
    )


def _follow(message: view_pb2.FollowAdvice) -> FollowAdvice:
    return FollowAdvice(message.count, cards(message.must), cards(message.may), cards(message.suggestion.cards))
