"""What each kind of work costs its caller, in units of the caller's allowance.

One unit is an ordinary command, which takes about a millisecond of one CPU core, its share of gRPC included. The other
costs were measured against it. `docs/operations.md` shows the same table, and a test compares the two.
"""

from dataclasses import dataclass
from enum import Enum
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Price:
    """The cost in units, and the work it is for."""

    units: float
    what: str


@final
class Work(Enum):
    """All work that is paid for. The first rows are paid by the seat, the last ones by the platform."""

    COMMAND = Price(1, "a command on a stream or by `Act`: accepted, refused, repeated or not understood")
    HINT = Price(1, "a hint on a stream or by `GetHint`: given or refused")
    HEARTBEAT = Price(0.5, "a heartbeat or an empty request on a stream")
    SNAPSHOT = Price(1, "`Attach`, on a new stream or again on one that is attached; `GetView`")
    RECORD = Price(2, "`GetRecord`, or the same request on a stream; `GetMatchRecord`")
    DEAL = Price(3, "each deal in it that is read for the first time, or for the first time in a long while")
    CALL = Price(1, "any call of `RoomService`, the opening of `WatchRooms` among them")
    WATCHED = Price(
        0.5,
        "each event that `WatchRooms` reads from the store to tell it, and each presence of a room, to each watcher",
    )
    ROW = Price(0.5, "each room or match that `ListRooms` or `ListMatchRecords` reads from the store")
    LOOK = Price(0.002, "each room that such a list looks at, whether it is on the page or not")
    EVENT = Price(
        0.1,
        "each event that is read to open a room for a call of `RoomService`, to check a room of a list whose summary does "
        "not fit it, or to know a room whose presence `WatchRooms` tells",
    )

    @property
    def units(self) -> float:
        """The cost in units."""
        return self.value.units
