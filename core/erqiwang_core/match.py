"""A match (大局): seats are taken, deals are played one after another, and scores add up (rules §4, §13)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import NewType, TypeAlias, final

from erqiwang_core import deal as deals, playing
from erqiwang_core.bidding import Bidding, DeclarerFound
from erqiwang_core.burying import Burying, CardsBuried
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.deal import Deal
from erqiwang_core.dealing import Shuffled, dealt
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.naming import Naming, TrumpNamed
from erqiwang_core.options import Game, RoomOptions, Start
from erqiwang_core.playing import CardsFollowed, CardsLed, Playing, Reply, Request
from erqiwang_core.refusals import (
    NoSuchSeat,
    NotInThisRoom,
    Phase,
    Refusal,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    WrongPhase,
)
from erqiwang_core.rules import RULES_VERSION, Rules, game_rules
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.settlement import DealSettled, Settled, Settlement, next_first_bidder, settle_disband, settled
from erqiwang_core.units import Chips, Seat

Player = NewType("Player", str)
"""The platform's id of a player. The core only compares it."""


@final
@dataclass(frozen=True, slots=True)
class Chair:
    """A seat, and the player who sits there; `player` is None on a free seat."""

    player: Player | None
    epoch: int
    """How often the seat has been taken or left. A seat token of an earlier epoch is no longer valid."""


@final
@dataclass(frozen=True, slots=True)
class Gathering:
    """Before the first deal: a seat is free, or the platform has not started the match yet (rules §13)."""

    options: RoomOptions
    chairs: BySeat[Chair]


@final
@dataclass(frozen=True, slots=True)
class Running:
    """A deal is in progress, or is settled and waits for every seat to be ready."""

    options: RoomOptions
    chairs: BySeat[Chair]
    deal: Deal
    by_deal: tuple[BySeat[Chips], ...]
    """The scores of the settled deals, first deal first."""


@final
@dataclass(frozen=True, slots=True)
class Over:
    """The match is settled: all deals are played, or it was disbanded."""

    options: RoomOptions
    chairs: BySeat[Chair]
    account: "Account"
    last: Settled | None
    """The last deal; None if the match was disbanded before the first deal."""


Match: TypeAlias = Gathering | Running | Over


class Outside(Enum):
    """Who may disband a match without sitting at the table."""

    PLATFORM = "platform"
    HOUSE = "house"
    """The server: it disbands a match that does not begin in time."""


Asker: TypeAlias = Seat | Outside


class DisbandReason(Enum):
    """Why a match is disbanded."""

    UNSAID = "unsaid"
    AGREED = "agreed"
    """The players agreed to end the match."""
    ABSENT = "absent"
    """A player is away, or does not act."""
    MISCONDUCT = "misconduct"
    MAINTENANCE = "maintenance"
    """The platform must end the match."""
    OTHER = "other"
    EXPIRED = "expired"
    """The match did not begin in time."""


@final
@dataclass(frozen=True, slots=True)
class Disbanding:
    """Who disbanded a match, and why. Every viewer is told."""

    asker: Asker
    reason: DisbandReason
    text: str
    """A remark by the platform, or empty. The core does not read it."""


@final
@dataclass(frozen=True, slots=True)
class Account:
    """The settlement of a match, in chips (大局结算, rules §13)."""

    disbanding: Disbanding | None
    """None if all deals were played."""
    deals: tuple[BySeat[Chips], ...]
    """The scores of each deal, first deal first. A deal in progress at a disband has 0 for every seat."""
    totals: BySeat[Chips]


@final
@dataclass(frozen=True, slots=True)
class TakeSeat:
    """Give a seat to a player, or the same seat again. `seat` is unchecked."""

    seat: int
    player: Player


@final
@dataclass(frozen=True, slots=True)
class LeaveSeat:
    """Free a seat before the first deal. `seat` is unchecked."""

    seat: int


@final
@dataclass(frozen=True, slots=True)
class StartMatch:
    """Start the first deal of a full room, if the room's options leave the start to the platform (rules §13)."""


@final
@dataclass(frozen=True, slots=True)
class Disband:
    """End the match now (解散, rules §13)."""

    asker: int | Outside = Outside.PLATFORM
    """Who asks: the number of a taken seat (unchecked), the platform or the server."""
    reason: DisbandReason = DisbandReason.UNSAID
    text: str = ""


