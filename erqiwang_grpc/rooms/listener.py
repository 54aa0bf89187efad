"""Listeners: what a room tells a transport, in values of the core. The transport encodes them in its own way."""

from dataclasses import dataclass
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
    """An event that happened while the viewer was away, as this viewer may know it."""

    version: Version
    time: TimeNs
    cause: Cause


@final
@dataclass(frozen=True, slots=True)
class Presence:
    """Whether each seat is present, seat 0 first."""

    present: tuple[bool, ...]


@final
@dataclass(frozen=True, slots=True)
class Beginning:
    """What a listener begins with. A listener that was too slow begins again with a new one."""

    room: RoomId
    version: Version
    view: View
    """The viewer's view at that version."""
    turn_began: TimeNs
    missed: tuple[Missed, ...]
    """What happened since the last version that the viewer saw, oldest first, as far as rules §12 lets it look back."""
    presence: Presence
    server_time: TimeNs
    """The time now on the server's wall clock, which all other times are from too."""


@final
class Told:
    """One event as it is told. All listeners of the room get this same object."""

    __slots__ = ("encoded", "telling", "time", "turn_began", "version")

    def __init__(self, version: Version, time: TimeNs, turn_began: TimeNs, telling: Telling) -> None:
        self.version = version
        self.time = time
        self.turn_began = turn_began
        """When the present turn began, on the wall clock."""
        self.telling = telling
        """The shared parts of the notices, and each seat's own."""
        self.encoded: object = None
        """Where a transport may keep the encoded shared parts, so that it encodes them once for all listeners."""

    def notice(self, seat: Seat) -> Notice:
        """The notice of the event for one seat."""
        return self.telling.notice(seat)


@final
@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign that the server is alive, with the room's present version."""

    version: Version
    server_time: TimeNs
    """The time now on the server's wall clock."""


Aside: TypeAlias = Signalled | Presence | Heartbeat
"""What a listener is told beside the events. Nothing of it is stored."""


class Listener(Protocol):
    """One stream of one viewer. No method may wait or raise: a listener must never delay its room."""

    def begin(self, beginning: Beginning) -> None:
        """Begin with this view. Called once, before any other method."""

    def tell(self, told: Told) -> None:
        """Tell one event. Events come in the order of their versions, without a gap."""

    def aside(self, aside: Aside) -> None:
        """Tell something that is no event: a signal, presence, or a heartbeat."""

    def end(self, closing: Closing) -> None:
        """End the stream. Nothing is told after that. If called again, the first reason stays."""
