"""Notices: what each viewer is told of each event (rules §12, §13).

A notice has a cause, which is the event as this viewer may know it, and every part of the view that the event changed.
Each part is whole: replace the old part by it, and the view is up to date. One part, the finished tricks, says how many
of the old ones to keep, and is added to them. No rule of the game is needed for that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar, final, overload

from erqiwang_core import deal as deals, view as views
from erqiwang_core.bidding import Bidding, DeclarerFound
from erqiwang_core.burying import Burying, CardsBuried
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.disclosure import Statement
from erqiwang_core.kernel.shapes import Lead
from erqiwang_core.match import (
    DealStarted,
    Disbanding,
    Event,
    Match,
    MatchEnded,
    Running,
    SeatLeft,
    SeatReady,
    SeatTaken,
)
from erqiwang_core.naming import Naming, TrumpNamed
from erqiwang_core.parts import (
    AccountPart,
    Advice,
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
    Own,
    Part,
    Progress,
    PublicView,
    SettlementPart,
    Shared,
    Table,
    TrumpCounts,
    TrumpVoid,
    Turn,
    View,
)
from erqiwang_core.playing import CardsFollowed, CardsLed, Playing, counts_open
from erqiwang_core.settlement import DealSettled, Settled
from erqiwang_core.units import CardSet, Seat
from erqiwang_core.viewer import PUBLIC, Public, Viewer


@final
@dataclass(frozen=True, slots=True)
class Dealt:
    """A deal has been dealt. The cards are in each seat's own view."""

    number: int
    first_bidder: Seat
    commitment: bytes


@final
@dataclass(frozen=True, slots=True)
class BuriedBy:
    """The declarer has buried. Only the declarer's own view holds the cards."""

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
    """The cards of the failed throw, told to the thrower only; None for other viewers and if no throw failed."""
    void: tuple[Seat, ...]
    statements: tuple[Statement, ...]


@final
@dataclass(frozen=True, slots=True)
class DealEnded:
    """The deal is settled. The view holds the settlement."""


@final
@dataclass(frozen=True, slots=True)
class MatchOver:
    """The match is settled. The view holds the account."""

    disbanding: Disbanding | None
    """None if all deals were played."""


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
    """The parts of the seat's view that the event changed, and no others."""


@final
@dataclass(frozen=True, slots=True)
class PublicNotice:
    """What the public is told of one event."""

    cause: Cause
    changed: tuple[Shared, ...]
    """The parts of the public view that the event changed, and no others."""


@final
@dataclass(frozen=True, slots=True)
class Telling:
    """What several viewers are told of one event: the shared parts once, and each seat's own."""

    shared: tuple[Shared, ...]
    own: dict[Seat, Notice]
    """For each seat its cause, and its own parts that changed."""
    public: Cause
    """The cause for the public."""

    @overload
    def notice(self, viewer: Seat) -> Notice: ...
    @overload
    def notice(self, viewer: Public) -> PublicNotice: ...
    def notice(self, viewer: Viewer) -> Notice | PublicNotice:
        """The notice for `viewer`: the public, or one of the seats in `own`."""
        if isinstance(viewer, Public):
            return PublicNotice(self.public, self.shared)
        own = self.own[viewer]
        return Notice(own.cause, (*self.shared, *own.changed))


@overload
def notice(before: Match, event: Event, after: Match, viewer: Seat) -> Notice: ...
@overload
def notice(before: Match, event: Event, after: Match, viewer: Public) -> PublicNotice: ...
@overload
def notice(before: Match, event: Event, after: Match, viewer: Viewer) -> Notice | PublicNotice: ...
def notice(before: Match, event: Event, after: Match, viewer: Viewer) -> Notice | PublicNotice:
    """The notice for `viewer` of `event`, which changed the match from `before` to `after`."""
    if isinstance(viewer, Public):
        return telling(before, event, after, ()).notice(viewer)
    return telling(before, event, after, (viewer,)).notice(viewer)


def telling(before: Match, event: Event, after: Match, seats: tuple[Seat, ...]) -> Telling:
    """The notices of `event` for the public and for `seats`. The shared parts are built only once."""
    if isinstance(event, (CardsLed, CardsFollowed)):
        return _telling_of_play(before, event, after, seats)
    return Telling(
        shared=_changed_alike(before, after),
        own={seat: Notice(cause(before, event, seat), _changed(before, after, seat)) for seat in seats},
        public=cause(before, event, PUBLIC),
    )


def cause(match: Match, event: Event, viewer: Viewer) -> Cause:
    """The event as `viewer` may know it. `match` may be at any moment of the event's deal, before or after it."""
    match event:
        case CardsFollowed():
            return event
        case DealStarted(number, first_bidder, shuffled=shuffled):
            return Dealt(number, first_bidder, shuffled.commitment)
        case CardsBuried(void=void, statements=stated):
            return BuriedBy(_declarer(match), void, stated)
        case CardsLed(thrower, cards, lead, attempted, void, stated):
            told = attempted if viewer == thrower else None
            return Led(thrower, cards, lead, attempted is not None, told, void, stated)
        case DealSettled():
            return DealEnded()
        case MatchEnded(account):
            return MatchOver(account.disbanding)
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


SEEN_ALIKE: Final[tuple[Callable[[Match], Shared], ...]] = (
    views.chairs,
    views.progress,
    views.turn,
    views.auction,
    views.contract,
    views.table,
    views.captured,
    views.history,
    views.inference,
    views.trump_void,
    views.settlement,
    views.account,
)
"""The functions that build the shared parts."""

