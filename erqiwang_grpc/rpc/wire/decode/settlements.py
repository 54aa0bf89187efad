"""Decodes the settlements of deals and matches."""

from collections.abc import Iterable

from erqiwang_core.awards import Award, SeatAwards
from erqiwang_core.contract import Contract
from erqiwang_core.match import Account, Asker, Disbanding, Outside
from erqiwang_core.rules import Rules
from erqiwang_core.scoring import Disbanded, KittyCapture, Made, NearShutout, Outcome, Shutout, Surrendered, Upgrade
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import SeatScore, Settlement
from erqiwang_core.units import Awards, Chips, Points, Seat

from erqiwang_grpc.rpc.wire.decode.cards import call, cards
from erqiwang_grpc.rpc.wire.decode.known import AWARD_KINDS, DISBAND_REASONS, TRUMPS, NotUnderstood, known
from erqiwang_grpc.rpc.wire.numbers import outcome
from erqiwang_grpc.v1 import settlement_pb2


def settlement(message: settlement_pb2.Settlement, rules: Rules) -> Settlement:
    """The settlement of a deal played by these rules."""
    capture = message.kitty_capture
    return Settlement(
        outcome=_outcome(message),
        contract=_contract(message, rules) if message.HasField("declarer") else None,
        trump=known(TRUMPS, message.trump) if message.trump else None,
        trick_points=Points(message.trick_points),
        kitty_capture=_kitty_capture(capture) if message.HasField("kitty_capture") else None,
        buried=cards(message.buried),
        base=Chips(message.base),
        stake=Chips(message.stake),
        seats=BySeat(tuple(_seat_score(seat) for seat in message.seats)),
    )


_OUTCOMES = {outcome(result): result for result in (Shutout(), NearShutout(), Made(), Surrendered(), Disbanded())}


def _outcome(message: settlement_pb2.Settlement) -> Outcome:
    if message.outcome == settlement_pb2.OUTCOME_UPGRADE:
        return Upgrade(message.multiplier)
    return known(_OUTCOMES, message.outcome)


def _contract(message: settlement_pb2.Settlement, rules: Rules) -> Contract:
    if message.bid not in rules.bids:
        raise NotUnderstood(f"{message.bid} is no bid of this game")
    row = rules.row(Points(message.bid))
    return Contract(Seat(message.declarer), row, tuple(call(called) for called in message.calls))


def _kitty_capture(message: settlement_pb2.KittyCapture) -> KittyCapture:
    return KittyCapture(Points(message.points), message.multiplier)


def _seat_score(message: settlement_pb2.SeatScore) -> SeatScore:
    awards = tuple(Award(known(AWARD_KINDS, award.kind), Awards(award.number)) for award in message.awards)
    return SeatScore(
        awards=SeatAwards(awards, cards(message.award_cards), message.jokers),
        award_chips=Chips(message.award_chips),
        base_chips=Chips(message.base_chips),
    )


def disbanding(message: settlement_pb2.Disbanding) -> Disbanding:
    """Who disbanded a match, and why."""
    return Disbanding(_asker(message), known(DISBAND_REASONS, message.reason), message.text)


def _asker(message: settlement_pb2.Disbanding) -> Asker:
    match message.WhichOneof("asker"):
        case "seat":
            return Seat(message.seat)
        case "platform":
            return Outside.PLATFORM
        case "house":
            return Outside.HOUSE
        case None:
            raise NotUnderstood("nobody that is known asked for the end")


def account(message: settlement_pb2.Account) -> Account:
    """The settlement of a match, in chips."""
    return Account(
        disbanding=disbanding(message.disbanding) if message.HasField("disbanding") else None,
        deals=tuple(chips(deal.scores) for deal in message.deals),
        totals=chips(message.totals),
    )


def chips(amounts: Iterable[int]) -> BySeat[Chips]:
    """The chips of each seat, seat 0 first."""
    return BySeat(tuple(Chips(amount) for amount in amounts))
