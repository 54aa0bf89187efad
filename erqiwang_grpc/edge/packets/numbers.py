"""The numbers that the packet protocol makes of leads, plays, hands and settlements. `docs/packets.md` says how."""

from collections.abc import Iterable, Sequence

from erqiwang_core.disclosure import trump_count
from erqiwang_core.kernel.cards import Suit
from erqiwang_core.kernel.hand import cards_of, points
from erqiwang_core.kernel.trump import Order, SuitTrump, order
from erqiwang_core.notation import in_order
from erqiwang_core.units import CardId

from erqiwang_grpc.edge.packets.to_seat import Cards, Liangpai, Paikuang, Shuai
from erqiwang_grpc.v1 import burying_pb2, card_pb2, playing_pb2, settlement_pb2, view_pb2

SEATS = 3
NOTHING = -1
"""Stands for a seat, a call or a suit that there is not."""


def flower(lead: card_pb2.Lead, trump: card_pb2.Trump.ValueType) -> int:
    """The suit of a lead: of trumps that of the trump suit, whatever was led."""
    return trump if lead.group == card_pb2.GROUP_TRUMPS else lead.group


def cardtype(lead: card_pb2.Lead) -> int:
    """The kind of a lead: 101 a single, 201 a pair, 300 + k a tractor; a throw is pressed into 100 + or 200 + a number."""
    pairs = [component.pairs for component in lead.components]
    match pairs:
        case [0]:
            return 101
        case [1]:
            return 201
        case [k]:
            return 300 + k
        case _:
            return 200 + lead.count // 2 if all(pairs) else 100 + lead.count


def shuai(lead: card_pb2.Lead) -> Shuai | None:
    """What a throw is made of; None of any other lead."""
    if len(lead.components) < 2:
        return None
    kinds = [component.kind for component in lead.components]
    return Shuai(
        tractors=tuple(each.pairs for each in lead.components if each.kind == card_pb2.COMPONENT_KIND_TRACTOR),
        pairs=kinds.count(card_pb2.COMPONENT_KIND_PAIR),
        singles=kinds.count(card_pb2.COMPONENT_KIND_SINGLE),
    )


def tables(trump: card_pb2.Trump.ValueType) -> Order:
    """The order of the cards under a trump suit."""
    return order(SuitTrump(Suit(trump)))


def seatlist(view: view_pb2.View) -> tuple[Paikuang, ...] | None:
    """What the table knows of each seat, in a review room; None in any other."""
    parts = view.parts
    if view.options.no_review:
        return None
    held = {each.seat: (each.trumps, each.pairs) for each in parts.trump_counts.counts}
    if held:
        own = trump_count(tables(parts.contract.trump), cards_of(map(CardId, parts.hand.cards)))
        held[view.seat] = (own.trumps, own.pairs)
    return tuple(
        (*_flags(proven, parts.contract.trump), held.get(seat, (NOTHING, NOTHING)))
        for seat, proven in enumerate(parts.inference.seats)
    )


def _flags(proven: view_pb2.Proven, trump: card_pb2.Trump.ValueType) -> Iterable[tuple[int, int]]:
    for suit in (card_pb2.GROUP_DIAMONDS, card_pb2.GROUP_CLUBS, card_pb2.GROUP_HEARTS, card_pb2.GROUP_SPADES):
        group = card_pb2.GROUP_TRUMPS if int(suit) == int(trump) else suit
        yield int(group in proven.void_groups), int(group in proven.pairless_groups)


def liangpai(part: view_pb2.DisclosurePart) -> Liangpai | None:
    """The declarer's disclosure; None where there is none."""
    if not part.HasField("disclosure"):
        return None
    told: burying_pb2.Disclosure = part.disclosure
    high = told.HasField("holding")
    return Liangpai(
        zhu=told.holding.trumps if high else None,
        zhupair=told.holding.pairs if high else None,
        zhutuo=told.holding.tractors if high else None,
        wang=told.jokers or None,
        qi=told.sevens or None,
        er=told.twos or None,
    )


def sorted_down(cards: Sequence[int], trump: card_pb2.Trump.ValueType) -> Cards:
    """The cards from the highest to the lowest, trumps first."""
    return in_order(tables(trump), cards_of(map(CardId, cards)))


def maxcard(trick: playing_pb2.Trick, trump: card_pb2.Trump.ValueType) -> int:
    """The id of the highest card of the play that is ahead."""
    best = next(play.cards for play in trick.plays if play.seat == trick.ahead)
    return sorted_down(best, trump)[0]


def by_seat(trick: playing_pb2.Trick) -> tuple[Cards, ...]:
    """What each seat has played to a trick, seat 0 first; empty for one that has not."""
    played = {play.seat: tuple(play.cards) for play in trick.plays}
    return tuple(played.get(seat, ()) for seat in range(SEATS))


def trick_points(trick: playing_pb2.Trick) -> int:
    """The points of all cards in a trick."""
    return points(cards_of(CardId(card) for play in trick.plays for card in play.cards))


def upgrade(settlement: settlement_pb2.Settlement) -> int:
    """The outcome with its sign: 3, 2 or 1 for the declarer, -n for the defenders, -99 a surrender, 0 a disband."""
    match settlement.outcome:
        case settlement_pb2.OUTCOME_UPGRADE:
            return -settlement.multiplier
        case settlement_pb2.OUTCOME_SURRENDERED:
            return -99
        case settlement_pb2.OUTCOME_DISBANDED:
            return 0
        case _:
            return settlement.multiplier
