"""Encodes the settlements of deals and matches."""

from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import Account, Disbanding, Outside
from erqiwang_core.settlement import SeatScore, Settlement

from erqiwang_grpc.rpc.wire.encode.cards import call
from erqiwang_grpc.rpc.wire.numbers import AWARD_KINDS, DISBAND_REASONS, NAMED, outcome
from erqiwang_grpc.v1 import settlement_pb2


def settlement(settled: Settlement) -> settlement_pb2.Settlement:
    """The settlement of a deal, item by item."""
    message = settlement_pb2.Settlement(
        outcome=outcome(settled.outcome),
        trick_points=settled.trick_points,
        grade=settled.grade,
        buried=ids(settled.buried),
        base=settled.base,
        multiplier=settled.multiplier,
        stake=settled.stake,
        seats=[_seat_score(seat) for seat in settled.seats],
    )
    contract, capture = settled.contract, settled.kitty_capture
    if contract is not None:
        message.declarer = contract.declarer
        message.bid = contract.row.bid
        message.step = contract.row.step
        message.calls.extend(call(called) for called in contract.calls)
    if settled.trump is not None:
        message.trump = NAMED[settled.trump]
    if capture is not None:
        message.kitty_capture.CopyFrom(
            settlement_pb2.KittyCapture(points=capture.points, multiplier=capture.multiplier)
        )
    return message


def _seat_score(seat: SeatScore) -> settlement_pb2.SeatScore:
    return settlement_pb2.SeatScore(
        awards=[
            settlement_pb2.Award(kind=AWARD_KINDS[award.kind], number=award.number) for award in seat.awards.awards
        ],
        award_cards=ids(seat.awards.cards),
        jokers=seat.awards.jokers,
        award_chips=seat.award_chips,
        base_chips=seat.base_chips,
        score=seat.score,
    )


def disbanding(asked: Disbanding | None) -> settlement_pb2.Disbanding | None:
    """Who disbanded a match, and why; None if it was not disbanded."""
    if asked is None:
        return None
    message = settlement_pb2.Disbanding(reason=DISBAND_REASONS[asked.reason], text=asked.text)
    match asked.asker:
        case Outside.PLATFORM:
            message.platform = True
        case Outside.HOUSE:
            message.house = True
        case seat:
            message.seat = seat
    return message


def account(settled: Account) -> settlement_pb2.Account:
    """The settlement of a match, in chips."""
    return settlement_pb2.Account(
        disbanding=disbanding(settled.disbanding),
        deals=[settlement_pb2.DealScores(scores=scores.values) for scores in settled.deals],
        totals=settled.totals.values,
    )
