"""Playing: leads, throws and follows until the hands are empty (rules §6 to §9, §12)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias, final

from erqiwang_core.contract import Contract
from erqiwang_core.dealing import Dealt, parse_cards
from erqiwang_core.disclosure import Disclosure, Statement, newly_void, statements
from erqiwang_core.inference import Proven, after_follow, nothing_proven
from erqiwang_core.kernel.cards import kind
from erqiwang_core.kernel.following import breach, follow, must
from erqiwang_core.kernel.hand import POINT_CARDS, cards_of, count, ids, points, shared, union, without
from erqiwang_core.kernel.shapes import (
    Lead,
    SeveralGroups,
    Shape,
    SideSuitThrow,
    Single,
    Throw,
    capture_multiplier,
    classify,
    component,
    holds_higher,
)
from erqiwang_core.kernel.trick import Played, Trick, ahead_after
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.refusals import (
    DeclarerMayNotSignal,
    IllegalFollow,
    IllegalLead,
    NobodyIsVoid,
    NotASignal,
    NotInThisRoom,
    NotYourTurn,
    Refusal,
    WrongNumberOfCards,
)
from erqiwang_core.rules import Rules
from erqiwang_core.scoring import KittyCapture
from erqiwang_core.seats import BySeat, next_seat
from erqiwang_core.settlement import DealSettled, Settled, settle_play, settled
from erqiwang_core.units import CardSet, Points, Seat
from erqiwang_core.valuation import cheapest, cheapness


@final
@dataclass(frozen=True, slots=True)
class Playing:
    """A deal in play. If there is no trick on the table, or it is complete, the seat in `turn` leads."""

    dealt: Dealt
    contract: Contract
    order: Order
    buried: CardSet
    snapshot: BySeat[CardSet]
    """The hands as play began. Awards are counted on them (rules §11)."""
    disclosure: Disclosure | None
    hands: BySeat[CardSet]
    turn: Seat
    trick: Trick | None
    """The trick on the table. A finished trick stays there until the next lead; None before the first lead."""
    finished: tuple[Trick, ...]
    captured: CardSet
    """The point cards that the defenders have captured."""
    points: Points
    """The points of `captured`, without a kitty capture."""
    proven: BySeat[Proven]
    void: tuple[Seat, ...]
    """The seats announced void of trump, in the order in which they were announced."""
    statements: tuple[Statement, ...]

    @property
    def rules(self) -> Rules:
        """The rules of the deal."""
        return self.dealt.rules

    @property
    def to_follow(self) -> Lead | None:
        """The lead that the seat in `turn` must follow; None if that seat leads."""
        if self.trick is None or len(self.trick.plays) == len(self.hands):
            return None
        return self.trick.lead


@final
@dataclass(frozen=True, slots=True)
class Play:
    """Lead or follow with the cards of these ids, which are unchecked."""

    cards: tuple[int, ...]


class SignalKind(IntEnum):
    """What a defender may signal (提示, rules §13). The numbers are those of `tip` in the packet protocol."""

    CAN_BEAT = 1
    NO_POINTS = 2
    HAS_POINTS = 3


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """Signal to the other defenders. `signal` is unchecked: 1, 2 or 3, any other number is refused."""

    signal: int


@final
@dataclass(frozen=True, slots=True)
class ShowTrumps:
    """Ask to see the other seats' trumps (明牌, rules §12)."""


Request: TypeAlias = Signal | ShowTrumps
"""A request: it brings about no event, only a reply to its addressees. Replies are not stored."""


@final
@dataclass(frozen=True, slots=True)
class TrickTaken:
    """Who won a trick, and what it held."""

    winner: Seat
    points: Points
    """The points of all cards in the trick."""
    captured: bool
    """Whether a defender won it. If the declarer won it, nobody gets its points (rules §9)."""


@final
@dataclass(frozen=True, slots=True)
class CardsLed:
    """A seat has led."""

    seat: Seat
    cards: CardSet
    """The cards on the table; after a failed throw, the one card that was led instead (rules §6)."""
    lead: Lead
    attempted: CardSet | None
    """The cards of the failed throw; None if no throw failed."""
    void: tuple[Seat, ...]
    """The seats that this lead causes to be announced void of trump."""
    statements: tuple[Statement, ...]


@final
@dataclass(frozen=True, slots=True)
class CardsFollowed:
    """A seat has followed."""

    seat: Seat
    cards: CardSet
    ahead: Seat
    """The seat whose cards are best so far."""
    taken: TrickTaken | None
    """The result of the trick; None if it is not complete."""
    void: tuple[Seat, ...]
    statements: tuple[Statement, ...]


Event: TypeAlias = CardsLed | CardsFollowed | DealSettled


@final
@dataclass(frozen=True, slots=True)
class Signalled:
    """A defender's signal. Only the seats in `to`, the other defenders, are told."""

    sender: Seat
    signal: SignalKind
    to: tuple[Seat, ...]


