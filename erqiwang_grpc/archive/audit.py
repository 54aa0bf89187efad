"""The audit: decides every command of a stored room again and compares the events with the stored ones.

The store keeps no commands. They are worked out from the events: the first event of a command tells which one it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from erqiwang_core import match as matches, naming
from erqiwang_core.bidding import Bid, DeclarerFound, Pass
from erqiwang_core.burying import Bury, CardsBuried
from erqiwang_core.calls import BidMade, BidPassed
from erqiwang_core.dealing import Shuffled
from erqiwang_core.kernel.hand import ids
from erqiwang_core.match import (
    Command,
    DealStarted,
    Disband,
    Event,
    Gathering,
    HouseCommand,
    LeaveSeat,
    Match,
    MatchEnded,
    Ready,
    SeatLeft,
    SeatReady,
    SeatTaken,
    StartMatch,
    TakeSeat,
)
from erqiwang_core.naming import NameTrump, Surrender, TrumpNamed
from erqiwang_core.playing import CardsFollowed, CardsLed, Play
from erqiwang_core.refusals import Refusal
from erqiwang_core.rules import RULES_VERSION
from erqiwang_core.settlement import DealSettled
from erqiwang_core.units import Seat
from erqiwang_core.view import contract

from erqiwang_grpc import shuffling
from erqiwang_grpc.events.history import HistoryEvent, UnreadableEntry, read
from erqiwang_grpc.events.standing import steps
from erqiwang_grpc.store import Entry, Version


@final
@dataclass(frozen=True, slots=True)
class Mismatch:
    """From `version` on, the stored events differ from what the core decides."""

    version: Version
    why: str


@final
@dataclass(frozen=True, slots=True)
class _BySeat:
    seat: Seat
    command: Command


def mismatch(entries: tuple[Entry, ...]) -> Mismatch | None:
    """Where a room's history differs from what the core decides; None if it does not differ.

    `entries` are all entries of the room. Events of an older rules version are applied but not decided again, because
    the rules of that version decided them.
    """
    history = read(entries)
    if isinstance(history, UnreadableEntry):
        return Mismatch(history.version, history.why)
    compared = 0
    for number, step in enumerate(steps(history)):
        if isinstance(step, UnreadableEntry):
            return Mismatch(step.version, step.why)
        if number == compared:
            decided = _decided(step.before.match, history.later[number:])
            if isinstance(decided, Mismatch):
                return decided
            compared += len(decided)
    return None if history.unreadable is None else Mismatch(history.unreadable.version, history.unreadable.why)


def _decided(match: Match, rest: Sequence[HistoryEvent]) -> tuple[Event, ...] | Mismatch:
    """The events of the command that `rest` begins with, or a mismatch if the core decides differently."""
    first = rest[0]
    if first.entry.rules_version != RULES_VERSION:
        return (first.event,)
    asked = _asked(match, first.event)
    if asked is None:
        return Mismatch(first.entry.version, f"no command begins with {type(first.event).__name__}")
    decided = _ask(match, asked, rest)
    if not isinstance(decided, tuple):
        return Mismatch(first.entry.version, f"the core refuses it: {type(decided).__name__}")
    return _difference(decided, rest) or decided


def _ask(match: Match, asked: _BySeat | HouseCommand, rest: Sequence[HistoryEvent]) -> tuple[Event, ...] | Refusal:
    def shuffle() -> Shuffled:
        return next((each.event.shuffled for each in rest if isinstance(each.event, DealStarted)), Shuffled(()))

    if isinstance(asked, _BySeat):
        return matches.decide(match, asked.seat, asked.command, shuffle)
    return matches.administer(match, asked, shuffle)


def _difference(decided: tuple[Event, ...], rest: Sequence[HistoryEvent]) -> Mismatch | None:
    """Where the stored events differ from the decided ones; None if they agree."""
    first = rest[0].entry
    for number, event in enumerate(decided):
        version = Version(first.version + number)
        if number >= len(rest) or rest[number].event != event:
            return Mismatch(version, f"the core decides another {type(event).__name__}")
        entry = rest[number].entry
        if (entry.time, entry.actor, entry.command) != (first.time, first.actor, first.command):
            return Mismatch(version, "what one command brought about is stored as of two")
        if isinstance(event, DealStarted) and not _is_committed(event.shuffled):
            return Mismatch(version, "the deck does not open its commitment")
    return None


def _is_committed(shuffled: Shuffled) -> bool:
    return not shuffled.commitment or shuffling.opens(shuffled.commitment, shuffled.salt, shuffled.order)


def _asked(match: Match, event: Event) -> _BySeat | HouseCommand | None:
    """The command whose first event this is; None for an event that is never the first of a command."""
    match event:
        case SeatTaken(seat, player):
            return TakeSeat(seat, player)
        case SeatLeft(seat):
            return LeaveSeat(seat)
        case MatchEnded(account):
            asked = account.disbanding
            return None if asked is None else Disband(asked.asker, asked.reason, asked.text)
        case SeatReady(seat):
            return _BySeat(seat, Ready())
        case BidMade(seat, points):
            return _BySeat(seat, Bid(points))
        case BidPassed(seat):
            return _BySeat(seat, Pass())
        case TrumpNamed(trump):
            return _by_declarer(match, NameTrump(naming.number(trump)))
        case DealSettled():
            return _by_declarer(match, Surrender())
        case CardsBuried(cards):
            return _by_declarer(match, Bury(ids(cards)))
        case CardsLed(seat, cards, _, attempted):
            return _BySeat(seat, Play(ids(cards if attempted is None else attempted)))
        case CardsFollowed(seat, cards):
            return _BySeat(seat, Play(ids(cards)))
        case DealStarted():
            # Only the first deal may start by a command of its own. Each later one follows the last `SeatReady`.
            return StartMatch() if isinstance(match, Gathering) else None
        case DeclarerFound():
            return None


def _by_declarer(match: Match, command: Command) -> _BySeat | None:
    agreed = contract(match).agreed
    return None if agreed is None else _BySeat(agreed.declarer, command)
