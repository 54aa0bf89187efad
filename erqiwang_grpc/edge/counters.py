"""What the edge counts while it works."""

from collections import Counter
from dataclasses import dataclass, field
from typing import final


@final
@dataclass(slots=True)
class Counters:
    """Counters for the metrics. All other values are looked up when they are scraped."""

    frames_in: int = 0
    frames_out: int = 0
    idle: int = 0
    """Sockets that were cut because the client was silent for too long."""
    resyncs: int = 0
    """Snapshots in place of what a slow socket did not take."""
    opened: Counter[str] = field(default_factory=Counter)
    """Sockets by subprotocol."""
    turned_away: Counter[str] = field(default_factory=Counter)
    """Requests for a socket that were refused, by why."""
    closed: Counter[int] = field(default_factory=Counter)
    """Sockets by close code; 1006 for those that were lost without one."""