@final
@dataclass(frozen=True, slots=True)
class TrumpsShown:
    """The trumps of the other seats. Only the seat in `to`, which asked, is told."""

    to: Seat
    trumps: tuple[tuple[Seat, CardSet], ...]


Reply: TypeAlias = Signalled | TrumpsShown


def begin(
    dealt: Dealt,
    contract: Contract,
    order: Order,
    hands: BySeat[CardSet],
    buried: CardSet,
    told: Disclosure | None,
    void: tuple[Seat, ...],
    stated: tuple[Statement, ...],
) -> Playing:
    """A deal as play begins: the declarer is to lead. `void` and `stated` are what is announced at this moment."""
    return Playing(
        dealt=dealt,
        contract=contract,
        order=order,
        buried=buried,
        snapshot=hands,
        disclosure=told,
        hands=hands,
        turn=contract.declarer,
        trick=None,
        finished=(),
        captured=CardSet(0),
        points=Points(0),
        proven=nothing_proven(dealt.rules.seats),
        void=void,
        statements=stated,
    )


def decide(state: Playing, seat: Seat, command: Play) -> tuple[Event, ...] | Refusal:
    """What `command` by `seat` brings about, or why it may not stand (rules §6, §7).

    The events are the lead or the follow and, after the last card of the deal, `DealSettled`. Refusals: `NotYourTurn`,
    `NotACard`, `RepeatedCard`, `CardNotHeld`, `WrongNumberOfCards`, `IllegalLead`, `IllegalFollow`. A throw that fails
    is not refused: its lowest card is led.
    """
    if seat != state.turn:
        return NotYourTurn(state.turn)
    cards = parse_cards(state.hands[seat], command.cards)
    if not isinstance(cards, int):
        return cards
    lead = state.to_follow
    if lead is None:
        return _lead(state, seat, cards)
    return _follow(state, seat, cards, lead)


def _lead(state: Playing, seat: Seat, cards: CardSet) -> tuple[Event, ...] | Refusal:
    if not cards:
        return WrongNumberOfCards(0, 0)
    lead = classify(state.order, cards)
    match lead:
        case SeveralGroups() | SideSuitThrow():
            return IllegalLead(lead, suggested_play(state))
        case Lead(shape=shape):
            if isinstance(shape, Throw) and not _stands(state, seat, shape):
                forced = lowest(state.order, cards)
                single = Lead(Group.TRUMPS, Single(state.order.top(Group.TRUMPS, forced)), 1)
                return (_led(state, seat, forced, single, cards),)
            return (_led(state, seat, cards, lead, None),)


def _stands(state: Playing, seat: Seat, throw: Throw) -> bool:
    """Whether no other seat, partner included, holds a higher component of a shape in `throw` (rules §6)."""
    others = [hand for other, hand in state.hands.items() if other != seat]
    return not any(holds_higher(state.order, Group.TRUMPS, hand, part) for hand in others for part in throw.components)


def lowest(order: Order, cards: CardSet) -> CardSet:
    """A set of one card: the card of lowest level, or the lowest id of several such cards (rules §6)."""
    return cards_of([min(ids(cards), key=lambda card: (order.strength[kind(card)], card))])


def _led(state: Playing, seat: Seat, cards: CardSet, lead: Lead, attempted: CardSet | None) -> CardsLed:
    void, stated = _void_after(state, seat, without(state.hands[seat], cards))
    return CardsLed(seat, cards, lead, attempted, void, stated)


def _void_after(state: Playing, played: Seat, left: CardSet) -> tuple[tuple[Seat, ...], tuple[Statement, ...]]:
    """The seats to announce and the statements to make, once the seat that has `played` has the cards `left`."""
    # Seats that were void before have been announced, so only the seat that has just played can become void.
    # In the last trick its hand is empty, and nothing is announced any more.
    if not left or state.order.trumps(left):
        return (), ()
    hands = state.hands.put(played, left)
    void = newly_void(state.order, hands, state.void)
    return void, statements(state.rules, state.order, hands, state.void, void)


def _follow(state: Playing, seat: Seat, cards: CardSet, lead: Lead) -> tuple[Event, ...] | Refusal:
    hand = state.hands[seat]
    if count(cards) != lead.count:
        return WrongNumberOfCards(lead.count, count(cards))
    broken = breach(state.order, lead, hand, cards)
    if broken is not None:
        return IllegalFollow(broken, must(state.order, lead, hand), suggested_play(state))
    followed = _followed(state, seat, cards)
    hands_empty = followed.taken is not None and cards == hand
    return (followed, _settlement(state, followed)) if hands_empty else (followed,)


def _followed(state: Playing, seat: Seat, cards: CardSet) -> CardsFollowed:
    trick = state.trick
    assert trick is not None, "who follows follows a trick"
    ahead = ahead_after(state.order, trick, seat, cards)
    taken = None
    if next_seat(seat, len(state.hands)) == trick.leader:
        held = Points(points(trick.cards()) + points(cards))
        taken = TrickTaken(ahead, held, ahead != state.contract.declarer)
    void, stated = _void_after(state, seat, without(state.hands[seat], cards))
    return CardsFollowed(seat, cards, ahead, taken, void, stated)


