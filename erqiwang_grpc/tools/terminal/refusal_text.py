"""Refusals in words: what is wrong, and with the cards that would have been right."""

from typing import Final

from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.hand import cards_of
from erqiwang_core.parts import View
from erqiwang_core.refusals import (
    BidNotLower,
    CardNotHeld,
    DeclarerMayNotSignal,
    FirstBidderMustBid,
    IllegalFollow,
    IllegalLead,
    NobodyIsVoid,
    NoSuchSeat,
    NotABid,
    NotACard,
    NotASignal,
    NotATrump,
    NotInThisRoom,
    NotYourTurn,
    Phase,
    RepeatedCard,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    SurrenderNotAllowed,
    WrongNumberOfCards,
    WrongPhase,
)
from erqiwang_core.units import CardId, CardSet
from rich.text import Text

from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    ForeignCursor,
    InvalidCursor,
    InvalidField,
    NoCommand,
    NoSuchRecord,
    NoSuchRoom,
    OutcomeUnknown,
    QuotaReached,
    Refused,
    RoomFull,
    RoomQuarantined,
    StaleVersion,
    StoreUnavailable,
    TooManyCommands,
    TooManyRooms,
    sentence,
)
from erqiwang_grpc.tools import wording
from erqiwang_grpc.tools.terminal.card_text import cards, trump_of
from erqiwang_grpc.tools.terminal.seat_names import name

_PHASES: Final = {
    Phase.OPEN: "seats are still free",
    Phase.BIDDING: "the bidding is on",
    Phase.NAMING: "the declarer is about to name trump",
    Phase.BURYING: "the declarer is about to bury",
    Phase.PLAYING: "cards are being played",
    Phase.SETTLED: "the deal is settled, and every seat is to be ready",
    Phase.OVER: "the match is over",
}


def explained(refused: Refused, view: View) -> Text:
    """Why a command did not stand, with everything that the refusal says."""
    match refused:
        case IllegalFollow(broken, compulsory, legal):
            must = (
                Text.assemble(" You have to play ", cards(compulsory, trump_of(view)), ".") if compulsory else Text("")
            )
            return Text.assemble(_sentence(wording.breach(broken)), must, _legal(legal, view))
        case IllegalLead(fault, legal):
            return Text.assemble(_sentence(wording.not_led(fault)), _legal(legal, view))
        case CardNotHeld(card):
            return Text.assemble("You do not hold ", _card(card), ".")
        case RepeatedCard(card):
            return Text.assemble(_card(card), " is named twice.")
        case WrongPhase(phase):
            return Text(f"Not now: {_PHASES[phase]}.")
        case NotYourTurn(turn):
            return Text(f"Not now: it is the turn of {name(view, turn)}.")
        case BidNotLower(standing):
            return Text(f"A bid has to be lower than {standing}, which stands.")
        case FirstBidderMustBid(opening):
            return Text(f"Whoever opens the bidding has to bid: {opening} or lower.")
        case NotABid(points, bids):
            return Text(f"There is no bid of {points}: bids are {', '.join(map(str, bids))}.")
        case SurrenderNotAllowed(bid):
            return Text(f"At a bid of {bid} there is no surrender.")
        case WrongNumberOfCards(expected, given):
            wanted = wording.number_of(expected, "card") if expected else "one card at least"
            return Text(f"{wanted} needed, {given} named.")
        case DeclarerMayNotSignal():
            return Text("Signals pass between the defenders: the declarer may send none.")
        case NotInThisRoom():
            return Text("The options of this room do not offer that.")
        case NobodyIsVoid():
            return Text("Trumps are shown once a seat holds none, and every seat still holds one.")
        case TooManyCommands(per_second):
            return Text(f"Too fast: {per_second} commands a second are taken.")
        case StaleVersion() | StoreUnavailable() | RoomQuarantined():
            return Text(f"{sentence(refused)} Try again in a moment.")
        case (
            NoSuchSeat()
            | NotACard()
            | NotATrump()
            | NotASignal()
            | SeatedElsewhere()
            | SeatFree()
            | SeatOccupied()
            | CommandIdReused()
            | ForeignCursor()
            | InvalidCursor()
            | InvalidField()
            | NoCommand()
            | NoSuchRecord()
            | NoSuchRoom()
            | RoomFull()
            | OutcomeUnknown()
            | TooManyRooms()
            | QuotaReached()
        ):
            return Text(sentence(refused))


def not_now(view: View) -> str:
    """Why something that is asked at other times does not stand now, as a sentence without its ends."""
    turn = view.turn.seat
    return (
        f"not now: {_PHASES[view.progress.phase]}"
        if turn in (None, view.seat)
        else f"not now: it is the turn of {name(view, turn)}"
    )


def _sentence(clause: str) -> str:
    return f"That may not be played: {clause}."


def _legal(legal: CardSet, view: View) -> Text:
    return Text.assemble(" This would be legal: ", cards(legal, trump_of(view)), ".")


def _card(number: int) -> Text:
    return cards(cards_of([CardId(number % CARDS)]))
