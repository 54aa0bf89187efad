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
class Logged:
    """One event of a room, with its stored entry."""

    entry: Entry
    event: Event


@final
@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """From `version` on, this version of the program cannot read the room's entries."""

    version: Version
    why: str


@final
@dataclass(frozen=True, slots=True)
class RoomLog:
    """The history of a room: its opening, and all later events."""

    opening: Entry
    opened: RoomOpened
    later: tuple[Logged, ...]
    unreadable: UnreadableEntry | None
    """The first entry that cannot be read; None if all later events are in `later`."""


def read(entries: tuple[Entry, ...]) -> RoomLog | UnreadableEntry:
    """The history of a room from all its entries, at least one. A fault if the first one is no opening."""
    first, *others = entries
    opened = read_first(first)
    if isinstance(opened, UnreadableEntry):
        return opened
    later: list[Logged] = []
    for entry in others:
        logged = read_next(entry)
        if isinstance(logged, UnreadableEntry):
            return RoomLog(first, opened, tuple(later), logged)
        later.append(logged)
    return RoomLog(first, opened, tuple(later), None)


def read_later(entries: tuple[Entry, ...]) -> tuple[Logged, ...] | UnreadableEntry:
    """The events of entries after the room's first, or the first entry that cannot be read."""
    later: list[Logged] = []
    for entry in entries:
        logged = read_next(entry)
        if isinstance(logged, UnreadableEntry):
            return logged
        later.append(logged)
    return tuple(later)


def read_first(entry: Entry) -> RoomOpened | UnreadableEntry:
    """The opening of a room from its first entry, or a fault if that is no opening."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why)
    if not isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "its first event does not open a room")
    return event


def read_next(entry: Entry) -> Logged | UnreadableEntry:
    """The event of an entry after the room's first, or a fault if it cannot be read."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why)
    if isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "a room is opened twice")
    return Logged(entry, event)
