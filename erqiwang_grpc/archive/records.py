"""Records: what a platform may keep of a match, put together from its room's events without judging anything again.

A deal is in the record, whole, once it is settled or a disband has cut it short. A deal in progress is not in it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.dealing import Dealt, dealt
from erqiwang_core.kernel.trick import Played, Trick
from erqiwang_core.match import DealStarted, Disbanding, MatchEnded, Player, SeatLeft, SeatTaken
from erqiwang_core.playing import CardsFollowed, CardsLed, TrickTaken
from erqiwang_core.rules import game_rules
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.settlement import DealSettled, Settlement
from erqiwang_core.units import CardSet, Chips, Seat

from erqiwang_grpc.events.actor import HOUSE, stored as stored_actor
from erqiwang_grpc.events.history import HistoryEvent, RoomHistory, UnreadableEntry, read, read_later
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.events.standing import RoomState
from erqiwang_grpc.events.summary import RoomSummary
from erqiwang_grpc.store import Entry, RoomId, TimeNs, Version


@final
@dataclass(frozen=True, slots=True)
class TrickRecord:
    """One trick of a deal."""

    trick: Trick
    attempted: CardSet | None
    """The cards of the failed throw; None if no throw failed."""
    taken: TrickTaken | None
    """The result of the trick; None if a disband cut it short."""


@final
@dataclass(frozen=True, slots=True)
class DealRecord:
    """One deal from its shuffle to its settlement, with all cards that were hidden."""

    started: TimeNs
    ended: TimeNs
    dealt: Dealt
    calls: tuple[Called, ...]
    tricks: tuple[TrickRecord, ...]
    settlement: Settlement


@final
@dataclass(frozen=True, slots=True)
class MatchSummary:
    """A match without its deals, as in a list."""

    room: RoomId
    version: Version
    opened: RoomOpened
    players: BySeat[Player | None]
    totals: BySeat[Chips]
    deal: int
    """Number of the deal in progress or last dealt, from 1; 0 before the first deal."""
    settled_deals: int
    """The number of settled deals. A deal that a disband cut short is not counted."""
    disbanding: Disbanding | None
    expired: bool
    """Whether the server disbanded the room because its match did not begin in time."""
    created: TimeNs
    started: TimeNs | None
    """When the first deal started; None if none did."""
    ended: TimeNs | None


@final
@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match with all its deals that have ended."""

    summary: MatchSummary
    deals: tuple[DealRecord, ...]


def match_record(entries: tuple[Entry, ...]) -> MatchRecord | UnreadableEntry:
    """The record of a match from all entries of its room, of which there must be at least one."""
    history = _whole(entries)
    if isinstance(history, UnreadableEntry):
        return history
    return MatchRecord(_summary(history), tuple(_deals(history.later)))


@final
@dataclass(frozen=True, slots=True)
class Begun:
    """A record up to the end of a deal. It does not change when the match goes on."""

    summary: MatchSummary

    @property
    def version(self) -> Version:
        """The version of the last event in it."""
        return self.summary.version


@final
@dataclass(frozen=True, slots=True)
class Continued:
    """What is new after a `Begun`: the deals that have ended since, and the summary of the match now."""

    begun: Begun
    """Everything except the deal in progress, to continue from next time."""
    deals: tuple[DealRecord, ...]
    summary: MatchSummary


def begin_record(entries: tuple[Entry, ...]) -> Continued | UnreadableEntry:
    """The record of a match from all entries of its room, which may be continued later."""
    history = _whole(entries)
    if isinstance(history, UnreadableEntry):
        return history
    return _continued(_opening_summary(history), history.later)


def continue_record(begun: Begun, entries: tuple[Entry, ...]) -> Continued | UnreadableEntry:
    """What the entries after `begun` add to it."""
    later = read_later(entries)
    return later if isinstance(later, UnreadableEntry) else _continued(begun.summary, later)


def _continued(summary: MatchSummary, later: tuple[HistoryEvent, ...]) -> Continued:
    """The summary after all of `later`, and the last one at which a deal had ended."""
    settled = summary
    for kept in later:
        summary = _after(summary, kept)
        if isinstance(kept.event, DealSettled | MatchEnded):
            settled = replace(summary, version=kept.entry.version)
    if later:
        summary = replace(summary, version=later[-1].entry.version)
    return Continued(Begun(settled), tuple(_deals(later)), summary)


