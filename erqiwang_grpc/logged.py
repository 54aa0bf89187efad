"""What a room's log holds, read: each entry with the event that it stores."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_grpc import stored
from erqiwang_grpc.events import RoomOpened, StoredEvent
from erqiwang_grpc.log import Entry, Version
from erqiwang_grpc.stored import Unreadable


@final
@dataclass(frozen=True, slots=True)
class Logged:
    """One event of a room, and the entry that holds it."""

    entry: Entry
    event: StoredEvent


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


WholeLog: TypeAlias = RoomLog | UnreadableEntry


def read(entries: tuple[Entry, ...]) -> WholeLog:
    """Every event of a room from its whole log, which holds one entry at least."""
    found = _events(entries)
    if isinstance(found, UnreadableEntry):
        return found
    first, *later = found
    if not isinstance(first.event, RoomOpened):
        return UnreadableEntry(first.entry.version, "its first event does not open a room")
    return RoomLog(first.entry, first.event, tuple(later))


def _events(entries: Iterable[Entry]) -> tuple[Logged, ...] | UnreadableEntry:
    found: list[Logged] = []
    for entry in entries:
        event = stored.read(entry.body, entry.rules_version)
        if isinstance(event, Unreadable):
            return UnreadableEntry(entry.version, event.why)
        found.append(Logged(entry, event))
    return tuple(found)
