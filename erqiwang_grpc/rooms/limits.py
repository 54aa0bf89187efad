"""The limits of a server: every number that an operator may want to change.

Most are kept by rooms, quotas and streams of this service. Some are the gRPC transport's own, which gRPC keeps before any
code here runs: `connections`, `streams_per_connection`, `backlog`, `handshake_seconds`, `message_bytes`, and
`frozen_seconds`, which sets how often a connection is pinged. `health_watchers` and `reflections` bound services that only
this transport has.
"""

from dataclasses import dataclass
from typing import Final, final

# In nanoseconds, the unit of `TimeNs`.
SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
DAY: Final = 24 * 60 * MINUTE


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server. A caller that reaches one is told which limit it is and what to do."""

    rooms: int = 100_000
    """Most open rooms of all platforms. At this number no room is created; stored rooms are still found."""
    streams: int = 20_000
    """Most open seat streams, including those that have not sent `Attach` yet and displaced ones that are still ending."""
    streams_per_seat: int = 16
    """Most open seat streams of one seat, including displaced ones that are still ending."""
    watchers: int = 1_000
    """Most streams of `WatchRooms` at once."""
    spectators: int = 10_000
    """Most streams of spectators at once."""
    spectators_per_room: int = 1_000
    """Most streams of spectators of one room at once."""
    platform_rooms: int | None = None
    """Most open rooms of one platform: those in memory or waiting for their seats. None for half of `rooms`."""
    platform_streams: int | None = None
    """Most seat streams of one platform at once; None for half of `streams`."""
    platform_watchers: int | None = None
    """Most streams of `WatchRooms` of one platform at once; None for half of `watchers`."""
    platform_spectators: int | None = None
    """Most streams of spectators of one platform's rooms at once; None for half of `spectators`."""
    platform_unattached: int | None = None
    """Most seat streams of one platform that have not sent `Attach` yet; None for half of `unattached`."""
    platform_calls_per_second: int = 500
    """Units a second that one platform may spend on `RoomService`, twice as many in a burst. See `costs`."""
    unattached: int = 5_000
    """Most seat streams that have not sent `Attach` yet."""
    health_watchers: int = 1_000
    """Most streams of `Health.Watch` at once, which may be opened without a key."""
    reflections: int = 100
    """Most streams of reflection at once, which may be opened without a key."""
    connections: int = 25_000
    """Most connections at once. A further one is closed when it is accepted."""
    streams_per_connection: int = 1_000
    """Most calls and streams of one connection at once. The client's library holds back others without an error."""
    backlog: int = 5_000
    """Most calls of all connections that wait to be handled. Further ones are refused and may be tried again."""
    handshake_seconds: int = 10
    """Seconds that a connection may take for TLS and the first settings of HTTP/2."""
    commands_per_second: int = 20
    """Units a second that one seat may spend, twice as many in a burst. A command is one unit; see `costs`."""
    slowed_seconds: float = 10.0
    """Seconds that a stream beyond its allowance is read slowly before it ends."""
    gateways: int = 100
    """Most gateway streams at once."""
    platform_gateways: int | None = None
    """Most gateway streams of one platform at once; None for half of `gateways`."""
    seats_per_gateway: int = 30_000
    """Most seats that one gateway stream may have open."""
    gateway_bytes: int = 16 * 1024 * 1024
    """Most bytes kept for a gateway that does not read. After that, seats get one snapshot in place of what waited."""
    commands_per_gateway: int = 20_000
    """Units a second that all seats of one gateway stream may spend together, twice as many in a burst."""
    message_bytes: int = 64 * 1024
    """Most bytes of one request."""
    outbox: int = 256
    """Most messages kept for a client that does not read. After that, one snapshot takes their place."""
    scrub_seconds: float = 10.0
    """Seconds between two checks of a stored summary against its room's events."""
    attach_seconds: float = 30.0
    """Seconds that a stream may stay open before its client sends `Attach`."""
    heartbeat_seconds: float = 20.0
    """Seconds without a message to a client after which it gets a heartbeat."""
    absent_seconds: float = 60.0
    """Seconds without a message from a client after which its seat is shown as absent."""
    frozen_seconds: float = 6.0
    """Most seconds until a direct connection is closed whose client does not answer pings."""
    seat_changes: int = 1_000
    """Most times that the seats of one room are given or freed. Nothing else can make a room grow without end."""
    fill_minutes: int = 30
    """Minutes that a room may wait for its match to begin before it is disbanded."""
    idle_minutes: int = 10
    """Minutes that a room stays in memory while nobody is attached to it."""
    unfilled_seconds: float = 30.0
    """Seconds that such a room stays in memory while it waits for its seats to be taken."""

    @property
    def rooms_of_platform(self) -> int:
        """Most open rooms of one platform."""
        return _half(self.rooms) if self.platform_rooms is None else self.platform_rooms

    @property
    def streams_of_platform(self) -> int:
        """Most seat streams of one platform at once."""
        return _half(self.streams) if self.platform_streams is None else self.platform_streams

    @property
    def watchers_of_platform(self) -> int:
        """Most streams of `WatchRooms` of one platform at once."""
        return _half(self.watchers) if self.platform_watchers is None else self.platform_watchers

    @property
    def spectators_of_platform(self) -> int:
        """Most streams of spectators of one platform's rooms at once."""
        return _half(self.spectators) if self.platform_spectators is None else self.platform_spectators

    @property
    def gateways_of_platform(self) -> int:
        """Most gateway streams of one platform at once."""
        return _half(self.gateways) if self.platform_gateways is None else self.platform_gateways

    @property
    def unattached_of_platform(self) -> int:
        """Most seat streams of one platform that have not sent `Attach` yet."""
        return _half(self.unattached) if self.platform_unattached is None else self.platform_unattached


def _half(total: int) -> int:
    """Half of a total, rounded up, so that a platform may use a total of one."""
    return (total + 1) // 2
