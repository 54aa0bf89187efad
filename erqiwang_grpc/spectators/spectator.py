"""Spectators: what a broadcast tells a transport, in values of the core."""

from dataclasses import dataclass, field
from typing import Protocol, final

from erqiwang_core.parts import PublicView

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.listener import Heartbeat, Missed, Told
from erqiwang_grpc.store import RoomId, TimeNs, Version


@final
@dataclass(slots=True, eq=False)
class Scene:
    """The public view at a version. All spectators that begin at this version get the same object."""

    room: RoomId
    version: Version
    view: PublicView
    turn_began: TimeNs
    encoded: object = field(default=None, repr=False)
    """Where a transport may keep the encoded view, so that it encodes it once for all spectators."""


@final
@dataclass(frozen=True, slots=True)
class Entrance:
    """What a spectator begins with. One that was too slow begins again with a new one."""

    scene: Scene
    missed: tuple[Missed, ...]
    """What happened since the last version that the spectator saw, oldest first, as far as the public may look back."""
    server_time: TimeNs
    """The time on the server's wall clock, less the delay."""


class Spectator(Protocol):
    """One stream of one spectator. No method may wait or raise: a spectator must never delay the others."""

    def begin(self, entrance: Entrance) -> None:
        """Begin with this view. Called once, before any event is told."""

    def tell(self, told: Told) -> None:
        """Tell one event. Events come in the order of their versions, without a gap."""

    def beat(self, heartbeat: Heartbeat) -> None:
        """Show that the server is alive. May be called before `begin`."""

    def end(self, closing: Closing) -> None:
        """End the stream. Nothing is told after that. If called again, the first reason stays."""
