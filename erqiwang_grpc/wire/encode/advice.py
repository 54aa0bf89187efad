"""Advice: what a seat may do where it is its turn."""

from erqiwang_core.bidding import Bid, Pass
from erqiwang_core.hand import ids
from erqiwang_core.view import Advice, BuryAdvice, CallAdvice, FollowAdvice, LeadAdvice, NameAdvice

from erqiwang_grpc.v1 import bidding_pb2, burying_pb2, naming_pb2, playing_pb2, view_pb2
from erqiwang_grpc.wire.numbers import NAMED


def advice(part: Advice) -> view_pb2.AdvicePart:
    """The advice; empty where it is not the seat's turn."""
    choice = part.choice
    match choice:
        case None:
            return view_pb2.AdvicePart()
        case CallAdvice():
            return view_pb2.AdvicePart(call=_call(choice))
        case NameAdvice():
            return view_pb2.AdvicePart(name=_name(choice))
        case BuryAdvice(number, suggestion):
            bury = burying_pb2.Bury(cards=ids(suggestion))
            return view_pb2.AdvicePart(bury=view_pb2.BuryAdvice(count=number, suggestion=bury))
        case LeadAdvice(suggestion):
            play = playing_pb2.PlayCards(cards=ids(suggestion))
            return view_pb2.AdvicePart(lead=view_pb2.LeadAdvice(suggestion=play))
        case FollowAdvice():
            return view_pb2.AdvicePart(follow=_follow(choice))


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


def _follow(choice: FollowAdvice) -> view_pb2.FollowAdvice:
    return view_pb2.FollowAdvice(
        count=choice.number,
        must=ids(choice.must),
        may=ids(choice.may),
        suggestion=playing_pb2.PlayCards(cards=ids(choice.suggestion)),
    )
