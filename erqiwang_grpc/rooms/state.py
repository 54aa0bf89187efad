"""The state of a room: where it stands, the commands it has accepted, and its last events.

Only events change a state, so a room opened from the store equals the room that wrote it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, final

from erqiwang_core import match as matches, notices
from erqiwang_core.match import DealStarted, Match, MatchEnded
from erqiwang_core.notices import Cause
from erqiwang_core.viewer import Viewer

from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.events.actor import UnknownActorError, read as actor_of
from erqiwang_grpc.events.history import UnreadableEntry, read_first, read_next
from erqiwang_grpc.events.standing import Standing, opened
from erqiwang_grpc.rooms.idempotency import AcceptedCommands
from erqiwang_grpc.store import Entry, TimeNs, Version

LOOKED_BACK: Final = 64
"""Most events of a deal that a seat is told after it was away."""


@final
@dataclass(frozen=True, slots=True)
class RecentEvent:
    """An event of the present deal, with its version and time."""

    version: Version
    time: TimeNs
    event: matches.Event


@final
@dataclass(slots=True)
class State:
    """The state of one room."""

    standing: Standing
    accepted: AcceptedCommands = field(default_factory=AcceptedCommands)
    lately: deque[RecentEvent] = field(default_factory=lambda: deque(maxlen=LOOKED_BACK))
    """The latest events of the present deal, or of the last one; empty before the first deal."""
    fault: str | None = None
    """Why the room is quarantined, for the logs; None if it is not."""
    newer: str | None = None
    """What a newer version of the program has stored next, for the logs; None if it has not. The state stays before it."""

    @property
    def opened(self) -> RoomOpened:
        """The room's first event: its platform, options and labels."""
        return self.standing.opened

    @property
    def match(self) -> Match:
        """The match now."""
        return self.standing.match

    @property
    def version(self) -> Version:
        """The number of events in the room."""
        return self.standing.version

    def take(self, event: matches.Event, after: Standing) -> None:
        """Take in an event; `after` is the standing of the room after it."""
        self.standing = after
        if isinstance(event, DealStarted):
            self.lately.clear()
        if after.started is not None:
            self.lately.append(RecentEvent(after.version, after.time, event))

    def missed(self, viewer: Viewer, after: int) -> list[tuple[RecentEvent, Cause]]:
        """The events of this deal after version `after`, as far as `viewer` may look back (rules §12), oldest first."""
        told = notices.told_again(self.match, [happened.event for happened in self.lately], viewer)
        may_look = list(self.lately)[len(self.lately) - len(told) :]
        return [pair for pair in zip(may_look, told, strict=True) if pair[0].version > after]

    def follow(self, entry: Entry) -> "Followed | None":
        """Take in the stored entry of the room's next version; gives the event, or None if it cannot be followed.

        In that case the room is quarantined with a `fault`. A stored end of the match is still taken in after that,
        because it does not depend on earlier events. Nothing is followed from an entry on that a newer version has written.
        """
        if self.newer is not None:
            return None
        before = self.match
        taken = self._taken(entry)
        if isinstance(taken, Unfollowable):
            if taken.is_newer:
                self.newer = taken.why
                return None
            # Count its version all the same: the end of the match may be stored after it.
            self.standing = self.standing.passing(entry.version, entry.time)
            self.fault = self.fault or taken.why
            return None
        return Followed(before, taken)

    def _taken(self, entry: Entry) -> "matches.Event | Unfollowable":
        found = read_next(entry)
        if isinstance(found, UnreadableEntry):
            return Unfollowable(found.why, found.is_newer)
        event = found.event
        if self.fault is not None and not isinstance(event, MatchEnded):
            return Unfollowable(self.fault)
        try:
            actor = actor_of(entry.actor)
            self.take(event, self.standing.after(event, entry.time, actor))
        except UnknownActorError as error:
            return Unfollowable(str(error), is_newer=True)
        except Exception as error:  # noqa: BLE001  # a rule's bug, in one room: it must not reach another
            return Unfollowable(f"event {entry.version} cannot be followed: {type(error).__name__}")
        self.accepted.remember(actor, entry.command, entry.version, entry.version)
        return event


@final
@dataclass(frozen=True, slots=True)
class Followed:
    """An entry that was taken in: the match before it, and its event."""

    before: Match
    event: matches.Event


@final
@dataclass(frozen=True, slots=True)
class Unfollowable:
    """An entry that cannot be followed, and why."""

    why: str
    is_newer: bool = False
    """Whether a newer version of the program has written it."""


@final
@dataclass(frozen=True, slots=True)
class Unopenable:
    """A room whose first event cannot be read, so that it cannot be opened."""

    why: str
    is_newer: bool = False
    """Whether a newer version of the program has written it."""


def replay(entries: Sequence[Entry]) -> State | Unopenable:
    """The state of a room from all its entries, of which there must be at least one."""
    first = entries[0]
    event = read_first(first)
    if isinstance(event, UnreadableEntry):
        return Unopenable(event.why, event.is_newer)
    try:
        actor = actor_of(first.actor)
    except UnknownActorError as error:
        return Unopenable(str(error), is_newer=True)
    state = State(opened(event, first.time))
    state.accepted.remember(actor, first.command, first.version, first.version)
    for entry in entries[1:]:
        state.follow(entry)
    return state
