"""What a server takes on, and how long it waits: every number that an operator may want to change."""

from dataclasses import dataclass
from typing import Final, final

SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
DAY: Final = 24 * 60 * MINUTE
"""In nanoseconds, as times are."""


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server. Whoever meets one is told so, and what to do."""

    rooms: int = 100_000
    """Rooms of all platforms in memory at which no new one is opened; those that are stored are still found."""
    streams: int = 20_000
    """Seat streams attached at once."""
    streams_per_seat: int = 16
    """Seat streams that one seat has open at once, displaced ones that are still ending among them."""
    watchers: int = 1_000
    """Streams of `WatchRooms` at once."""
    commands_per_second: int = 20
    """Commands taken from one seat in the long run; twice as many in a burst."""
    message_bytes: int = 64 * 1024
    """The largest request."""
    outbox: int = 256
    """Messages kept for a stream that does not read; then one snapshot takes their place."""
    rooms_scanned: int = 2_000
    """How many rooms one `ListRooms` call looks at for a state before it answers with what it has."""
    attach_seconds: float = 30.0
    """How long a stream may wait before it says `Attach`."""
    heartbeat_seconds: float = 20.0
    """How long a stream may be silent before the server says that it is there."""
    absent_seconds: float = 60.0
    """How long a seat may be silent before it is shown absent."""
    frozen_seconds: float = 6.0
    """How long a direct connection may leave a ping unanswered, at the most, before it is given up."""
    fill_minutes: int = 30
    """How long a room may wait for its last seat to be taken."""
    idle_minutes: int = 10
    """How long a room nobody is attached to stays in memory."""
