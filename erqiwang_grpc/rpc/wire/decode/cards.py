"""Decodes cards, calls, leads, tricks, and statements about trumps."""

from collections.abc import Iterable, Sequence

from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.disclosure import Statement
from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.kernel.shapes import Component, Lead, Pair, Single, Throw, Tractor
from erqiwang_core.kernel.trick import Played, Trick
from erqiwang_core.units import CardId, CardSet, Level, Points, Seat

from erqiwang_grpc.rpc.wire.decode.known import GROUPS, NotUnderstood, known
from erqiwang_grpc.v1 import bidding_pb2, card_pb2, playing_pb2


def cards(numbers: Sequence[int]) -> CardSet:
    """The set of cards with these ids."""
    if max(numbers, default=0) >= CARDS:
        raise NotUnderstood(f"{max(numbers)} is no card")
    return cards_of(CardId(number) for number in numbers)


def seats(numbers: Iterable[int]) -> tuple[Seat, ...]:
    """The seats with these numbers, in the given order."""
    return tuple(Seat(number) for number in numbers)


def call(message: bidding_pb2.Call) -> Called:
    """One call of the bidding."""
    match message.WhichOneof("call"):
        case "points":
            return BidMade(Seat(message.seat), Points(message.points))
        case "passed":
            return BidPassed(Seat(message.seat))
        case None:
            raise NotUnderstood("a call that is neither a bid nor a pass")


def component(message: card_pb2.Component) -> Component:
    """A single, a pair or a tractor."""
    level = Level(message.level)
    if message.kind == card_pb2.COMPONENT_KIND_SINGLE:
        return Single(level)
    if message.kind == card_pb2.COMPONENT_KIND_PAIR:
        return Pair(level)
    if message.kind == card_pb2.COMPONENT_KIND_TRACTOR:
        return Tractor(message.pairs, level)
    raise NotUnderstood(f"a component of kind {message.kind}")


def lead(message: card_pb2.Lead) -> Lead:
    """The lead to follow. Several components make a throw."""
    parts = tuple(component(part) for part in message.components)
    return Lead(known(GROUPS, message.group), parts[0] if len(parts) == 1 else Throw(parts), message.count)


def trick(message: playing_pb2.Trick) -> Trick:
    """A trick, complete or not."""
    return Trick(
        lead=lead(message.lead),
        plays=tuple(Played(Seat(play.seat), cards(play.cards)) for play in message.plays),
        ahead=Seat(message.ahead),
        failed_throw=message.failed_throw,
    )


def statements(messages: Iterable[playing_pb2.TrumpStatement]) -> tuple[Statement, ...]:
    """What seats state about their trumps (part B)."""
    return tuple(Statement(Seat(told.seat), told.trumps, told.has_pair) for told in messages)
