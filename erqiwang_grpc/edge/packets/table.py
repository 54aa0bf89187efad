"""The table as it stands (`deskinfo`), made from a seat's view."""

from typing import Final

from erqiwang_grpc.edge.packets.numbers import (
    NOTHING,
    SEATS,
    by_seat,
    cardtype,
    flower,
    liangpai,
    maxcard,
    seatlist,
    shuai,
    sorted_down,
)
from erqiwang_grpc.edge.packets.settling import aset
from erqiwang_grpc.edge.packets.to_seat import (
    BalanceGroup,
    BuryCardsGroup,
    BySeat,
    CallRunGroup,
    Cards,
    ChooseMainGroup,
    Deskinfo,
    Playproc,
    PushCardsGroup,
)
from erqiwang_grpc.v1 import view_pb2

STEPS: Final = {
    view_pb2.PHASE_BIDDING: 1,
    view_pb2.PHASE_NAMING: 2,
    view_pb2.PHASE_BURYING: 3,
    view_pb2.PHASE_PLAYING: 5,
    view_pb2.PHASE_SETTLED: 6,
    view_pb2.PHASE_OVER: 6,
}
"""The protocol's number of each phase in which there is a table."""


def deskinfo(view: view_pb2.View) -> Deskinfo | None:
    """The table as a seat may see it; None before the first deal."""
    parts = view.parts
    if not parts.progress.deal:
        return None
    step = STEPS[parts.progress.phase]
    return Deskinfo(
        count=parts.progress.deals,
        idx=parts.progress.deal,
        PlayerInfo=tuple(parts.progress.totals),
        step=step,
        MyCards=tuple(parts.hand.cards),
        CallRun=_bidding(parts) if step == 1 else None,
        ChooseMain=_naming(parts) if step == 2 else None,
        BuryCards=_burying(parts) if step == 3 else None,
        PushCards=_playing(view) if step == 5 else None,
        Balance=_settled(view) if step == 6 else None,
    )


def _bidding(parts: view_pb2.Parts) -> CallRunGroup:
    calls: list[int | None] = [None] * SEATS
    for call in parts.auction.calls:
        calls[call.seat] = call.points if call.HasField("points") else 0
    return CallRunGroup(
        seat=parts.turn.seat,
        countdown=parts.turn.countdown,
        nowcall=parts.auction.standing,
        multiple=parts.auction.base,
        call=tuple(calls),
    )


def _kitty(parts: view_pb2.Parts) -> Cards | None:
    """The kitty, which only the declarer's view holds."""
    return tuple(parts.kitty.cards) or None


def _naming(parts: view_pb2.Parts) -> ChooseMainGroup:
    return ChooseMainGroup(
        banker=parts.contract.declarer,
        call=parts.contract.bid,
        multiple=parts.contract.base,
        countdown=parts.turn.countdown,
        bottomcards=_kitty(parts),
        touxiang=int(parts.contract.may_surrender),
    )


def _burying(parts: view_pb2.Parts) -> BuryCardsGroup:
    return BuryCardsGroup(
        banker=parts.contract.declarer,
        call=parts.contract.bid,
        multiple=parts.contract.base,
        flower=parts.contract.trump,
        countdown=parts.turn.countdown,
        bottomcards=_kitty(parts),
    )


def _playing(view: view_pb2.View) -> PushCardsGroup:
    parts = view.parts
    is_declarer = view.seat == parts.contract.declarer
    return PushCardsGroup(
        banker=parts.contract.declarer,
        call=parts.contract.bid,
        multiple=parts.contract.base,
        flower=parts.contract.trump,
        countdown=parts.turn.countdown,
        burycards=tuple(parts.buried.cards) if is_declarer else None,
        grade=parts.captured.points,
        gradecards=None if is_declarer else tuple(parts.captured_cards.cards),
        playproc=_trick(parts),
        seatlist=seatlist(view),
        liangpai=liangpai(parts.disclosure),
        pushlist=None if view.options.no_review else _history(parts),
        curmultiple=parts.captured.multiplier,
        mustcard=mustcard(view),
    )


def _in_progress(parts: view_pb2.Parts) -> bool:
    """Whether the trick on the table still waits for a play. A finished one lies there until the next lead."""
    return 0 < len(parts.table.trick.plays) < SEATS


def _trick(parts: view_pb2.Parts) -> Playproc:
    if not _in_progress(parts):
        return Playproc(
            round=parts.table.number + 1,
            start=parts.turn.seat,
            currseat=parts.turn.seat,
            startcount=0,
            startflower=0,
            starttype=0,
            maxseat=NOTHING,
            maxcard=NOTHING,
            cards=((),) * SEATS,
            shuai_demand=None,
        )
    trick, trump = parts.table.trick, parts.contract.trump
    return Playproc(
        round=parts.table.number,
        start=trick.plays[0].seat,
        currseat=parts.turn.seat,
        startcount=trick.lead.count,
        startflower=flower(trick.lead, trump),
        starttype=cardtype(trick.lead),
        maxseat=trick.ahead,
        maxcard=maxcard(trick, trump),
        cards=by_seat(trick),
        shuai_demand=shuai(trick.lead),
    )


def _history(parts: view_pb2.Parts) -> tuple[BySeat, ...]:
    """All tricks of the deal, the one in progress included, each play from its highest card down."""
    tricks = [*parts.history.tricks, *([parts.table.trick] if _in_progress(parts) else [])]
    trump = parts.contract.trump
    return tuple(tuple(sorted_down(cards, trump) for cards in by_seat(trick)) for trick in tricks)


def mustcard(view: view_pb2.View) -> Cards | None:
    """The cards that the seat must play, if it is to follow, and not against a throw; None if there are none."""
    parts = view.parts
    if not parts.advice.HasField("follow") or len(parts.table.trick.lead.components) > 1:
        return None
    return tuple(parts.advice.follow.must) or None


def _settled(view: view_pb2.View) -> BalanceGroup:
    ready = view.parts.settlement.ready
    return BalanceGroup(
        readystate=tuple(int(each) for each in ready),
        aset=None if ready[view.seat] else aset(view),
    )
