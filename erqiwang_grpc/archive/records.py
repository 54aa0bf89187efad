"""Records: a match as it was played, put together from the events of its room.

A record holds each deal that is settled or that a disband cut short. A deal in progress is not in it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.dealing import Dealt, dealt
from erqiwang_core.kernel.trick import Played, Trick
from erqiwang_core.match import DealStarted, MatchEnded
from erqiwang_core.playing import CardsFollowed, CardsLed, TrickTaken
from erqiwang_core.rules import game_rules
from erqiwang_core.settlement import DealSettled, Settlement
from erqiwang_core.units import CardSet

from erqiwang_grpc.events.history import HistoryEvent, UnreadableEntry, read, read_later
from erqiwang_grpc.events.standing import latest
from erqiwang_grpc.events.summary import RoomSummary, summary_of
from erqiwang_grpc.store import Entry, TimeNs, Version


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

    version: Version
    """The version of the room when the deal had ended."""
    started: TimeNs
    ended: TimeNs
    dealt: Dealt
    calls: tuple[Called, ...]
    tricks: tuple[TrickRecord, ...]
    settlement: Settlement


@final
@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match with all its deals that have ended."""

    summary: RoomSummary
    deals: tuple[DealRecord, ...]


def match_record(entries: tuple[Entry, ...]) -> MatchRecord | UnreadableEntry:
    """The record of a match from all entries of its room, of which there must be at least one.

    An entry that cannot be read or followed is given in place of the record, because the record of half a match would
    look like that of a whole one.
    """
    history = read(entries)
    if isinstance(history, UnreadableEntry):
        return history
    standing = latest(history)
    if isinstance(standing, UnreadableEntry):
        return standing
    return MatchRecord(summary_of(history.opening.room, standing), tuple(_deals(history.later)))


def deals_since(entries: tuple[Entry, ...]) -> tuple[DealRecord, ...] | UnreadableEntry:
    """The deals that ended in these entries, or the first entry that cannot be read.

    The entries are all of a room, or all that came after one of its deals had ended.
    """
    if entries and entries[0].version == Version(1):
        history = read(entries)
        if isinstance(history, UnreadableEntry):
            return history
        return history.unreadable or tuple(_deals(history.later))
    later = read_later(entries)
    return later if isinstance(later, UnreadableEntry) else tuple(_deals(later))


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
        version=kept[-1].entry.version,
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
