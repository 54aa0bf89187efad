"""Notices: what each seat is told of each event, its cause and every part of the view that it changed (rules §12, §13).

The cause is the event as this seat may know it. The parts are whole: whoever puts them in the place of the old ones
holds the seat's view, without knowing a rule.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, final

from erqiwang_core import deal as deals, view as views
from erqiwang_core.bidding import Bidding, DeclarerFound
from erqiwang_core.burying import Burying, CardsBuried
from erqiwang_core.contract import BidMade, BidPassed
from erqiwang_core.disclosure import Statement
from erqiwang_core.match import DealStarted, Event, Match, MatchEnded, Running, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.naming import Naming, TrumpNamed
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
from erqiwang_core.settled import DealSettled, Settled
from erqiwang_core.shapes import Lead
from erqiwang_core.units import CardSet, Seat


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
    void: tuple[Seat, ...]
    """The seats announced void of trump as play begins."""
    statements: tuple[Statement, ...]


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


@final
@dataclass(frozen=True, slots=True)
class Telling:
    """What several seats are told of one event: the parts they share, and each seat's notice of its own parts."""

    shared: tuple[Part, ...]
    """The parts that changed and that every seat sees alike, built once."""
    own: dict[Seat, Notice]
    """By seat: the cause as this seat may know it, and the parts that changed for this seat alone."""

    def notice(self, seat: Seat) -> Notice:
        """What one of the seats is told, whole."""
        own = self.own[seat]
        return Notice(own.cause, (*self.shared, *own.changed))


def notice(before: Match, event: Event, after: Match, seat: Seat) -> Notice:
    """What `seat` is told of `event`, which led from `before` to `after`."""
    return telling(before, event, after, (seat,)).notice(seat)


def telling(before: Match, event: Event, after: Match, seats: Iterable[Seat]) -> Telling:
    """What each of `seats` is told of `event`, which led from `before` to `after`; what all see alike is built once."""
    own = {seat: Notice(cause(before, event, seat), _changed(before, event, after, seat)) for seat in seats}
    return Telling(_changed_alike(before, event, after), own)


def cause(match: Match, event: Event, seat: Seat) -> Cause:
    """The event as `seat` may know it; `match` is at any moment of the event's deal, before the event or after it."""
    match event:
        case CardsFollowed():
            return event
        case DealStarted(number, first_bidder, _, shuffled):
            return Dealt(number, first_bidder, shuffled.commitment)
        case CardsBuried(void=void, statements=stated):
            return BuriedBy(_declarer(match), void, stated)
        case CardsLed(thrower, cards, lead, attempted, void, stated):
            told = attempted if seat == thrower else None
            return Led(thrower, cards, lead, attempted is not None, told, void, stated)
        case DealSettled():
            return DealEnded()
        case MatchEnded(account):
            return MatchOver(account.disbanded)
        case SeatTaken() | SeatLeft() | BidMade() | BidPassed() | DeclarerFound() | TrumpNamed() | SeatReady():
            return event


def _declarer(match: Match) -> Seat:
    match views.current_deal(match):
        case Naming(contract=contract) | Burying(contract=contract) | Playing(contract=contract):
            return contract.declarer
        case Settled(settlement=settlement) if settlement.contract is not None:
            return settlement.contract.declarer
        case Bidding() | Settled() | None:
            raise AssertionError("cards are buried by a declarer")


_SEEN_ALIKE: Final[tuple[Callable[[Match], Part], ...]] = (
    views.chairs,
    views.progress,
    views.turn,
    views.auction,
    views.contract,
    views.table,
    views.history,
    views.inference,
    views.settlement,
    views.account,
)
"""The parts that are the same in every seat's view."""

_OWN: Final[tuple[Callable[[Match, Seat], Part], ...]] = (
    views.hand,
    views.kitty,
    views.buried,
    views.captured,
    views.trump_void,
    views.disclosed,
    views.advice,
)
"""The parts that every seat has its own of."""


def _changed_alike(before: Match, event: Event, after: Match) -> tuple[Part, ...]:
    if isinstance(event, CardsLed | CardsFollowed):
        return _changed_alike_by_play(before, after)
    return tuple(new for part in _SEEN_ALIKE if (new := part(after)) != part(before))


def _changed(before: Match, event: Event, after: Match, seat: Seat) -> tuple[Part, ...]:
    if isinstance(event, CardsLed | CardsFollowed):
        return _changed_by_play(before, event, after, seat)
    return tuple(new for part in _OWN if (new := part(after, seat)) != part(before, seat))


def _changed_alike_by_play(before: Match, after: Match) -> tuple[Part, ...]:
    """What a play changes for all: here and below, the one place where speed asks to know it beforehand."""
    was, now = _in_play(before), _in_play(after)
    parts: list[Part] = [views.turn(after), views.table(after)]
    if now.rules.review and now.finished is not was.finished:
        parts.append(views.history(after))
    if now.rules.review and now.proven is not was.proven:
        parts.append(views.inference(after))
    return tuple(parts)


def _changed_by_play(before: Match, event: CardsLed | CardsFollowed, after: Match, seat: Seat) -> tuple[Part, ...]:
    was, now = _in_play(before), _in_play(after)
    parts: list[Part] = []
    if seat == event.seat:
        parts.append(views.hand(after, seat))
    if seat in (was.turn, deals.turn(now)):
        parts.append(views.advice(after, seat))
    if now.points != was.points:
        parts.append(views.captured(after, seat))
    counted = seat != event.seat and counts_open(now) and now.order.trumps(event.cards)
    if event.void or counted:
        parts.append(views.trump_void(after, seat))
    return tuple(parts)


def _in_play(match: Match) -> Playing:
    assert isinstance(match, Running), "a play is of a match that runs, and alone ends none"
    assert isinstance(match.deal, Playing), "a play is of a deal in play, and alone settles none"
    return match.deal


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


def told_again(match: Match, events: Sequence[Event], seat: Seat) -> tuple[Cause, ...]:
    """What a seat that was away is told of `events`, the last ones of the present deal: the causes of a tail of them.

    It never reaches further back than the seat may look (rules §4, §12): in a no-review room not before the trick on the
    table was led. A kitty that was shown to all is told of until trump is named, and the rest of its event ever after.
    """
    first = 0 if match.options.review else _led_at(events)
    named = any(isinstance(event, TrumpNamed) for event in events)
    causes = (cause(match, event, seat) for event in events[first:])
    return tuple(replace(told, shown=None) if named and isinstance(told, DeclarerFound) else told for told in causes)


def _led_at(events: Sequence[Event]) -> int:
    """Where the trick on the table was led; 0 where none is, or where it was led before all of `events`."""
    return max((place for place, event in enumerate(events) if isinstance(event, CardsLed)), default=0)