OWN: Final[tuple[Callable[[Match, Seat], Own], ...]] = (
    views.hand,
    views.kitty,
    views.buried,
    views.captured_cards,
    views.trump_counts,
    views.disclosed,
    views.advice,
)
"""The functions that build a seat's own parts."""


def _changed_alike(before: Match, after: Match) -> tuple[Shared, ...]:
    return tuple(new for part in SEEN_ALIKE if (new := part(after)) != part(before))


def _changed(before: Match, after: Match, seat: Seat) -> tuple[Own, ...]:
    return tuple(new for part in OWN if (new := part(after, seat)) != part(before, seat))


def _telling_of_play(before: Match, event: CardsLed | CardsFollowed, after: Match, seats: tuple[Seat, ...]) -> Telling:
    """The notices of a play. Comparing all parts is too slow for plays, so what a play changes is listed."""
    was, now = _in_play(before), _in_play(after)
    public = cause(before, event, PUBLIC)
    own: dict[Seat, Notice] = {}
    for seat in seats:
        # A play is told to all alike, but for the cards of a failed throw, which only the thrower is told.
        told = cause(before, event, seat) if seat == event.seat else public
        own[seat] = Notice(told, _changed_by_play(was, event, now, after, seat))
    return Telling(_changed_alike_by_play(was, event, now, after), own, public)


def _changed_alike_by_play(
    was: Playing, event: CardsLed | CardsFollowed, now: Playing, after: Match
) -> tuple[Shared, ...]:
    parts: list[Shared] = [views.turn(after), views.table(after)]
    if now.points != was.points:
        parts.append(views.captured(after))
    if now.rules.review and now.finished is not was.finished:
        parts.append(History(len(was.finished), now.finished[len(was.finished) :]))
    if now.rules.review and now.proven is not was.proven:
        parts.append(views.inference(after))
    if event.void:
        parts.append(views.trump_void(after))
    return tuple(parts)


def _changed_by_play(
    was: Playing, event: CardsLed | CardsFollowed, now: Playing, after: Match, seat: Seat
) -> tuple[Own, ...]:
    parts: list[Own] = []
    if seat == event.seat:
        parts.append(views.hand(after, seat))
    if seat in (was.turn, deals.turn(now)):
        parts.append(views.advice(after, seat))
    if now.points != was.points and seat != now.contract.declarer:
        parts.append(views.captured_cards(after, seat))
    if counts_open(now) and (not counts_open(was) or (seat != event.seat and now.order.trumps(event.cards))):
        parts.append(views.trump_counts(after, seat))
    return tuple(parts)


def _in_play(match: Match) -> Playing:
    assert isinstance(match, Running), "a play is of a match that runs, and alone ends none"
    assert isinstance(match.deal, Playing), "a play is of a deal in play, and alone settles none"
    return match.deal


def fold(before: View, told: Notice) -> View:
    """The seat's view after a notice: each changed part replaces the old one, or is added to it."""
    for part in told.changed:
        before = _put(before, part)
    return before


def fold_public(before: PublicView, told: PublicNotice) -> PublicView:
    """The public view after a notice: each changed part replaces the old one, or is added to it."""
    for part in told.changed:
        before = _put_shared(before, part)
    return before


_V = TypeVar("_V", View, PublicView)


def _put(into: View, part: Part) -> View:
    match part:
        case Hand():
            return replace(into, hand=part)
        case Kitty():
            return replace(into, kitty=part)
        case Buried():
            return replace(into, buried=part)
        case CapturedCards():
            return replace(into, captured_cards=part)
        case TrumpCounts():
            return replace(into, trump_counts=part)
        case Disclosed():
            return replace(into, disclosed=part)
        case Advice():
            return replace(into, advice=part)
        case (
            Chairs()
            | Progress()
            | Turn()
            | Auction()
            | ContractPart()
            | Table()
            | Captured()
            | History()
            | Inference()
            | TrumpVoid()
            | SettlementPart()
            | AccountPart()
        ):
            return _put_shared(into, part)


def _put_shared(into: _V, part: Shared) -> _V:
    match part:
        case Chairs():
            return replace(into, chairs=part)
        case Progress():
            return replace(into, progress=part)
        case Turn():
            return replace(into, turn=part)
        case Auction():
            return replace(into, auction=part)
        case ContractPart():
            return replace(into, contract=part)
        case Table():
            return replace(into, table=part)
        case Captured():
            return replace(into, captured=part)
        case History():
            return replace(into, history=_added(into.history, part))
        case Inference():
            return replace(into, inference=part)
        case TrumpVoid():
            return replace(into, trump_void=part)
        case SettlementPart():
            return replace(into, settlement=part)
        case AccountPart():
            return replace(into, account=part)


def _added(to: History, part: History) -> History:
    assert part.kept <= len(to.tricks), "a notice is of the view just before its event"
    return History(0, (*to.tricks[: part.kept], *part.tricks))


def told_again(match: Match, events: Sequence[Event], viewer: Viewer) -> tuple[Cause, ...]:
    """The causes of the last of `events` that a viewer who was away may still be told, oldest first (rules §4, §12).

    `events` are the events of the present deal that the viewer missed. In a no-review room those before the trick on
    the table are left out. A kitty shown to all is left out once trump is named; the rest of its event is kept.
    """
    first = 0 if match.options.review else _led_at(events)
    named = any(isinstance(event, TrumpNamed) for event in events)
    causes = (cause(match, event, viewer) for event in events[first:])
    return tuple(replace(told, shown=None) if named and isinstance(told, DeclarerFound) else told for told in causes)


def _led_at(events: Sequence[Event]) -> int:
    """The index of the last lead in `events`; 0 if there is none."""
    return max((place for place, event in enumerate(events) if isinstance(event, CardsLed)), default=0)