HouseCommand: TypeAlias = TakeSeat | LeaveSeat | StartMatch | Disband


@final
@dataclass(frozen=True, slots=True)
class Ready:
    """The seat is ready for the next deal (准备). No effect if sent twice, or after that deal has begun."""


Command: TypeAlias = deals.Command | Ready


@final
@dataclass(frozen=True, slots=True)
class SeatTaken:
    """A player has taken a seat, or the same seat again; each time the seat's epoch goes up."""

    seat: Seat
    player: Player


@final
@dataclass(frozen=True, slots=True)
class SeatLeft:
    """A seat is free again. Its epoch goes up."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class DealStarted:
    """A deal has started, with these cards."""

    number: int
    """Which deal of the match, from 1."""
    first_bidder: Seat
    game: Game
    review: bool
    rules_version: int
    """The version of the rules that the deal is played by. Replaying the deal uses this version, not the newest."""
    shuffled: Shuffled


@final
@dataclass(frozen=True, slots=True)
class SeatReady:
    """A seat is ready for the next deal."""

    seat: Seat


@final
@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is settled."""

    account: Account
    cut_short: Settlement | None
    """The settlement of a deal that a disband cut short, 0 for every seat; None if none was in progress."""


Event: TypeAlias = SeatTaken | SeatLeft | DealStarted | deals.Event | SeatReady | MatchEnded

Shuffle: TypeAlias = Callable[[], Shuffled]
"""Gives a freshly shuffled deck. It is called once for each deal that starts."""


def begin(options: RoomOptions) -> Match:
    """A new match with these options; every seat is free."""
    return Gathering(options, by_seat(_rules(options).seats, lambda _: Chair(None, 0)))


def _rules(options: RoomOptions) -> Rules:
    return game_rules(options.game, options.review)


def phase(match: Match) -> Phase:
    """The phase of the match."""
    match match:
        case Gathering():
            return Phase.OPEN
        case Running(deal=deal):
            return deals.phase(deal)
        case Over():
            return Phase.OVER


def scores(match: Match) -> tuple[BySeat[Chips], ...]:
    """The scores in chips of the deals that count so far, first deal first."""
    match match:
        case Gathering():
            return ()
        case Running(by_deal=by_deal):
            return by_deal
        case Over(account=account):
            return account.deals


def totals(seats: int, by_deal: tuple[BySeat[Chips], ...]) -> BySeat[Chips]:
    """The accumulated score of each seat in chips; 0 without a deal."""
    return by_seat(seats, lambda seat: Chips(sum(of_deal[seat] for of_deal in by_deal)))


def decide(match: Match, seat: Seat, command: Command, shuffle: Shuffle) -> tuple[Event, ...] | Refusal:
    """What a seat's `command` brings about, or why it may not stand (rules §15).

    The tuple is empty if the command stands without effect, as a second `Ready` does. `match` itself is not changed:
    apply the events with `evolve`. Refusals: `NoSuchSeat`, `WrongPhase`, and those of the deal's phase.
    """
    if not 0 <= seat < len(match.chairs):
        return NoSuchSeat(seat, len(match.chairs))
    if not isinstance(match, Running):
        return WrongPhase(phase(match))
    if isinstance(command, Ready):
        return _ready(match, seat, shuffle)
    decided = deals.decide(match.deal, seat, command)
    if not isinstance(decided, tuple):
        return decided
    if isinstance(decided[-1], DealSettled) and len(match.by_deal) + 1 == match.options.deals:
        by_deal = (*match.by_deal, decided[-1].settlement.scores)
        return (*decided, MatchEnded(_account(match, by_deal, None), None))
    return decided


def waits_for(match: Running, seat: Seat) -> bool:
    """Whether the next deal waits for `seat` to be ready (rules §13). False after the last deal."""
    return isinstance(match.deal, Settled) and not match.deal.ready[seat] and len(match.by_deal) < match.options.deals


def to_act(match: Match) -> tuple[Seat, ...]:
    """The seats that the match waits for: the one whose turn it is, or those not ready. May be empty."""
    if not isinstance(match, Running):
        return ()
    turn = deals.turn(match.deal)
    if turn is not None:
        return (turn,)
    return tuple(seat for seat in match.chairs.seats() if waits_for(match, seat))


