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
    opened = stored.read(first.body, first.rules_version)
    if isinstance(opened, Unreadable):
        return UnreadableEntry(first.version, opened.why)
    if not isinstance(opened, RoomOpened):
        return UnreadableEntry(first.version, "its first event does not open a room")
    later: list[Logged] = []
    for entry in others:
        logged = _logged(entry)
        if isinstance(logged, UnreadableEntry):
            return RoomLog(first, opened, tuple(later), logged)
        later.append(logged)
    return RoomLog(first, opened, tuple(later), None)


def read_later(entries: tuple[Entry, ...]) -> tuple[Logged, ...] | UnreadableEntry:
    """The events of entries behind a room's first."""
    later: list[Logged] = []
    for entry in entries:
        logged = _logged(entry)
        if isinstance(logged, UnreadableEntry):
            return logged
        later.append(logged)
    return tuple(later)


def _logged(entry: Entry) -> Logged | UnreadableEntry:
    event = stored.read(entry.body, entry.rules_version)
    if isinstance(event, Unreadable):
        return UnreadableEntry(entry.version, event.why)
    if isinstance(event, RoomOpened):
        return UnreadableEntry(entry.version, "a room is opened twice")
    return Logged(entry, event)
