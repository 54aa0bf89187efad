"""What a room's log holds, read: each entry with the event that it stores."""

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
    """One event of a room, and the entry that holds it."""

    entry: Entry
    event: Event


@final
@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """From `version` on the log cannot be read by this program."""

    version: Version
    why: str


@final
@dataclass(frozen=True, slots=True)
class RoomLog:
    """A whole log: how the room was opened, and everything after it."""

    opening: Entry
    opened: RoomOpened
    later: tuple[Logged, ...]
    unreadable: UnreadableEntry | None
    """Where the log stops being readable; None where all of it is in `later`."""


def read(entries: tuple[Entry, ...]) -> RoomLog | UnreadableEntry:
    """The events of a room from its whole log, which holds one entry at least; refused where not even the first is one."""
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
    """The events of entries behind a room's first."""
    later: list[Logged] = []
    for entry in entries:
        logged = read_next(entry)
        if isinstance(logged, UnreadableEntry):
            return logged
        later.append(logged)
    return tuple(later)


def read_first(entry: Entry) -> RoomOpened | UnreadableEntry:
    """How a room was opened, from its first entry."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why)
    if not isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "its first event does not open a room")
    return event


def read_next(entry: Entry) -> Logged | UnreadableEntry:
    """The event of an entry behind a room's first."""
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why)
    if isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "a room is opened twice")
    return Logged(entry, event)
