"""Histories: the entries of a room, each with its decoded event."""

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
    """One event of a room, with its stored entry."""

    entry: Entry
    event: Event


@final
@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """From `version` on, this version of the program cannot read the room's entries."""

    version: Version
    why: str
    is_newer: bool = False
    """Whether a newer version of the program has written it."""


@final
@dataclass(frozen=True, slots=True)
class RoomHistory:
    """The history of a room: its opening, and all later events."""

    opening: Entry
    opened: RoomOpened
    later: tuple[HistoryEvent, ...]
    unreadable: UnreadableEntry | None
    """The first entry that cannot be read; None if all later events are in `later`."""


def read(entries: tuple[Entry, ...]) -> RoomHistory | UnreadableEntry:
    """The history of a room from all its entries, at least one. `UnreadableEntry` if the first one is no opening."""
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
    """The events of entries after the room's first, or the first entry that cannot be read."""
    later: list[HistoryEvent] = []
    for entry in entries:
        found = read_next(entry)
        if isinstance(found, UnreadableEntry):
            return found
        later.append(found)
    return tuple(later)


def read_first(entry: Entry) -> RoomOpened | UnreadableEntry:
    """The opening of a room from its first entry; `UnreadableEntry` if that is no opening."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why, event.is_newer)
    if not isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "its first event does not open a room")
    return event


def read_next(entry: Entry) -> HistoryEvent | UnreadableEntry:
    """The event of an entry after the room's first; `UnreadableEntry` if it cannot be read."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why, event.is_newer)
    if isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "a room is opened twice")
    return HistoryEvent(entry, event)
