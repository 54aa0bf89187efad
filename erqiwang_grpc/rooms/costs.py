"""What a caller's work costs of its allowance: the one table of it.

The unit is a usual command, which takes about a millisecond of a core together with its share of gRPC; the others were
measured beside it. `docs/operations.md` shows the same table, and a test compares.
"""

from dataclasses import dataclass
from enum import Enum
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Price:
    """How much is taken, and for what."""

    units: float
    what: str


@final
class Work(Enum):
    """Everything that is paid for. The first rows are paid by the seat, the last ones by the platform."""

    COMMAND = Price(1, "a command on a stream or by `Act`: accepted, refused, repeated or not understood")
    HEARTBEAT = Price(0.5, "a heartbeat or an empty request on a stream")
    SNAPSHOT = Price(1, "`Attach`, on a new stream or again on one that is attached; `GetView`")
    RECORD = Price(2, "`GetRecord`, `GetMatchRecord`")
    DEAL = Price(3, "each deal in it that is read for the first time, or for the first time in a long while")
    CALL = Price(1, "any call of `RoomService`, the opening of `WatchRooms` among them")
    ROW = Price(3, "each room or match that `ListRooms` or `ListMatchRecords` reads from the store")

    @property
    def units(self) -> float:
        """How much it costs."""
        return self.value.units
