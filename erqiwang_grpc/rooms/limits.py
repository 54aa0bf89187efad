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
    """The limits of one server. A caller that reaches one gets a refusal that says which, and what to do."""

    rooms: int = 100_000
    """Rooms of all platforms in memory at which no new one is opened; those that are stored are still found."""
    streams: int = 20_000
    """Seat streams attached at once."""
    streams_per_seat: int = 16
    """Seat streams that one seat has open at once, displaced ones that are still ending among them."""
    watchers: int = 1_000
    """Streams of `WatchRooms` at once."""
    platform_rooms: int | None = None
    """Rooms of one platform, in memory or waiting for their seats, at which it opens no more; None for half of `rooms`."""
    platform_streams: int | None = None
    """Seat streams of one platform at once; None for half of `streams`."""
    platform_watchers: int | None = None
    """Streams of `WatchRooms` of one platform at once; None for half of `watchers`."""
    platform_calls_per_second: int = 500
    """Calls of `RoomService` taken from one platform in the long run; twice as many in a burst. `costs` has their prices."""
    unattached: int = 5_000
    """Seat streams that have not said `Attach` yet, at once."""
    health_watchers: int = 1_000
    """Streams of `Health.Watch` at once: strangers may open them."""
    reflections: int = 100
    """Streams of reflection at once: strangers may open them."""
    connections: int = 25_000
    """Connections at once; further ones are closed as they come."""
    streams_per_connection: int = 1_000
    """Calls and streams of one connection at once; its client waits in silence with further ones."""
    backlog: int = 5_000
    """Calls that wait to be taken, of all connections; further ones are turned away, and come again."""
    handshake_seconds: int = 10
    """How long a connection may take for TLS and the first settings of HTTP/2."""
    commands_per_second: int = 20
    """Commands taken from one seat in the long run; twice as many in a burst. `costs` has what else counts as how many."""
    slowed_seconds: float = 10.0
    """How long a stream beyond its allowance is read slowly before it ends."""
    message_bytes: int = 64 * 1024
    """The largest request."""
    outbox: int = 256
    """Messages kept for a stream that does not read; then one snapshot takes their place."""
    scrub_seconds: float = 10.0
    """How long between two stored rooms whose summary is held against their events."""
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
    unfilled_seconds: float = 30.0
    """How long such a room stays in memory while it waits for its seats to be taken."""

    @property
    def rooms_of_platform(self) -> int:
        """The quota of rooms."""
        return _half(self.rooms) if self.platform_rooms is None else self.platform_rooms

    @property
    def streams_of_platform(self) -> int:
        """The quota of seat streams."""
        return _half(self.streams) if self.platform_streams is None else self.platform_streams

    @property
    def watchers_of_platform(self) -> int:
        """The quota of watchers."""
        return _half(self.watchers) if self.platform_watchers is None else self.platform_watchers


def _half(total: int) -> int:
    """A platform's share of a total where none is given. Rounded up, so that a total of one can be used at all."""
    return (total + 1) // 2
