"""Notices: what each seat is told of each event, its cause and every part of the view that it changed (rules §12, §13).

The cause is the event as this seat may know it. The parts are whole: whoever puts them in the place of the old ones
holds the seat's view, without knowing a rule.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias, final

from erqiwang_core import view as views
from erqiwang_core.bidding import DeclarerFound
from erqiwang_core.burying import CardsBuried
from erqiwang_core.contract import BidMade, BidPassed
from erqiwang_core.disclosure import Statement
from erqiwang_core.match import DealStarted, Event, Match, MatchEnded, Running, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import TrumpNamed
from erqiwang_core.parts import (
    AccountPart,
    Advice,
    Auction,
    Buried,
    Captured,
    Chairs,
    ContractPart,
    Disclosed,
    Hand,
    History,
    Inference,
    Kitty,
    Part,
    Progress,
    SettlementPart,
    Table,
    TrumpVoid,
    Turn,
    View,
)
from erqiwang_core.playing import CardsFollowed, CardsLed, Playing, counts_open
from erqiwang_core.rules import RoomOptions
from erqiwang_core.settled import DealSettled
from erqiwang_core.shapes import Lead
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.view import view


@final
@dataclass(frozen=True, slots=True)
class Dealt:
    """A deal has been dealt."""

    number: int
    first_bidder: Seat
    commitment: bytes


@final
@dataclass(frozen=True, slots=True)
class BuriedBy:
    """The declarer has buried: which cards is in the declarer's view alone."""

    declarer: Seat


@final
@dataclass(frozen=True, slots=True)
class Led:
    """A seat has led."""

    seat: Seat
    cards: CardSet
    lead: Lead
    failed_throw: bool
    attempted: CardSet | None
    """The throw that failed, to the thrower alone."""
    void: tuple[Seat, ...]
    statements: tuple[Statement, ...]


@final
@dataclass(frozen=True, slots=True)
class DealEnded:
    """The deal is settled; the settlement is in the view."""


@final
@dataclass(frozen=True, slots=True)
class MatchOver:
    """The match is settled; the account is in the view."""

    disbanded: bool


Cause: TypeAlias = (
    SeatTaken
    | SeatLeft
    | Dealt
    | BidMade
    | BidPassed
    | DeclarerFound
    | TrumpNamed
    | BuriedBy
    | Led
    | CardsFollowed
    | DealEnded
    | SeatReady
    | MatchOver
)


@final
@dataclass(frozen=True, slots=True)
class Notice:
    """What one seat is told of one event."""

    cause: Cause
    changed: tuple[Part, ...]
    """Exactly the parts of the seat's view that the event changed."""


def notice(before: Match, event: Event, after: Match, seat: Seat) -> Notice:
    """What `seat` is told of `event`, which led from `before` to `after`."""
    told = cause(before, event, seat)
    match event:
        case CardsLed() | CardsFollowed():
            return Notice(told, _changed_by_play(before, event, after, seat))
        case (
            SeatTaken()
            | SeatLeft()
            | DealStarted()
            | BidMade()
            | BidPassed()
            | DeclarerFound()
            | TrumpNamed()
            | CardsBuried()
            | DealSettled()
            | SeatReady()
            | MatchEnded()
        ):
            return Notice(told, difference(view(before, seat), view(after, seat)))


def cause(before: Match, event: Event, seat: Seat) -> Cause:
    """The event as `seat` may know it."""
    match event:
        case CardsFollowed():
            return event
        case DealStarted(number, first_bidder, _, shuffled):
            return Dealt(number, first_bidder, shuffled.commitment)
        case CardsBuried():
            assert isinstance(before, Running), "buried in a deal"
            agreed = views.contract(before).agreed
            assert agreed is not None, "buried by a declarer"
            return BuriedBy(agreed.declarer)
        case CardsLed(thrower, cards, lead, attempted, void, stated):
            told = attempted if seat == thrower else None
            return Led(thrower, cards, lead, attempted is not None, told, void, stated)
        case DealSettled():
            return DealEnded()
        case MatchEnded(account):
            return MatchOver(account.disbanded)
        case SeatTaken() | SeatLeft() | BidMade() | BidPassed() | DeclarerFound() | TrumpNamed() | SeatReady():
            return event


