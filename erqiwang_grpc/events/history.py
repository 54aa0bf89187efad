"""A room's history, read from its entries: each entry with the event that it stores."""

from dataclasses import dataclass
from typing import final

from erqiwang_core.match import Event

from erqiwang_grpc import events as stored
from erqiwang_grpc.events import Unreadable
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.store import Entry, Version


@final
@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One event of a room, and the entry that holds it."""

    entry: Entry
    event: Event


@final
@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """From `version` on the history cannot be read by this program."""

    version: Version
    why: str


@final
@dataclass(frozen=True, slots=True)
class RoomHistory:
    """The whole of it: how the room was opened, and everything after it."""

    opening: Entry
    opened: RoomOpened
    later: tuple[HistoryEvent, ...]
    unreadable: UnreadableEntry | None
    """Where it stops being readable; None where all of it is in `later`."""


def read(entries: tuple[Entry, ...]) -> RoomHistory | UnreadableEntry:
    """The events of a room from all its entries, one at least; refused where not even the first is one."""
    first, *others = entries
    opened = read_first(first)
    if isinstance(opened, UnreadableEntry):
        return opened
    later: list[HistoryEvent] = []
    for entry in others:
        found = read_next(entry)
        if isinstance(found, UnreadableEntry):
            return RoomHistory(first, opened, tuple(later), found)
        later.append(found)
    return RoomHistory(first, opened, tuple(later), None)


def read_later(entries: tuple[Entry, ...]) -> tuple[HistoryEvent, ...] | UnreadableEntry:
    """The events of entries behind a room's first."""
    later: list[HistoryEvent] = []
    for entry in entries:
        found = read_next(entry)
        if isinstance(found, UnreadableEntry):
            return found
        later.append(found)
    return tuple(later)


def read_first(entry: Entry) -> RoomOpened | UnreadableEntry:
    """How a room was opened, from its first entry."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why)
    if not isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "its first event does not open a room")
    return event


def read_next(entry: Entry) -> HistoryEvent | UnreadableEntry:
    """The event of an entry behind a room's first."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why)
    if isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "a room is opened twice")
    return HistoryEvent(entry, event)
