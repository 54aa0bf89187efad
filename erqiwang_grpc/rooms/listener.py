"""Listeners: what a room tells a transport, in core values. The transport turns it into its own bytes."""

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, final

from erqiwang_core.notices import Cause, Notice, Telling
from erqiwang_core.parts import View
from erqiwang_core.playing import Signalled
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.store import RoomId, TimeNs, Version


@final
@dataclass(frozen=True, slots=True)
class Missed:
    """The cause of an event that happened while the viewer was away."""

    version: Version
    time: TimeNs
    cause: Cause


@final
@dataclass(frozen=True, slots=True)
class Presence:
    """Which seats are there, in seat order."""

    present: tuple[bool, ...]


@final
@dataclass(frozen=True, slots=True)
class Beginning:
    """What a listener begins with, and begins again with when it was too slow to follow."""

    room: RoomId
    version: Version
    view: View
    """Everything the viewer may know at that version."""
    turn_began: TimeNs
    missed: tuple[Missed, ...]
    """What happened since the version that the viewer saw last, oldest first."""
    presence: Presence
    server_time: TimeNs
    """The wall clock of the server, by which the times above are told."""


@final
@dataclass(slots=True, eq=False)
class Told:
    """One event, told to all listeners of a room. All of them get this one object."""

    version: Version
    time: TimeNs
    turn_began: TimeNs
    """When the turn began that the event led to."""
    telling: Telling
    """The parts all listeners share, and each listener's own."""
    encoded: object = field(default=None, repr=False)
    """Where a transport keeps what it has encoded of the shared parts, so that it does so once an event."""

    def notice(self, seat: Seat) -> Notice:
        """What one seat is told of the event."""
        return self.telling.notice(seat)


@final
@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The room is at `version`, and the server is there."""

    version: Version
    server_time: TimeNs
    """The wall clock of the server."""


Aside: TypeAlias = Signalled | Presence | Heartbeat
"""What a listener is told beside the events: nothing of it is stored."""


class Listener(Protocol):
    """One stream of one viewer. No method waits, and none raises: a listener never delays its room."""

    def begin(self, beginning: Beginning) -> None:
        """Start with this view. Called once, before everything else."""

    def tell(self, told: Told) -> None:
        """One more event. Events come in the order of their versions, without a gap."""

    def aside(self, aside: Aside) -> None:
        """Something beside the events."""

    def end(self, closing: Closing) -> None:
        """The stream is over; nothing is told after it. Only the first reason counts."""