def _ready(match: Running, seat: Seat, shuffle: Shuffle) -> tuple[Event, ...] | Refusal:
    deal = match.deal
    if not match.by_deal:
        return WrongPhase(phase(match))
    if not isinstance(deal, Settled) or deal.ready[seat]:
        # A second `Ready`, or one that arrives after the deal has begun. Both happen to a correct client on a bad
        # network, so it is accepted without effect (rules §13): no event, and nobody is told.
        return ()
    ready = deal.ready.put(seat, True)
    if not all(ready):
        return (SeatReady(seat),)
    return SeatReady(seat), _start(match.options, deal.dealt.number + 1, next_first_bidder(deal), shuffle)


def _start(options: RoomOptions, number: int, first_bidder: Seat, shuffle: Shuffle) -> DealStarted:
    return DealStarted(number, first_bidder, options.game, options.review, RULES_VERSION, shuffle())


def _account(match: Match, by_deal: tuple[BySeat[Chips], ...], disbanding: Disbanding | None) -> Account:
    return Account(disbanding, by_deal, totals(len(match.chairs), by_deal))


def answer(match: Match, seat: Seat, request: Request) -> Reply | Refusal:
    """The reply to a seat's `request`, with the seats it goes to, or why it may not stand (rules §12, §13).

    Nothing is stored. Refusals: `NoSuchSeat`, `WrongPhase` if no deal is in play, and those of `playing.answer`.
    """
    if not 0 <= seat < len(match.chairs):
        return NoSuchSeat(seat, len(match.chairs))
    if not isinstance(match, Running) or not isinstance(match.deal, Playing):
        return WrongPhase(phase(match))
    return playing.answer(match.deal, seat, request)


def administer(match: Match, command: HouseCommand, shuffle: Shuffle) -> tuple[Event, ...] | Refusal:
    """What a command of the house brings about, or why it may not stand (rules §13).

    The house is the platform and the server. It seats players, frees seats, starts and disbands the match. Refusals:
    `NoSuchSeat`, `WrongPhase`, `SeatOccupied`, `SeatedElsewhere`, `SeatFree`, `NotInThisRoom`.
    """
    match command:
        case TakeSeat(seat, player):
            return _take(match, seat, player, shuffle)
        case LeaveSeat(seat):
            return _leave(match, seat)
        case StartMatch():
            return _start_match(match, shuffle)
        case Disband():
            return _disband(match, command)


def _take(match: Match, seat: int, player: Player, shuffle: Shuffle) -> tuple[Event, ...] | Refusal:
    if not 0 <= seat < len(match.chairs):
        return NoSuchSeat(seat, len(match.chairs))
    if isinstance(match, Over):
        return WrongPhase(Phase.OVER)
    taken = SeatTaken(Seat(seat), player)
    sitting = match.chairs[taken.seat].player
    if sitting == player:
        # The same player takes the seat again: the epoch goes up, and older tokens of the seat are no longer valid.
        return (taken,)
    if sitting is not None:
        return SeatOccupied(taken.seat)
    for other, chair in match.chairs.items():
        if chair.player == player:
            return SeatedElsewhere(other)
    is_last = sum(chair.player is None for chair in match.chairs) == 1
    if not is_last or match.options.start is Start.PLATFORM:
        return (taken,)
    return taken, _start(match.options, 1, Seat(0), shuffle)


def _leave(match: Match, seat: int) -> tuple[Event, ...] | Refusal:
    if not 0 <= seat < len(match.chairs):
        return NoSuchSeat(seat, len(match.chairs))
    if not isinstance(match, Gathering):
        return WrongPhase(phase(match))
    if match.chairs[Seat(seat)].player is None:
        return SeatFree(Seat(seat))
    return (SeatLeft(Seat(seat)),)


def _start_match(match: Match, shuffle: Shuffle) -> tuple[Event, ...] | Refusal:
    if not isinstance(match, Gathering):
        return WrongPhase(phase(match))
    if match.options.start is not Start.PLATFORM:
        return NotInThisRoom()
    for seat, chair in match.chairs.items():
        if chair.player is None:
            return SeatFree(seat)
    return (_start(match.options, 1, Seat(0), shuffle),)