def _settlement(state: Playing, last: CardsFollowed) -> DealSettled:
    end = _after_follow(state, last)
    assert end.trick is not None, "the last trick lies on the table"
    capture = _kitty_capture(end, end.trick)
    return settle_play(end.dealt, end.contract, end.order.trump, end.buried, end.snapshot, end.points, capture)


def _kitty_capture(end: Playing, trick: Trick) -> KittyCapture | None:
    """The capture of the buried cards, or None unless a defender won the last trick with trumps only (rules §9)."""
    cards = trick.ahead_cards()
    if trick.ahead == end.contract.declarer or without(cards, end.order.cards[Group.TRUMPS]):
        return None
    shape: Shape | None = trick.lead.shape
    if trick.ahead != trick.leader:
        shape = component(end.order, Group.TRUMPS, cards)
    assert shape is not None, "what took a trick has the shape that was led"
    return KittyCapture(points(end.buried), capture_multiplier(shape))


def evolve(state: Playing, event: Event) -> Playing | Settled:
    """The deal after `event`."""
    match event:
        case CardsLed():
            return _after_lead(state, event)
        case CardsFollowed():
            return _after_follow(state, event)
        case DealSettled(settlement=settlement):
            return settled(state.dealt, settlement, state.finished, state.trick)


def _after_lead(state: Playing, event: CardsLed) -> Playing:
    trick = Trick(event.lead, (Played(event.seat, event.cards),), event.seat, event.attempted is not None)
    return _moved(state, event, next_seat(event.seat, len(state.hands)), trick, state.proven)


def _after_follow(state: Playing, event: CardsFollowed) -> Playing:
    before, taken = state.trick, event.taken
    assert before is not None, "who followed followed a trick"
    trick = Trick(before.lead, (*before.plays, Played(event.seat, event.cards)), event.ahead, before.failed_throw)
    proven = after_follow(state.order, state.proven, before.lead, event.seat, event.cards)
    if taken is None:
        return _moved(state, event, next_seat(event.seat, len(state.hands)), trick, proven)
    return _moved(state, event, taken.winner, trick, proven, taken)


def _moved(
    state: Playing,
    event: CardsLed | CardsFollowed,
    turn: Seat,
    trick: Trick,
    proven: BySeat[Proven],
    taken: TrickTaken | None = None,
) -> Playing:
    """The deal after a play. Every field is written out, because `replace` takes three times as long."""
    captured, points_ = state.captured, state.points
    if taken is not None and taken.captured:
        captured = union(captured, shared(trick.cards(), POINT_CARDS))
        points_ = Points(points_ + taken.points)
    return Playing(
        dealt=state.dealt,
        contract=state.contract,
        order=state.order,
        buried=state.buried,
        snapshot=state.snapshot,
        disclosure=state.disclosure,
        hands=state.hands.put(event.seat, without(state.hands[event.seat], event.cards)),
        turn=turn,
        trick=trick,
        finished=state.finished if taken is None else (*state.finished, trick),
        captured=captured,
        points=points_,
        proven=proven,
        void=state.void + event.void,
        statements=state.statements + event.statements,
    )


def suggested_play(state: Playing) -> CardSet:
    """One legal play for the seat in `turn`, made of its cheapest cards. It depends on that seat's own hand only."""
    hand, lead = state.hands[state.turn], state.to_follow
    if lead is None:
        return cards_of(cheapest(state.order, hand, 1))
    return follow(state.order, lead, hand, cheapness(state.order, hand))


def plays(state: Playing) -> int:
    """The number of plays in the deal so far, over all seats."""
    under_way = len(state.trick.plays) if state.trick is not None and state.to_follow is not None else 0
    return len(state.finished) * state.rules.seats + under_way


def counts_open(state: Playing) -> bool:
    """Whether every seat sees the others' trump counts now, and may ask to see their trumps (rules §12)."""
    return state.rules.counts_trumps and bool(state.void)


def answer(state: Playing, seat: Seat, request: Request) -> Reply | Refusal:
    """The reply to `request` by `seat`, with the seats it goes to, or why it may not stand (rules §12, §13).

    A signal may be refused with `NotASignal` or `DeclarerMayNotSignal`. Asking to see trumps may be refused with
    `NotInThisRoom` or, while no seat is announced void of trump, `NobodyIsVoid`.
    """
    match request:
        case Signal(number):
            if number not in tuple(SignalKind):
                return NotASignal(number)
            if seat == state.contract.declarer:
                return DeclarerMayNotSignal()
            partners = tuple(s for s in state.hands.seats() if s not in (seat, state.contract.declarer))
            return Signalled(seat, SignalKind(number), partners)
        case ShowTrumps():
            if not state.rules.counts_trumps:
                return NotInThisRoom()
            if not state.void:
                return NobodyIsVoid()
            others = ((other, hand) for other, hand in state.hands.items() if other != seat)
            return TrumpsShown(seat, tuple((other, state.order.trumps(hand)) for other, hand in others))
