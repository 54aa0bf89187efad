"""Records: what a platform may keep of a match, put together from its room's events without judging anything again.

A deal appears once it is settled or cut short by a disband, whole; of one in progress nothing appears.
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
    """The throw that failed; None where nothing failed."""
    taken: TrickTaken | None
    """How it ended; None for one that a disband cut short."""


@final
@dataclass(frozen=True, slots=True)
class DealRecord:
    """One deal from its shuffle to its settlement, with everything that was hidden in it."""

    started: TimeNs
    ended: TimeNs
    dealt: Dealt
    calls: tuple[Called, ...]
    tricks: tuple[TrickRecord, ...]
    settlement: Settlement


@final
@dataclass(frozen=True, slots=True)
class MatchSummary:
    """A match without its deals: what stands in a list."""

    room: RoomId
    version: Version
    opened: RoomOpened
    players: BySeat[Player | None]
    totals: BySeat[Chips]
    deal: int
    """The deal in progress or last dealt, from 1; 0 before the first."""
    settled_deals: int
    """How many deals were settled; one that a disband cut short is not counted."""
    disbanding: Disbanding | None
    expired: bool
    """Whether the match did not start in time, so that the house ended it."""
    created: TimeNs
    started: TimeNs | None
    """When its first deal started; None where that never happened."""
    ended: TimeNs | None


@final
@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match with all its deals that have ended."""

    summary: MatchSummary
    deals: tuple[DealRecord, ...]


def match_record(entries: tuple[Entry, ...]) -> MatchRecord | UnreadableEntry:
    """The record of a match from all entries of its room, one at least."""
    history = _whole(entries)
    if isinstance(history, UnreadableEntry):
        return history
    return MatchRecord(_summary(history), tuple(_deals(history.later)))


@final
@dataclass(frozen=True, slots=True)
class Begun:
    """A record up to the end of a deal: nothing of it changes when the match goes on."""

    summary: MatchSummary

    @property
    def version(self) -> Version:
        """The last event that is in it."""
        return self.summary.version


@final
@dataclass(frozen=True, slots=True)
class Continued:
    """What came after `Begun`: the deals that have ended since, and the match as it stands."""

    begun: Begun
    """All of it but the deal in progress: what to continue from next time."""
    deals: tuple[DealRecord, ...]
    summary: MatchSummary


def begin_record(entries: tuple[Entry, ...]) -> Continued | UnreadableEntry:
    """The record of a match from all entries of its room, to be continued."""
    history = _whole(entries)
    if isinstance(history, UnreadableEntry):
        return history
    return _continued(_opening_summary(history), history.later)


def continue_record(begun: Begun, entries: tuple[Entry, ...]) -> Continued | UnreadableEntry:
    """What the entries behind `begun` add to it."""
    later = read_later(entries)
    return later if isinstance(later, UnreadableEntry) else _continued(begun.summary, later)


def _continued(summary: MatchSummary, later: tuple[HistoryEvent, ...]) -> Continued:
    """The summary folded on, and remembered where a deal has ended."""
    settled = summary
    for kept in later:
        summary = _after(summary, kept)
        if isinstance(kept.event, DealSettled | MatchEnded):
            settled = replace(summary, version=kept.entry.version)
    if later:
        summary = replace(summary, version=later[-1].entry.version)
    return Continued(Begun(settled), tuple(_deals(later)), summary)


def match_summary(room: RoomSummary) -> MatchSummary:
    """The summary of a match from that of its room."""
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
    """The history, where all of it is readable: a record of half a match would be taken for a whole one."""
    history = read(entries)
    return history if isinstance(history, UnreadableEntry) else history.unreadable or history


def _summary(history: RoomHistory) -> MatchSummary:
    return _continued(_opening_summary(history), history.later).summary


def _opening_summary(history: RoomHistory) -> MatchSummary:
    """The match when its room was opened."""
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