def _disband(match: Match, command: Disband) -> tuple[Event, ...] | Refusal:
    asker = command.asker if isinstance(command.asker, Outside) else _sitting(match, command.asker)
    if isinstance(asker, NoSuchSeat | SeatFree):
        return asker
    if isinstance(match, Over):
        return WrongPhase(Phase.OVER)
    return (_disbanded(match, Disbanding(asker, command.reason, command.text)),)


def _sitting(match: Match, seat: int) -> Seat | NoSuchSeat | SeatFree:
    if not 0 <= seat < len(match.chairs):
        return NoSuchSeat(seat, len(match.chairs))
    return SeatFree(Seat(seat)) if match.chairs[Seat(seat)].player is None else Seat(seat)


def _disbanded(match: Gathering | Running, disbanding: Disbanding) -> MatchEnded:
    by_deal = scores(match)
    if isinstance(match, Gathering) or isinstance(match.deal, Settled):
        return MatchEnded(_account(match, by_deal, disbanding), None)
    nothing = by_seat(len(match.chairs), lambda _: Chips(0))
    return MatchEnded(_account(match, (*by_deal, nothing), disbanding), _cut_short(match.deal))


def _cut_short(deal: Bidding | Naming | Burying | Playing) -> Settlement:
    match deal:
        case Bidding(dealt=dealt):
            return settle_disband(dealt, None, None)
        case Naming(dealt=dealt, contract=contract):
            return settle_disband(dealt, contract, None)
        case (
            Burying(dealt=dealt, contract=contract, order=order) | Playing(dealt=dealt, contract=contract, order=order)
        ):
            return settle_disband(dealt, contract, order.trump)


def evolve(match: Match, event: Event) -> Match:
    """The match after `event`. The event must come from `decide` or `administer` on this match."""
    match event:
        # Plays come first, because almost all events are plays.
        case CardsFollowed() | CardsLed() | BidMade() | BidPassed() | DeclarerFound() | TrumpNamed() | CardsBuried():
            assert isinstance(match, Running), "a deal of a match that runs"
            return Running(match.options, match.chairs, deals.evolve(match.deal, event), match.by_deal)
        case SeatTaken(seat, player):
            return _with_chair(match, seat, player)
        case SeatLeft(seat):
            return _with_chair(match, seat, None)
        case DealStarted(number, first_bidder, game, review, version, shuffled):
            assert not isinstance(match, Over), "no deal starts after the end"
            started = deals.begin(dealt(game_rules(game, review, version), number, first_bidder, shuffled))
            return Running(match.options, match.chairs, started, scores(match))
        case SeatReady(seat):
            assert isinstance(match, Running), "ready for the next deal of a match that runs"
            assert isinstance(match.deal, Settled), "ready once a deal is settled"
            return replace(match, deal=replace(match.deal, ready=match.deal.ready.put(seat, True)))
        case MatchEnded(account, cut_short):
            return Over(match.options, match.chairs, account, _last_deal(match, cut_short))
        case DealSettled(settlement=settlement):
            assert isinstance(match, Running), "a deal of a match that runs"
            deal = deals.evolve(match.deal, event)
            return replace(match, deal=deal, by_deal=(*match.by_deal, settlement.scores))


def _with_chair(match: Match, seat: Seat, player: Player | None) -> Match:
    chair = Chair(player, match.chairs[seat].epoch + 1)
    return replace(match, chairs=match.chairs.put(seat, chair))


def _last_deal(match: Match, cut_short: Settlement | None) -> Settled | None:
    if not isinstance(match, Running):
        return None
    if isinstance(match.deal, Settled):
        return match.deal
    assert cut_short is not None, "a deal in progress is settled as it is cut short"
    return settled(match.deal.dealt, cut_short, finished(match.deal), on_table(match.deal))


def finished(deal: Deal) -> tuple[Trick, ...]:
    """The complete tricks of a deal, first trick first."""
    match deal:
        case Bidding() | Naming() | Burying():
            return ()
        case Playing(finished=tricks) | Settled(finished=tricks):
            return tricks


def on_table(deal: Deal) -> Trick | None:
    """The trick on the table, complete or not, until the next lead; the last until the next deal (rules §12)."""
    match deal:
        case Bidding() | Naming() | Burying():
            return None
        case Playing(trick=trick) | Settled(trick=trick):
            return trick
