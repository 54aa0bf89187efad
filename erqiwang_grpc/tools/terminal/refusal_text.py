"""Refusals in words for a person: what is wrong, and which cards would be legal."""

from typing import Final

from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.hand import EMPTY, cards_of
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
    Refused,
    RoomQuarantined,
    ServiceRefusal,
    StaleVersion,
    StoreUnavailable,
    TooManyCommands,
    WrittenByNewer,
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
    """Why a command was refused, in sentences that say all that the refusal tells. `view` is the sender's."""
    if isinstance(refused, ServiceRefusal):
        return Text(_of_service(refused))
    match refused:
        case IllegalFollow(broken, compulsory, legal):
            return _illegal(wording.breach(broken), compulsory, legal, view)
        case IllegalLead(fault, legal):
            return _illegal(wording.not_led(fault), EMPTY, legal, view)
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
            return Text(f"The first bidder has to bid: {opening} or lower.")
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
        case NoSuchSeat() | NotACard() | NotATrump() | NotASignal() | SeatedElsewhere() | SeatFree() | SeatOccupied():
            return Text(sentence(refused))


def _of_service(refused: ServiceRefusal) -> str:
    if isinstance(refused, TooManyCommands):
        return f"Too fast: {refused.per_second} commands a second are taken."
    if isinstance(refused, StaleVersion | StoreUnavailable | WrittenByNewer | RoomQuarantined):
        return f"{sentence(refused)} Try again in a moment."
    return sentence(refused)


def _illegal(why: str, compulsory: CardSet, legal: CardSet, view: View) -> Text:
    trump = trump_of(view)
    must = Text.assemble(" You have to play ", cards(compulsory, trump), ".") if compulsory else Text("")
    return Text.assemble(f"That may not be played: {why}.", must, " This would be legal: ", cards(legal, trump), ".")


def not_now(view: View) -> str:
    """Why an action of another phase or turn is not possible now, as a sentence without a capital and a full stop."""
    turn = view.turn.seat
    return (
        f"not now: {_PHASES[view.progress.phase]}"
        if turn in (None, view.seat)
        else f"not now: it is the turn of {name(view, turn)}"
    )


def _card(number: int) -> Text:
    return cards(cards_of([CardId(number % CARDS)]))
