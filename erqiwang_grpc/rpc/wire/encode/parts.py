"""Encodes views, and the changed parts in a notice."""

from collections.abc import Iterable

from erqiwang_core import parts as core
from erqiwang_core.disclosure import Disclosure
from erqiwang_core.kernel.hand import ids
from erqiwang_core.parts import Part, PublicView, Seen, Shared, View
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.rpc.wire.encode.advice import put_advice
from erqiwang_grpc.rpc.wire.encode.cards import call, put_trick, statements
from erqiwang_grpc.rpc.wire.encode.rooms import room_options
from erqiwang_grpc.rpc.wire.encode.settlements import account, settlement
from erqiwang_grpc.rpc.wire.numbers import GROUPS, NAMED, PHASES
from erqiwang_grpc.store.port import TimeNs
from erqiwang_grpc.v1 import burying_pb2, card_pb2, view_pb2


def view(seen: Seen, room_id: str, began: TimeNs) -> view_pb2.View:
    """A whole view with every part of its viewer set. The present turn began at `began`."""
    return view_pb2.View(
        room_id=room_id,
        seat=None if isinstance(seen, PublicView) else seen.seat,
        options=room_options(seen.options),
        parts=parts(_public(seen) if isinstance(seen, PublicView) else _all(seen), began),
    )


def _public(seen: PublicView) -> tuple[Shared, ...]:
    return (
        seen.chairs,
        seen.progress,
        seen.turn,
        seen.auction,
        seen.contract,
        seen.table,
        seen.captured,
        seen.history,
        seen.inference,
        seen.trump_void,
        seen.settlement,
        seen.account,
    )


def _all(seen: View) -> tuple[Part, ...]:
    return (
        seen.chairs,
        seen.progress,
        seen.turn,
        seen.hand,
        seen.auction,
        seen.contract,
        seen.kitty,
        seen.buried,
        seen.table,
        seen.captured,
        seen.captured_cards,
        seen.history,
        seen.inference,
        seen.trump_void,
        seen.trump_counts,
        seen.disclosed,
        seen.advice,
        seen.settlement,
        seen.account,
    )


def parts(changed: Iterable[Part], began: TimeNs) -> view_pb2.Parts:
    """The message of these parts. Each is set, even if it is empty. A turn in them began at `began`."""
    message = view_pb2.Parts()
    for part in changed:
        put_part(message, part, began)
    return message


def put_part(into: view_pb2.Parts, part: Part, began: TimeNs) -> None:
    """Fill in one part, as `parts` does."""
    # The parts that a play changes come first, because they are the most frequent.
    match part:
        case core.Table():
            _put_table(into.table, part)
        case core.Turn():
            into.turn.SetInParent()
            _put_turn(into.turn, part, began)
        case core.Hand(cards):
            into.hand.SetInParent()
            into.hand.cards.extend(ids(cards))
        case core.Advice():
            into.advice.SetInParent()
            put_advice(into.advice, part)
        case core.Captured():
            into.captured.points = part.points
            into.captured.multiplier = part.multiplier
            into.captured.SetInParent()
        case core.CapturedCards(cards):
            into.captured_cards.SetInParent()
            into.captured_cards.cards.extend(ids(cards))
        case core.History():
            into.history.SetInParent()
            _put_history(into.history, part)
        case core.Inference():
            into.inference.CopyFrom(_inference(part))
        case core.TrumpVoid():
            into.trump_void.CopyFrom(
                view_pb2.TrumpVoidPart(void_seats=part.announced, statements=statements(part.statements))
            )
        case core.TrumpCounts():
            into.trump_counts.CopyFrom(_trump_counts(part))
        case core.Chairs(players):
            into.chairs.CopyFrom(view_pb2.ChairsPart(players=[player or "" for player in players]))
        case core.Progress():
            into.progress.CopyFrom(_progress(part))
        case core.Auction():
            into.auction.CopyFrom(_auction(part))
        case core.ContractPart(agreed):
            into.contract.CopyFrom(view_pb2.ContractPart() if agreed is None else _agreed(agreed))
        case core.Kitty(cards):
            into.kitty.CopyFrom(view_pb2.KittyPart(cards=ids(cards)))
        case core.Buried(cards):
            into.buried.CopyFrom(view_pb2.BuriedPart(cards=ids(cards)))
        case core.Disclosed(told):
            into.disclosure.CopyFrom(view_pb2.DisclosurePart(disclosure=None if told is None else _disclosure(told)))
        case core.SettlementPart(result):
            into.settlement.CopyFrom(view_pb2.SettlementPart() if result is None else _result(result))
        case core.AccountPart(settled):
            into.account.CopyFrom(view_pb2.AccountPart(account=None if settled is None else account(settled)))


