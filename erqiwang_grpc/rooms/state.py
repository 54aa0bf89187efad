"""What a room's events say: the match and its times, what each command brought, and what happened last.

A state only ever takes events in, so a room opened from the store equals the room that wrote it.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from erqiwang_core import match as matches, notices
from erqiwang_core.match import DealStarted, Match, MatchEnded, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.notices import Cause
from erqiwang_core.units import Seat

from erqiwang_grpc.events import RoomOpened
from erqiwang_grpc.events.actor import Actor, read as actor_of
from erqiwang_grpc.events.history import Logged, RoomLog, UnreadableEntry, read_first, read_next
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
    """One room, up to `version`."""

    opened: RoomOpened
    match: Match
    version: Version
    created: TimeNs
    time: TimeNs
    """When the last event happened. Times in a room never run backwards: the next event's is this one or later, even if the wall clock is set back."""
    turn_began: TimeNs
    started: TimeNs | None = None
    ended: TimeNs | None = None
    ended_by: Actor | None = None
    brought: dict[tuple[Actor, CommandId], Brought] = field(default_factory=dict)
    lately: deque[RecentEvent] = field(default_factory=lambda: deque(maxlen=LOOKED_BACK))
    """The last events of the present deal, or of the last one; none before the first."""
    fault: str | None = None
    """Why the room stands still, quarantined; None if it does not."""

    def take(self, event: matches.Event, time: TimeNs, actor: Actor) -> None:
        """One more event."""
        self.match = matches.evolve(self.match, event)
        self.version = Version(self.version + 1)
        self.time = max(self.time, time)
        if isinstance(event, DealStarted) and event.number == 1:
            self.started = time
        if isinstance(event, MatchEnded):
            self.ended, self.ended_by = time, actor
        if not isinstance(event, SeatTaken | SeatLeft | SeatReady | MatchEnded):
            self.turn_began = time
        if isinstance(event, DealStarted):
            self.lately.clear()
        if self.started is not None:
            self.lately.append(RecentEvent(self.version, time, event))

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
        # An entry that cannot be followed counts too: the end of the match may be stored behind it.
        self.version = entry.version
        self.time = max(self.time, entry.time)
        if isinstance(taken, Unfollowable):
            self.fault = self.fault or taken.why
            return None
        return Followed(before, taken)

    def _taken(self, entry: Entry) -> "matches.Event | Unfollowable":
        logged = read_next(entry)
        if isinstance(logged, UnreadableEntry):
            return Unfollowable(logged.why)
        event = logged.event
        if self.fault is not None and not isinstance(event, MatchEnded):
            return Unfollowable(self.fault)
        try:
            actor = actor_of(entry.actor)
            self.take(event, entry.time, actor)
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


def opened(event: RoomOpened, time: TimeNs) -> State:
    """The state of a room that was just opened."""
    return State(event, matches.begin(event.options), Version(1), time, time, time)


def replay(entries: Sequence[Entry]) -> State | Unopenable:
    """The state of a room from all its entries; there must be at least one."""
    first = entries[0]
    event = read_first(first)
    if isinstance(event, UnreadableEntry):
        return Unopenable(event.why)
    state = opened(event, first.time)
    state.remember(actor_of(first.actor), first.command, Version(1))
    for entry in entries[1:]:
        state.follow(entry)
    return state


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One event of a room that is read: the match before it, and the room's state after it, which the next step changes."""

    before: Match
    logged: Logged
    state: State


def steps(history: RoomLog) -> Iterator[Step | UnreadableEntry]:
    """A stored room, event by event from its opening on; the last one says so where the rules cannot follow an event.

    For whoever reads a room. A live one goes past what it cannot follow: `State.follow`.
    """
    state = opened(history.opened, history.opening.time)
    for logged in history.later:
        before, entry = state.match, logged.entry
        try:
            state.take(logged.event, entry.time, actor_of(entry.actor))
        except Exception as error:  # noqa: BLE001  # an event that a mended rule would never have brought about
            yield UnreadableEntry(entry.version, f"{type(error).__name__} in the rules")
            return
        yield Step(before, logged, state)