def _changed_by_play(before: Match, event: CardsLed | CardsFollowed, after: Match, seat: Seat) -> tuple[Part, ...]:
    """The parts that a play changes: the one place where speed asks to know them beforehand."""
    assert isinstance(before, Running), "cards are played in a deal"
    assert isinstance(before.deal, Playing), "cards are played in play"
    assert isinstance(after, Running), "a play alone ends no match"
    assert isinstance(after.deal, Playing), "a play alone settles nothing"
    was, now = before.deal, after.deal
    turn = views.turn(after)
    parts: list[Part] = [turn, views.table(after)]
    if seat == event.seat:
        parts.append(views.hand(after, seat))
    if seat in (was.turn, turn.seat):
        parts.append(views.advice(after, seat))
    if isinstance(event, CardsFollowed) and event.taken is not None:
        if event.taken.captured and event.taken.points:
            parts.append(views.captured(after, seat))
        if now.rules.review:
            parts.append(views.history(after))
    if now.proven is not was.proven and now.rules.review:
        parts.append(Inference(now.proven))
    counted = seat != event.seat and counts_open(now) and now.order.trumps(event.cards)
    if event.void or counted:
        parts.append(views.trump_void(after, seat))
    return tuple(parts)


def difference(before: View, after: View) -> tuple[Part, ...]:
    """The parts in which two views of one seat differ."""
    return tuple(new for old, new in zip(_parts(before), _parts(after), strict=True) if old != new)


def _parts(of: View) -> tuple[Part, ...]:
    return (
        of.chairs,
        of.progress,
        of.turn,
        of.hand,
        of.auction,
        of.contract,
        of.kitty,
        of.buried,
        of.table,
        of.captured,
        of.history,
        of.inference,
        of.trump_void,
        of.disclosed,
        of.advice,
        of.settlement,
        of.account,
    )


def fold(before: View, told: Notice) -> View:
    """The view after a notice: every changed part in the place of the old one."""
    for part in told.changed:
        before = _put(before, part)
    return before


def _put(into: View, part: Part) -> View:
    match part:
        case Chairs():
            return replace(into, chairs=part)
        case Progress():
            return replace(into, progress=part)
        case Turn():
            return replace(into, turn=part)
        case Hand():
            return replace(into, hand=part)
        case Auction():
            return replace(into, auction=part)
        case ContractPart():
            return replace(into, contract=part)
        case Kitty():
            return replace(into, kitty=part)
        case Buried():
            return replace(into, buried=part)
        case Table():
            return replace(into, table=part)
        case Captured():
            return replace(into, captured=part)
        case History():
            return replace(into, history=part)
        case Inference():
            return replace(into, inference=part)
        case TrumpVoid():
            return replace(into, trump_void=part)
        case Disclosed():
            return replace(into, disclosed=part)
        case Advice():
            return replace(into, advice=part)
        case SettlementPart():
            return replace(into, settlement=part)
        case AccountPart():
            return replace(into, account=part)


def happens_once(options: RoomOptions, told: Cause) -> bool:
    """Whether a cause says something that no later view does, so that a seat that was away must be told it again.

    A kitty shown to all, a four-player statement, and in a no-review room the card that ended a trick.
    """
    match told:
        case DeclarerFound(shown=shown):
            return shown is not None
        case Led(statements=stated):
            return bool(stated)
        case CardsFollowed(taken=taken, statements=stated):
            return bool(stated) or (taken is not None and not options.review)
        case (
            SeatTaken()
            | SeatLeft()
            | Dealt()
            | BidMade()
            | BidPassed()
            | TrumpNamed()
            | BuriedBy()
            | DealEnded()
            | SeatReady()
            | MatchOver()
        ):
            return False
