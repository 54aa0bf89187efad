"""Bidding: lower and lower, until one seat is left or somebody says the lowest bid (叫分, rules §4)."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.contract import Contract
from erqiwang_core.dealing import Dealt
from erqiwang_core.kernel.hand import union
from erqiwang_core.naming import Naming
from erqiwang_core.refusals import BidNotLower, FirstBidderMustBid, NotABid, NotYourTurn, Refusal
from erqiwang_core.rules import Rules
from erqiwang_core.seats import seats_after
from erqiwang_core.units import CardSet, Points, Seat


@final
@dataclass(frozen=True, slots=True)
class Opening:
    """Nobody has called yet: the first bidder must bid."""

    turn: Seat


@final
@dataclass(frozen=True, slots=True)
class Contested:
    """`leader` made the lowest bid, `standing`. The seats in `waiting`, in order of turn, may still bid lower."""

    leader: Seat
    standing: Points
    waiting: tuple[Seat, ...]


Auction: TypeAlias = Opening | Contested


@final
@dataclass(frozen=True, slots=True)
class DeclarerFound:
    """The bidding is over and the declarer takes the kitty."""

    declarer: Seat
    bid: Points
    shown: CardSet | None
    """The kitty, if the bid shows it to every seat first; None if only the declarer sees it (rules §4)."""


Event: TypeAlias = Called | DeclarerFound


@final
@dataclass(frozen=True, slots=True)
class Bidding:
    """A deal in the bidding: no declarer yet."""

    dealt: Dealt
    auction: Auction
    calls: tuple[Called, ...]


@final
@dataclass(frozen=True, slots=True)
class Bid:
    """Make a bid. `points` is unchecked: any number that a client sent."""

    points: int


@final
@dataclass(frozen=True, slots=True)
class Pass:
    """Pass (不叫), for the rest of the bidding."""


Command: TypeAlias = Bid | Pass


def begin(dealt: Dealt) -> Bidding:
    """The bidding of a deal that has just been dealt; the first bidder is to bid."""
    return Bidding(dealt, Opening(dealt.first_bidder), ())


def turn(auction: Auction) -> Seat | None:
    """The seat that must call; None after the last call, before `DeclarerFound` is applied."""
    match auction:
        case Opening(seat):
            return seat
        case Contested(waiting=waiting):
            return waiting[0] if waiting else None


def legal_bids(state: Bidding) -> tuple[Points, ...]:
    """The bids that the seat whose turn it is may make, highest first; empty if it may only pass."""
    match state.auction:
        case Opening():
            return state.dealt.rules.bids
        case Contested(standing=standing):
            return tuple(bid for bid in state.dealt.rules.bids if bid < standing)


def decide(state: Bidding, seat: Seat, command: Command) -> tuple[Event, ...] | Refusal:
    """What `command` by `seat` brings about, or why it may not stand (rules §4).

    The events are the call and, if it ends the bidding, `DeclarerFound`. Refusals: `NotYourTurn`, `NotABid`,
    `BidNotLower`, and `FirstBidderMustBid` for a pass by the first bidder.
    """
    speaking = turn(state.auction)
    assert speaking is not None, "the call that ends the bidding brings the declarer with it"
    if seat != speaking:
        return NotYourTurn(speaking)
    match command:
        case Bid(raw):
            return _bid(state, seat, raw)
        case Pass():
            if isinstance(state.auction, Opening):
                return FirstBidderMustBid(state.dealt.rules.bids[0])
            return _closed_by(state, BidPassed(seat))


def _bid(state: Bidding, seat: Seat, raw: int) -> tuple[Event, ...] | Refusal:
    bid = Points(raw)
    if bid not in state.dealt.rules.bids:
        return NotABid(raw, state.dealt.rules.bids)
    if isinstance(state.auction, Contested) and bid >= state.auction.standing:
        return BidNotLower(state.auction.standing)
    return _closed_by(state, BidMade(seat, bid))


def _closed_by(state: Bidding, called: Called) -> tuple[Event, ...]:
    """The call, followed by `DeclarerFound` if no seat may bid any more."""
    rules = state.dealt.rules
    after = _after_call(rules, state.auction, called)
    if after.waiting:
        return (called,)
    shown = state.dealt.kitty if rules.row(after.standing).kitty_shown else None
    return called, DeclarerFound(after.leader, after.standing, shown)


def _after_call(rules: Rules, auction: Auction, called: Called) -> Contested:
    match called:
        case BidMade(seat, points):
            others = seats_after(seat, rules.seats) if points > rules.bids[-1] else ()
            if isinstance(auction, Contested):
                still_in = (auction.leader, *auction.waiting)
                others = tuple(other for other in others if other in still_in)
            return Contested(seat, points, others)
        case BidPassed():
            assert isinstance(auction, Contested), "the first bidder may not pass"
            return Contested(auction.leader, auction.standing, auction.waiting[1:])


def evolve(state: Bidding, event: Event) -> Bidding | Naming:
    """The deal after `event`."""
    match event:
        case BidMade() | BidPassed():
            auction = _after_call(state.dealt.rules, state.auction, event)
            return Bidding(state.dealt, auction, (*state.calls, event))
        case DeclarerFound(declarer, bid):
            hand = union(state.dealt.hands[declarer], state.dealt.kitty)
            contract = Contract(declarer, state.dealt.rules.row(bid), state.calls)
            return Naming(state.dealt, contract, state.dealt.hands.put(declarer, hand))


def suggested_call(state: Bidding) -> Command:
    """The most cautious legal call: the highest bid for the first bidder, a pass for any other seat."""
    match state.auction:
        case Opening():
            return Bid(state.dealt.rules.bids[0])
        case Contested():
            return Pass()
