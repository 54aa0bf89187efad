"""What a room's events say: where it stands, what each command brought, and what happened last.

A state only ever takes events in, so a room opened from the store equals the room that wrote it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, final

from erqiwang_core import match as matches, notices
from erqiwang_core.match import DealStarted, Match, MatchEnded
from erqiwang_core.notices import Cause
from erqiwang_core.units import Seat

from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.events.actor import Actor, read as actor_of
from erqiwang_grpc.events.history import UnreadableEntry, read_first, read_next
from erqiwang_grpc.events.standing import Standing, opened
from erqiwang_grpc.store import CommandId, CommandKey, Entry, TimeNs, Version


@final
@dataclass(frozen=True, slots=True)
class Brought:
    """The versions that a command brought."""

    first: Version
    last: Version
    fingerprint: bytes


LOOKED_BACK: Final = 64
"""How many of a deal's last events a seat that was away is told of at most."""


@final
@dataclass(frozen=True, slots=True)
class RecentEvent:
    """An event of the present deal."""

    version: Version
    time: TimeNs
    event: matches.Event


@final
@dataclass(slots=True)
class State:
    """One room, as its events say, and what a live room remembers of them."""

    standing: Standing
    brought: dict[tuple[Actor, CommandId], Brought] = field(default_factory=dict)
    lately: deque[RecentEvent] = field(default_factory=lambda: deque(maxlen=LOOKED_BACK))
    """The last events of the present deal, or of the last one; none before the first."""
    fault: str | None = None
    """Why the room stands still, quarantined; None if it does not."""

    @property
    def opened(self) -> RoomOpened:
        """How the room was opened."""
        return self.standing.opened

    @property
    def match(self) -> Match:
        """The match as it stands."""
        return self.standing.match

    @property
    def version(self) -> Version:
        """How many events the room has."""
        return self.standing.version

    def take(self, event: matches.Event, after: Standing) -> None:
        """One more event, and where the room stands after it."""
        self.standing = after
        if isinstance(event, DealStarted):
            self.lately.clear()
        if after.started is not None:
            self.lately.append(RecentEvent(after.version, after.time, event))

    def remember(self, actor: Actor, command: CommandKey | None, first: Version) -> None:
        """The command that brought the versions from `first` to the present one."""
        if command is not None:
            self.brought[actor, command.id] = Brought(first, self.version, command.fingerprint)

    def missed(self, seat: Seat, after: int) -> list[tuple[RecentEvent, Cause]]:
        """What has happened in this deal after a version, as far as `seat` may look back; nothing after one to come."""
        told = notices.told_again(self.match, [happened.event for happened in self.lately], seat)
        may_look = list(self.lately)[len(self.lately) - len(told) :]
        return [pair for pair in zip(may_look, told, strict=True) if pair[0].version > after]

    def follow(self, entry: Entry) -> "Followed | None":
        """Take in the stored entry that is the room's next version; None if that is not possible.

        The room is then quarantined with a `fault`. The match's end is taken in all the same, since it needs nothing of
        what came before.
        """
        before = self.match
        taken = self._taken(entry)
        if isinstance(taken, Unfollowable):
            # It counts too: the end of the match may be stored behind it.
            self.standing = self.standing.passing(entry.version, entry.time)
            self.fault = self.fault or taken.why
            return None
        return Followed(before, taken)

    def _taken(self, entry: Entry) -> "matches.Event | Unfollowable":
        found = read_next(entry)
        if isinstance(found, UnreadableEntry):
            return Unfollowable(found.why)
        event = found.event
        if self.fault is not None and not isinstance(event, MatchEnded):
            return Unfollowable(self.fault)
        try:
            actor = actor_of(entry.actor)
            self.take(event, self.standing.after(event, entry.time, actor))
        except Exception as error:  # noqa: BLE001  # a rule's bug, in one room: it must not reach another
            return Unfollowable(f"event {entry.version} cannot be followed: {type(error).__name__}")
        known = self.brought.get((actor, entry.command.id)) if entry.command else None
        self.remember(actor, entry.command, known.first if known else entry.version)
        return event


@final
@dataclass(frozen=True, slots=True)
class Followed:
    """An entry was taken in: the match before it, and its event."""

    before: Match
    event: matches.Event


@final
@dataclass(frozen=True, slots=True)
class Unfollowable:
    """An entry that cannot be followed, and why."""

    why: str


@final
@dataclass(frozen=True, slots=True)
class Unopenable:
    """A room whose first event is not readable: nothing can be said of it."""

    why: str


def replay(entries: Sequence[Entry]) -> State | Unopenable:
    """The state of a room from all its entries; there must be at least one."""
    first = entries[0]
    event = read_first(first)
    if isinstance(event, UnreadableEntry):
        return Unopenable(event.why)
    state = State(opened(event, first.time))
    state.remember(actor_of(first.actor), first.command, Version(1))
    for entry in entries[1:]:
        state.follow(entry)
    return state