def match_summary(room: RoomSummary) -> MatchSummary:
    """The summary of a match from the summary of its room."""
    return MatchSummary(
        room=room.room,
        version=room.version,
        opened=room.opened,
        players=room.players,
        totals=room.totals,
        deal=room.deal,
        settled_deals=room.settled_deals,
        disbanding=room.disbanding,
        expired=room.state is RoomState.EXPIRED,
        created=room.created,
        started=room.started,
        ended=room.ended,
    )


def _whole(entries: tuple[Entry, ...]) -> RoomHistory | UnreadableEntry:
    """All events, or the fault if any is unreadable: the record of half a match would look like a whole one."""
    history = read(entries)
    return history if isinstance(history, UnreadableEntry) else history.unreadable or history


def _summary(history: RoomHistory) -> MatchSummary:
    return _continued(_opening_summary(history), history.later).summary


def _opening_summary(history: RoomHistory) -> MatchSummary:
    """The summary of a match whose room was just created."""
    options = history.opened.options
    seats = game_rules(options.game, options.review).seats
    nobody: BySeat[Player | None] = by_seat(seats, lambda _: None)
    return MatchSummary(
        room=history.opening.room,
        version=history.opening.version,
        opened=history.opened,
        players=nobody,
        totals=by_seat(seats, lambda _: Chips(0)),
        deal=0,
        settled_deals=0,
        disbanding=None,
        expired=False,
        created=history.opening.time,
        started=None,
        ended=None,
    )


def _after(summary: MatchSummary, kept: HistoryEvent) -> MatchSummary:
    time, event = kept.entry.time, kept.event
    if isinstance(event, SeatTaken):
        return replace(summary, players=summary.players.put(event.seat, event.player))
    if isinstance(event, SeatLeft):
        return replace(summary, players=summary.players.put(event.seat, None))
    if isinstance(event, DealStarted):
        started = time if summary.started is None else summary.started
        return replace(summary, started=started, deal=event.number)
    if isinstance(event, DealSettled):
        totals = by_seat(len(summary.totals), lambda seat: _sum(summary.totals[seat], event.settlement, seat))
        return replace(summary, totals=totals, settled_deals=summary.settled_deals + 1)
    if isinstance(event, MatchEnded):
        account = event.account
        dealt = len(account.deals)
        return replace(
            summary,
            totals=account.totals,
            deal=dealt,
            settled_deals=dealt - (event.cut_short is not None),
            disbanding=account.disbanding,
            expired=kept.entry.actor == stored_actor(HOUSE),
            ended=time,
        )
    return summary


def _sum(before: Chips, settlement: Settlement, seat: Seat) -> Chips:
    return Chips(before + settlement.scores[seat])


def _deals(later: Iterable[HistoryEvent]) -> Iterator[DealRecord]:
    """Every deal that has ended."""
    deal: list[HistoryEvent] = []
    for kept in later:
        event = kept.event
        if isinstance(event, DealStarted):
            deal = []
        deal.append(kept)
        if isinstance(event, DealSettled):
            yield _deal(deal, event.settlement)
        elif isinstance(event, MatchEnded) and event.cut_short is not None:
            yield _deal(deal, event.cut_short)


def _deal(kept: Sequence[HistoryEvent], settlement: Settlement) -> DealRecord:
    """The record of a deal, from its start to what settled it."""
    start, events = kept[0].event, [each.event for each in kept]
    assert isinstance(start, DealStarted), "a deal begins with its start"
    played_by = game_rules(start.game, start.review, start.rules_version)
    return DealRecord(
        started=kept[0].entry.time,
        ended=kept[-1].entry.time,
        dealt=dealt(played_by, start.number, start.first_bidder, start.shuffled),
        calls=tuple(event for event in events if isinstance(event, BidMade | BidPassed)),
        tricks=_tricks(event for event in events if isinstance(event, CardsLed | CardsFollowed)),
        settlement=settlement,
    )


def _tricks(plays: Iterable[CardsLed | CardsFollowed]) -> tuple[TrickRecord, ...]:
    tricks: list[TrickRecord] = []
    for play in plays:
        if isinstance(play, CardsLed):
            tricks.append(_led(play))
        else:
            tricks.append(_followed(tricks.pop(), play))
    return tuple(tricks)


def _led(play: CardsLed) -> TrickRecord:
    trick = Trick(play.lead, (Played(play.seat, play.cards),), play.seat, play.attempted is not None)
    return TrickRecord(trick, play.attempted, None)


def _followed(record: TrickRecord, play: CardsFollowed) -> TrickRecord:
    plays = (*record.trick.plays, Played(play.seat, play.cards))
    return replace(record, trick=replace(record.trick, plays=plays, ahead=play.ahead), taken=play.taken)
