"""The settlement packets, made from the view alone: so they are the same when they come late, after a reconnect."""

from collections.abc import Sequence

from erqiwang_grpc.edge.packets.numbers import NOTHING, trick_points, upgrade
from erqiwang_grpc.edge.packets.to_seat import (
    Account,
    Aset,
    AsetSeat,
    Bottom,
    DeskFree,
    DisbandedMatch,
    FreeRoom,
    Jiesuan,
    LastChupai,
)
from erqiwang_grpc.v1 import settlement_pb2, view_pb2


def jiesuan(view: view_pb2.View) -> Jiesuan:
    """The settlement of the deal in view, and of the match if it is over."""
    settlement = view.parts.settlement.settlement
    surrendered = settlement.outcome == settlement_pb2.OUTCOME_SURRENDERED
    return Jiesuan(
        chupai=None if surrendered else _last_play(view),
        bottom=None if surrendered else _bottom(settlement),
        aset=aset(view),
        account=account(view.parts.account.account) if view.parts.account.HasField("account") else None,
    )


def free_room(view: view_pb2.View) -> FreeRoom:
    """The settlement of a disbanded match; without one if no deal was dealt."""
    if not view.parts.progress.deal:
        return FreeRoom(seats=(), deskfree=None)
    cut_short = view.parts.settlement.settlement.outcome == settlement_pb2.OUTCOME_DISBANDED
    settled = aset(view) if cut_short else _nothing_played(view)
    disbanded = DisbandedMatch(success=True, aset=settled, account=account(view.parts.account.account))
    return FreeRoom(seats=(), deskfree=DeskFree(rpc=Jiesuan.rpc, data=disbanded))


def aset(view: view_pb2.View) -> Aset:
    """The deal that the view shows as settled."""
    settlement, game = view.parts.settlement.settlement, view.options.three_player
    return Aset(
        banker=settlement.declarer if settlement.HasField("declarer") else NOTHING,
        call=settlement.bid if settlement.HasField("bid") else NOTHING,
        multiple=settlement.base,
        flower=settlement.trump or NOTHING,
        grade=settlement.grade,
        upgrade=upgrade(settlement),
        bangwang=int(game.joker_bonus),
        climb=int(game.climb),
        seatlist=tuple(
            _seat(score, total) for score, total in zip(settlement.seats, view.parts.progress.totals, strict=True)
        ),
    )


def _seat(score: settlement_pb2.SeatScore, total: int) -> AsetSeat:
    regular = [award.number for award in score.awards if award.kind != settlement_pb2.AWARD_KIND_JOKER_BONUS]
    return AsetSeat(
        cards=tuple(score.award_cards),
        chongguan=sum(regular),
        wang=score.jokers,
        naward=sum(award.number for award in score.awards),
        grade_aw=score.award_chips,
        grade_jf=score.base_chips,
        grade=score.score,
        score=total,
    )


def _nothing_played(view: view_pb2.View) -> Aset:
    """A disband between two deals: no deal is cut short, and the packet has the form of one all the same."""
    game = view.options.three_player
    return Aset(
        banker=NOTHING,
        call=NOTHING,
        multiple=0,
        flower=NOTHING,
        grade=0,
        upgrade=0,
        bangwang=int(game.joker_bonus),
        climb=int(game.climb),
        seatlist=tuple(AsetSeat((), 0, 0, 0, 0, 0, 0, total) for total in view.parts.progress.totals),
    )


def _last_play(view: view_pb2.View) -> LastChupai:
    """The last play of the last trick, which lies on the table until the next deal."""
    trick = view.parts.table.trick
    last = trick.plays[-1]
    captured = trick.ahead != view.parts.settlement.settlement.declarer
    return LastChupai(
        seat=last.seat,
        cards=tuple(last.cards),
        maxseat=trick.ahead,
        grade=trick_points(trick) if captured else 0,
    )


def _bottom(settlement: settlement_pb2.Settlement) -> Bottom:
    capture = settlement.kitty_capture if settlement.HasField("kitty_capture") else None
    return Bottom(
        cards=tuple(settlement.buried),
        multiple=None if capture is None else capture.multiplier,
        grade1=None if capture is None else capture.points,
        grade2=None if capture is None else capture.points * capture.multiplier,
    )


def account(settled: settlement_pb2.Account) -> Account:
    """The settled match: for each seat its total and its scores."""
    by_deal: Sequence[Sequence[int]] = [deal.scores for deal in settled.deals]
    return tuple((total, tuple(scores[seat] for scores in by_deal)) for seat, total in enumerate(settled.totals))
