"""What a load process is told to do, and what it tells when it has done it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

Kind: TypeAlias = Literal["server", "relay"]
Way: TypeAlias = Literal["streams", "gateway"]
"""How seats reach what serves them: each on a stream of its own, or all of a load process on one gateway stream."""


@final
@dataclass(frozen=True, slots=True)
class Orders:
    """What one load process has to do."""

    kind: Kind
    """What serves the addresses."""
    addresses: list[str]
    """One for each node; the rooms are shared out to them in turn. A gateway stream goes to the first alone."""
    name: str
    """Differs from the name of every other load process."""
    key: str
    """The platform's key; empty for the relay."""
    options: str
    """The options of each room: `RoomOptions` as JSON."""
    seats: int
    """The number of seats in a room with these options."""
    rooms: int
    """The number of rooms to play at the same time, each at a table of its own."""
    seconds: float
    """The longest time that the rooms play, in seconds; 0 if the seats only stay attached."""
    deals: int | None
    """The number of deals after which a table stops; None for no limit."""
    rate: float | None
    """The most turns a second at all tables together; None for no limit."""
    spread: bool = False
    """Whether the seats of a room are attached to different nodes; otherwise all are attached to the room's own one."""
    way: Way = "streams"
    gateway_key: str = ""
    """The key of a gateway stream; empty for the relay, and where each seat has a stream of its own."""
    lead_in: int = 0
    """The number of turns over which tables are spread before the measurement: table k of n first plays k/n of them.

    So a measurement has turns of all parts of a deal, however few a room plays in it. With 0 all tables begin together.
    """

    def address(self, room: int, seat: int) -> str:
        """The node to which a seat of a room is attached."""
        return self.addresses[(room + seat if self.spread else room) % len(self.addresses)]


@final
@dataclass(slots=True)
class Played:
    """What one load process has measured."""

    turns: int = 0
    seconds: float = 0.0
    """How long the rooms played, in seconds."""
    latencies: list[int] = field(default_factory=list)
    """The time from each command to its answer, in microseconds. The answer comes in one response with the notice."""
    failed: int = 0
    """The number of tables that failed: a stream ended early, a call failed, or a command was refused."""
