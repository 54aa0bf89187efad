"""What a room's log says: the match and its times, which command brought what, and what happened last.

A ledger only ever takes events in, so a room opened from its log equals the room that wrote it.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, final

from erqiwang_core import match as matches, notices
from erqiwang_core.match import DealStarted, Match, MatchEnded, SeatLeft, SeatReady, SeatTaken
from erqiwang_core.notices import Cause
from erqiwang_core.units import Seat

from erqiwang_grpc import events as stored
from erqiwang_grpc.events import Unreadable
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.store import Actor, CommandId, CommandKey, Entry, TimeNs, Version


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
class Happened:
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
    turn_began: TimeNs
    time: TimeNs
    """When the last event happened; the next one's time is never before it, whatever the wall clock says."""
    started: TimeNs | None = None
    ended: TimeNs | None = None
    ended_by: Actor | None = None
    commands: dict[tuple[Actor, CommandId], Brought] = field(default_factory=dict)
    lately: deque[Happened] = field(default_factory=lambda: deque(maxlen=LOOKED_BACK))
    """The last events of the present deal, or of the last one; none before the first."""

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
            self.lately.append(Happened(self.version, time, event))

    def remember(self, actor: Actor, command: CommandKey | None, first: Version) -> None:
        """The command that brought the versions from `first` to the present one."""
        if command is not None:
            self.commands[actor, command.id] = Brought(first, self.version, command.fingerprint)

    def missed(self, seat: Seat, after: int) -> list[tuple[Happened, Cause]]:
        """What has happened in this deal after a version, as far as `seat` may look back; nothing after one to come."""
        told = notices.told_again(self.match, [happened.event for happened in self.lately], seat)
        may_look = list(self.lately)[len(self.lately) - len(told) :]
        return [pair for pair in zip(may_look, told, strict=True) if pair[0].version > after]


@final
@dataclass(frozen=True, slots=True)
class Broken:
    """A log that cannot be followed to its end: the ledger up to there, and why."""

    ledger: State
    why: str


@final
@dataclass(frozen=True, slots=True)
class NoLedger:
    """A log whose first event is not readable: nothing can be said of the room."""

    why: str


def opened(event: RoomOpened, time: TimeNs) -> State:
    """The ledger of a room that was just opened."""
    return State(event, matches.begin(event.options), Version(1), time, time, time)


def replay(entries: tuple[Entry, ...]) -> State | Broken | NoLedger:
    """The ledger of a room from its whole log, which holds one entry at least."""
    first = stored.read(entries[0].body, entries[0].rules_version)
    if isinstance(first, Unreadable):
        return NoLedger(first.why)
    if not isinstance(first, RoomOpened):
        return NoLedger("its first event does not open a room")
    ledger = opened(first, entries[0].time)
    ledger.remember(entries[0].actor, entries[0].command, Version(1))
    return follow(ledger, entries[1:])


def follow(ledger: State, entries: Iterable[Entry]) -> State | Broken:
    """The ledger after more entries, the first of which is its next version.

    Where one cannot be followed the room stands still there, but its end, once logged, is believed: it needs nothing of
    what came before.
    """
    broken: str | None = None
    for entry in entries:
        event = stored.read(entry.body, entry.rules_version)
        if broken is None or isinstance(event, MatchEnded):
            broken = _taken(ledger, entry, event) or broken
        # Counted though it is not followed: whoever ends the room does so behind it.
        ledger.version = entry.version
        ledger.time = max(ledger.time, entry.time)
    return ledger if broken is None else Broken(ledger, broken)


def _taken(ledger: State, entry: Entry, event: stored.StoredEvent | Unreadable) -> str | None:
    """Take the entry's event in; or say why that is not possible."""
    if isinstance(event, Unreadable):
        return event.why
    if isinstance(event, RoomOpened):
        return "a room is opened twice"
    try:
        ledger.take(event, entry.time, entry.actor)
    except Exception as error:  # noqa: BLE001  # a rule's bug, in one room: it must not reach another
        return f"event {entry.version} cannot be followed: {type(error).__name__}"
    known = ledger.commands.get((entry.actor, entry.command.id)) if entry.command else None
    ledger.remember(entry.actor, entry.command, known.first if known else entry.version)
    return None
