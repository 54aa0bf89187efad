"""Decodes views, and the changed parts in a notice."""

from collections.abc import Iterator

from erqiwang_core.disclosure import Disclosure, TrumpCount, TrumpHolding
from erqiwang_core.inference import Proven
from erqiwang_core.match import Player
from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import (
    AccountPart,
    Agreed,
    Auction,
    Buried,
    Captured,
    CapturedCards,
    Chairs,
    ContractPart,
    Disclosed,
    Hand,
    History,
    Inference,
    Kitty,
    Part,
    Progress,
    Result,
    SettlementPart,
    Table,
    TrumpCounts,
    TrumpVoid,
    Turn,
    View,
)
from erqiwang_core.rules import Rules, game_rules
from erqiwang_core.seats import BySeat
from erqiwang_core.units import CardId, Chips, Points, Seat

from erqiwang_grpc.rpc.wire.decode.advice import advice
from erqiwang_grpc.rpc.wire.decode.cards import call, cards, seats, statements, trick
from erqiwang_grpc.rpc.wire.decode.known import GROUPS, PHASES, TRUMPS, known, room_options
from erqiwang_grpc.rpc.wire.decode.settlements import account, chips, settlement
from erqiwang_grpc.v1 import burying_pb2, view_pb2


def view(message: view_pb2.View) -> View:
    """A whole view."""
    options = room_options(message.options)
    held = message.parts
    return View(
        seat=Seat(message.seat),
        options=options,
        chairs=_chairs(held.chairs),
        progress=_progress(held.progress),
        turn=_turn(held.turn),
        hand=Hand(cards(held.hand.cards)),
        auction=_auction(held.auction),
        contract=_contract(held.contract),
        kitty=Kitty(cards(held.kitty.cards)),
        buried=Buried(cards(held.buried.cards)),
        table=_table(held.table),
        captured=_captured(held.captured),
        captured_cards=CapturedCards(cards(held.captured_cards.cards)),
        history=_history(held.history),
        inference=_inference(held.inference),
        trump_void=_trump_void(held.trump_void),
        trump_counts=_trump_counts(held.trump_counts),
        disclosed=_disclosed(held.disclosure),
        advice=advice(held.advice),
        settlement=_settlement(held.settlement, _rules(options)),
        account=_account(held.account),
    )


def _rules(options: RoomOptions) -> Rules:
    return game_rules(options.game, options.review)


def parts(message: view_pb2.Parts, options: RoomOptions) -> tuple[Part, ...]:
    """The parts that are set in `message`, in a room with these options."""
    return tuple(_set(message, options))


def _set(message: view_pb2.Parts, options: RoomOptions) -> Iterator[Part]:
    if message.HasField("chairs"):
        yield _chairs(message.chairs)
    if message.HasField("progress"):
        yield _progress(message.progress)
    if message.HasField("turn"):
        yield _turn(message.turn)
    if message.HasField("hand"):
        yield Hand(cards(message.hand.cards))
    if message.HasField("auction"):
        yield _auction(message.auction)
    if message.HasField("contract"):
        yield _contract(message.contract)
    if message.HasField("kitty"):
        yield Kitty(cards(message.kitty.cards))
    if message.HasField("buried"):
        yield Buried(cards(message.buried.cards))
    if message.HasField("table"):
        yield _table(message.table)
    if message.HasField("captured"):
        yield _captured(message.captured)
    if message.HasField("captured_cards"):
        yield CapturedCards(cards(message.captured_cards.cards))
    if message.HasField("history"):
        yield _history(message.history)
    if message.HasField("inference"):
        yield _inference(message.inference)
    if message.HasField("trump_void"):
        yield _trump_void(message.trump_void)
    if message.HasField("trump_counts"):
        yield _trump_counts(message.trump_counts)
    if message.HasField("disclosure"):
        yield _disclosed(message.disclosure)
    if message.HasField("advice"):
        yield advice(message.advice)
    if message.HasField("settlement"):
        yield _settlement(message.settlement, _rules(options))
    if message.HasField("account"):
        yield _account(message.account)


def _chairs(message: view_pb2.ChairsPart) -> Chairs:
    return Chairs(BySeat(tuple(Player(player) if player else None for player in message.players)))


def _progress(message: view_pb2.ProgressPart) -> Progress:
    return Progress(
        phase=known(PHASES, message.phase),
        deal=message.deal,
        deals=message.deals,
        totals=chips(message.totals),
        first_bidder=Seat(message.first_bidder) if message.HasField("first_bidder") else None,
        commitment=message.commitment,
    )


def _turn(message: view_pb2.TurnPart) -> Turn:
    return Turn(Seat(message.seat) if message.HasField("seat") else None, message.countdown, message.number)


def _auction(message: view_pb2.AuctionPart) -> Auction:
    return Auction(
        calls=tuple(call(called) for called in message.calls),
        leader=Seat(message.leader) if message.HasField("leader") else None,
        standing=Points(message.standing) if message.HasField("standing") else None,
        base=Chips(message.base),
    )


def _contract(message: view_pb2.ContractPart) -> ContractPart:
    if not message.HasField("declarer"):
        return ContractPart(None)
    agreed = Agreed(
        declarer=Seat(message.declarer),
        bid=Points(message.bid),
        base=Chips(message.base),
        may_surrender=message.may_surrender,
        trump=known(TRUMPS, message.trump) if message.trump else None,
    )
    return ContractPart(agreed)


def _table(message: view_pb2.TablePart) -> Table:
    return Table(message.number, trick(message.trick) if message.HasField("trick") else None)


def _captured(message: view_pb2.CapturedPart) -> Captured:
    return Captured(Points(message.points), message.multiplier)


def _history(message: view_pb2.HistoryPart) -> History:
    return History(message.kept, tuple(trick(played) for played in message.tricks))


def _inference(message: view_pb2.InferencePart) -> Inference:
    proven = BySeat(tuple(_proven(seat) for seat in message.seats))
    return Inference(proven if len(proven) else None)


def _proven(message: view_pb2.Proven) -> Proven:
    return Proven(
        void=tuple(known(GROUPS, group) for group in message.void_groups),
        no_pair=tuple(known(GROUPS, group) for group in message.pairless_groups),
    )


def _trump_void(message: view_pb2.TrumpVoidPart) -> TrumpVoid:
    return TrumpVoid(seats(message.void_seats), statements(message.statements))


def _trump_counts(message: view_pb2.TrumpCountsPart) -> TrumpCounts:
    counts = ((Seat(held.seat), TrumpCount(held.trumps, held.pairs)) for held in message.counts)
    return TrumpCounts(tuple(counts))


def _disclosed(message: view_pb2.DisclosurePart) -> Disclosed:
    return Disclosed(_disclosure(message.disclosure) if message.HasField("disclosure") else None)


def _disclosure(message: burying_pb2.Disclosure) -> Disclosure:
    held = message.holding
    return Disclosure(
        holding=TrumpHolding(held.trumps, held.pairs, held.tractors) if message.HasField("holding") else None,
        jokers=message.jokers or None,
        sevens=message.sevens or None,
        twos=message.twos or None,
    )


def _settlement(message: view_pb2.SettlementPart, played_by: Rules) -> SettlementPart:
    if not message.HasField("settlement"):
        return SettlementPart(None)
    result = Result(
        settlement=settlement(message.settlement, played_by),
        ready=BySeat(tuple(message.ready)),
        deck=tuple(CardId(card) for card in message.deck),
        salt=message.salt,
    )
    return SettlementPart(result)


def _account(message: view_pb2.AccountPart) -> AccountPart:
    return AccountPart(account(message.account) if message.HasField("account") else None)
