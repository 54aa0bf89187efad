"""The stored events of a room: its opening, and then the events of its match."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.match import Event
from erqiwang_core.options import RoomOptions

from erqiwang_grpc.auth.keys import PlatformId


@final
@dataclass(frozen=True, slots=True)
class Label:
    """A label that the platform gave a room. Seats and the public are never told it."""

    key: str
    value: str


@final
@dataclass(frozen=True, slots=True)
class RoomOpened:
    """A room was created. The first event of every room."""

    platform: PlatformId
    """The platform that the room belongs to."""
    owner: str
    """The platform's id of the player who owns the room."""
    options: RoomOptions
    reference: str = ""
    """The platform's own reference for the room, or empty. Seats and the public are never told it."""
    labels: tuple[Label, ...] = ()
    """The labels, sorted by key; each key occurs once."""


StoredEvent: TypeAlias = RoomOpened | Event
"""Every event that is stored for a room."""
