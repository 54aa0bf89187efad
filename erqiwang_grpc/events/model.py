"""What a room's log holds: its opening, and then everything that the match brings about."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.match import Event
from erqiwang_core.options import RoomOptions


@final
@dataclass(frozen=True, slots=True)
class Label:
    """A word of the platform's own about a room. Seats and the public are never told."""

    key: str
    value: str


@final
@dataclass(frozen=True, slots=True)
class RoomOpened:
    """A room was opened: the first event of every log."""

    platform: str
    """Whose room it is."""
    owner: str
    """The player who opened it, in the platform's own words."""
    options: RoomOptions
    reference: str = ""
    """The platform's own name for the room; empty for none. Seats and the public are never told."""
    labels: tuple[Label, ...] = ()
    """In the order of their keys, each key once."""


StoredEvent: TypeAlias = RoomOpened | Event
"""Every event that a room logs."""