def _put_table(into: view_pb2.TablePart, part: core.Table) -> None:
    into.number = part.number
    if part.trick is not None:
        put_trick(into.trick, part.trick)


def _put_history(into: view_pb2.HistoryPart, part: core.History) -> None:
    into.kept = part.kept
    for finished in part.tricks:
        put_trick(into.tricks.add(), finished)


def _put_turn(into: view_pb2.TurnPart, part: core.Turn, began: TimeNs) -> None:
    if part.seat is None:
        return
    into.seat = part.seat
    into.countdown = part.countdown
    into.number = part.number
    put_time(into.began, began)


def put_time(into: Timestamp, time: TimeNs) -> None:
    """Fill in a time."""
    into.seconds, into.nanos = divmod(time, 1_000_000_000)


def timestamp(time: TimeNs) -> Timestamp:
    """The message of a time."""
    seconds, nanos = divmod(time, 1_000_000_000)
    return Timestamp(seconds=seconds, nanos=nanos)


def _progress(part: core.Progress) -> view_pb2.ProgressPart:
    return view_pb2.ProgressPart(
        phase=PHASES[part.phase],
        deal=part.deal,
        deals=part.deals,
        totals=part.totals.values,
        first_bidder=part.first_bidder,
        commitment=part.commitment,
    )


def _auction(part: core.Auction) -> view_pb2.AuctionPart:
    return view_pb2.AuctionPart(
        calls=[call(called) for called in part.calls],
        leader=part.leader,
        standing=part.standing,
        base=part.base,
    )


def _agreed(agreed: core.Agreed) -> view_pb2.ContractPart:
    return view_pb2.ContractPart(
        declarer=agreed.declarer,
        bid=agreed.bid,
        base=agreed.base,
        may_surrender=agreed.may_surrender,
        trump=card_pb2.TRUMP_UNSPECIFIED if agreed.trump is None else NAMED[agreed.trump],
    )


def _inference(part: core.Inference) -> view_pb2.InferencePart:
    return view_pb2.InferencePart(
        seats=[
            view_pb2.Proven(
                void_groups=[GROUPS[group] for group in proven.void],
                pairless_groups=[GROUPS[group] for group in proven.no_pair],
            )
            for proven in part.proven or ()
        ]
    )


def _trump_counts(part: core.TrumpCounts) -> view_pb2.TrumpCountsPart:
    return view_pb2.TrumpCountsPart(
        counts=[view_pb2.TrumpCount(seat=seat, trumps=held.trumps, pairs=held.pairs) for seat, held in part.counts]
    )


def _disclosure(told: Disclosure) -> burying_pb2.Disclosure:
    message = burying_pb2.Disclosure(jokers=told.jokers or 0, sevens=told.sevens or 0, twos=told.twos or 0)
    if told.holding is not None:
        held = told.holding
        message.holding.CopyFrom(
            burying_pb2.Disclosure.Holding(trumps=held.trumps, pairs=held.pairs, tractors=held.tractors)
        )
    return message


def _result(result: core.Result) -> view_pb2.SettlementPart:
    return view_pb2.SettlementPart(
        settlement=settlement(result.settlement),
        ready=result.ready.values,
        deck=result.deck,
        salt=result.salt,
    )
