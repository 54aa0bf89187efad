"""The ledger: what the store holds, taken down as it is stored, and what follows from it. Everything else is compared with it.

Each batch is checked as it comes: the core decides the same events for the command that was sent, they follow from one another,
no command is stored twice, times do not go back, and summary and feed are those that the events make.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from erqiwang_core import match as matches, notices, view as views
from erqiwang_core.dealing import Shuffled
from erqiwang_core.match import DealStarted, Disband, DisbandReason, Gathering, Outside
from erqiwang_core.notices import Cause
from erqiwang_core.parts import View
from erqiwang_core.playing import Reply, ShowTrumps, Signal
from erqiwang_core.refusals import Refusal, SeatFree, SeatOccupied, WrongPhase
from erqiwang_core.rules import game_rules
from erqiwang_core.units import Seat

from erqiwang_grpc import events
from erqiwang_grpc.events import RoomOpened, StoredEvent, Unreadable
from erqiwang_grpc.events.actor import HOUSE, HouseActor, SeatActor, read as actor_of, stored
from erqiwang_grpc.events.index import is_public
from erqiwang_grpc.events.standing import Standing, opened
from erqiwang_grpc.events.summary import SummaryWriter
from erqiwang_grpc.rooms.command import Asked, HouseAsks, SeatAsks
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import Actor, Batch, CommandId, CommandKey, RoomId, TimeNs, Version
from tests.simulation.trace import Trace

Decision: TypeAlias = tuple[matches.Event, ...] | Reply | Refusal
Key: TypeAlias = tuple[RoomId, Actor, CommandId]
_LOOKED_BACK: Final = 64


@final
@dataclass(frozen=True, slots=True)
class Brought:
    """What a command is stored as."""

    first: Version
    last: Version
    key: CommandKey


@final
@dataclass(slots=True)
class Sent:
    """A command that somebody has sent under an id, and what the nodes have made of it."""

    asked: Asked
    begun: int = 0
    refused: int = 0
    """How often a node has taken it up, and has refused it for good."""


@final
@dataclass(slots=True)
class Log:
    """One room."""

    standings: list[Standing] = field(default_factory=list)
    events: list[StoredEvent] = field(default_factory=list)
    views: dict[tuple[Version, Seat], View] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)
    """The versions at which a batch ends. The room never stands between two events of one command."""

    @property
    def head(self) -> Version:
        """The version of the room."""
        return Version(len(self.standings))

    def at(self, version: Version) -> Standing:
        """The standing at a version."""
        return self.standings[version - 1]

    def view(self, version: Version, seat: Seat) -> View:
        """What a seat sees at a version."""
        seen = self.views.get((version, seat))
        if seen is None:
            seen = self.views[version, seat] = views.view(self.at(version).match, seat)
        return seen

    def missed(self, version: Version, seat: Seat, after: int) -> list[tuple[Version, TimeNs, Cause]]:
        """The causes since `after` that a seat which attaches at `version` is told."""
        deals = [at for at, event in enumerate(self.events[:version]) if isinstance(event, DealStarted)]
        if not deals:
            return []
        begin = max(deals[-1], version - _LOOKED_BACK)
        lately = [event for event in self.events[begin:version] if not isinstance(event, RoomOpened)]
        told = notices.told_again(self.at(version).match, lately, seat)
        numbers = range(version - len(told) + 1, version + 1)
        pairs = zip(numbers, told, strict=True)
        return [(Version(at), self.standings[at - 1].time, cause) for at, cause in pairs if at > after]


@final
class Ledger:
    """All rooms."""

    def __init__(self, trace: Trace) -> None:
        self.logs: dict[RoomId, Log] = {}
        self.brought: dict[Key, Brought] = {}
        self.public: list[tuple[RoomId, Version]] = []
        """The public events, in the order in which they were stored."""
        self.sent: dict[tuple[RoomId, Actor, CommandKey], Sent] = {}
        self.openings: dict[RoomId, RoomOpened] = {}
        self._trace = trace

    def head(self, room: RoomId) -> Version:
        """The version of a room; 0 if there is none."""
        log = self.logs.get(room)
        return Version(0) if log is None else log.head

    def known(self, room: RoomId, asked: Asked) -> Brought | None:
        """What is stored under the id of a command, be it this one or another."""
        return self.brought.get((room, stored(asked.actor), asked.key.id)) if asked.key else None

    def send(self, room: RoomId, asked: Asked) -> Sent:
        """Somebody sends a command, perhaps again."""
        if asked.key is None:
            return Sent(asked)
        return self.sent.setdefault((room, stored(asked.actor), asked.key), Sent(asked))

    # What is stored

    def take(self, room: RoomId, expected: Version, batch: Batch) -> None:
        """A batch was stored. Check it, and take it down."""
        log = self.logs.setdefault(room, Log())
        first = Version(expected + 1)
        if log.head != expected:
            self._trace.fail(f"version {first} is stored behind version {log.head}")
            return
        self._once(room, first, batch)
        happened = [events.read(body, batch.rules_version) for body in batch.bodies]
        sound = [event for event in happened if not isinstance(event, Unreadable)]
        if len(sound) < len(happened):
            self._trace.fail(f"an event of version {first} or later cannot be read")
            return
        self._as_decided(room, log, sound, batch)
        for number, event in enumerate(sound):
            self._follow(log, event, batch)
            if is_public(event):
                self.public.append((room, Version(first + number)))
        log.ends.add(log.head)
        self._as_listed(log.at(log.head), sound, batch)

    def _once(self, room: RoomId, first: Version, batch: Batch) -> None:
        if batch.command is None:
            return
        key = (room, batch.actor, batch.command.id)
        if key in self.brought:
            self._trace.fail(f"command {batch.command.id} is stored twice")
        self.brought[key] = Brought(first, Version(first + len(batch.bodies) - 1), batch.command)

    def _as_decided(self, room: RoomId, log: Log, happened: list[StoredEvent], batch: Batch) -> None:
        """The core decides the same, for the command that was sent, where the room stood."""
        if not log.standings:
            if happened != [self.openings.get(room)]:
                self._trace.fail("a room is opened otherwise than its platform asked")
            return
        shuffled = next((event.shuffled for event in happened if isinstance(event, DealStarted)), None)
        asked = self._asked(room, batch)
        if asked is None:
            if batch.command is not None:
                self._trace.fail(f"nobody has sent command {batch.command.id}, which is stored")
            return
        standing = log.at(log.head)
        decided = decision(standing, asked, shuffled)
        if decided != tuple(happened):
            self._trace.fail(f"the core decides {decided}, and {happened} is stored")
        if batch.time < standing.time:
            self._trace.fail("the time of a room goes back")

    def _asked(self, room: RoomId, batch: Batch) -> Asked | None:
        if batch.command is not None:
            sent = self.sent.get((room, batch.actor, batch.command))
            return None if sent is None else sent.asked
        if batch.actor == stored(HOUSE):
            return HouseAsks(HOUSE, Disband(Outside.HOUSE, DisbandReason.EXPIRED))
        return None  # a command without an id: the audit at the end decides it again

    def _follow(self, log: Log, event: StoredEvent, batch: Batch) -> None:
        if isinstance(event, RoomOpened):
            log.standings.append(opened(event, batch.time))
        else:
            log.standings.append(log.at(log.head).after(event, batch.time, actor_of(batch.actor)))
        log.events.append(event)

    def _as_listed(self, after: Standing, happened: list[StoredEvent], batch: Batch) -> None:
        if batch.summary != SummaryWriter().write(after):
            self._trace.fail(f"the summary of version {after.version} is not the one its events make")
        feed = after.opened.platform if any(is_public(event) for event in happened) else None
        if batch.feed != feed:
            self._trace.fail(f"version {after.version} is in feed {batch.feed}, not in {feed}")


def decision(standing: Standing, asked: Asked, shuffled: Shuffled | None = None) -> Decision:
    """What is decided of a command where a room stands: by the core, once it is clear who sits there."""
    match = standing.match

    def shuffle() -> Shuffled:
        return shuffled or seeded(0)(game_rules(match.options.game, match.options.review))

    match asked:
        case SeatAsks(SeatActor(seat, player), command):
            sitting = match.chairs[seat].player
            if sitting != player:
                return SeatFree(seat) if sitting is None else SeatOccupied(seat)
            if isinstance(command, Signal | ShowTrumps):
                return matches.answer(match, seat, command)
            return matches.decide(match, seat, command, shuffle)
        case HouseAsks(HouseActor()) if not isinstance(match, Gathering):
            return WrongPhase(matches.phase(match))
        case HouseAsks(_, command):
            return matches.administer(match, command, shuffle)
