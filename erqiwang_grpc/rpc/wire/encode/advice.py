"""Encodes advice: what a seat may do now."""

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.kernel.hand import ids
from erqiwang_core.parts import Advice, BuryAdvice, CallAdvice, FollowAdvice, LeadAdvice, NameAdvice, ReadyAdvice

from erqiwang_grpc.rpc.wire.numbers import NAMED
from erqiwang_grpc.v1 import bidding_pb2, naming_pb2, view_pb2


def put_advice(into: view_pb2.AdvicePart, part: Advice) -> None:
    """Fill in the advice; leave it empty while the seat has to wait."""
    choice = part.choice
    match choice:
        case None:
            pass
        case FollowAdvice():
            _put_follow(into.follow, choice)
        case LeadAdvice(suggestion):
            into.lead.suggestion.cards.extend(ids(suggestion))
        case CallAdvice():
            into.call.CopyFrom(_call(choice))
        case NameAdvice():
            into.name.CopyFrom(_name(choice))
        case BuryAdvice(number, suggestion):
            into.bury.count = number
            into.bury.suggestion.cards.extend(ids(suggestion))
        case ReadyAdvice():
            into.ready.suggestion.SetInParent()


def _put_follow(into: view_pb2.FollowAdvice, choice: FollowAdvice) -> None:
    into.count = choice.number
    into.must.extend(ids(choice.must))
    into.may.extend(ids(choice.may))
    into.suggestion.cards.extend(ids(choice.suggestion))


def _call(choice: CallAdvice) -> view_pb2.CallAdvice:
    match choice.suggestion:
        case Bid(points):
            bid = bidding_pb2.Bid(points=points)
            return view_pb2.CallAdvice(bids=choice.bids, may_pass=choice.may_pass, bid=bid)
        case Pass():
            return view_pb2.CallAdvice(bids=choice.bids, may_pass=choice.may_pass, pass_bid=bidding_pb2.PassBid())


def _name(choice: NameAdvice) -> view_pb2.NameAdvice:
    return view_pb2.NameAdvice(
        choices=[view_pb2.NameAdvice.Choice(trump=NAMED[trump], pairs=pairs) for trump, pairs in choice.trumps],
        may_surrender=choice.may_surrender,
        suggestion=naming_pb2.NameTrump(trump=NAMED[choice.suggestion]),
    )
