"""What seats are called."""

from collections.abc import Iterable

from erqiwang_core.parts import Seen
from erqiwang_core.units import Seat

from erqiwang_grpc.names import printable


def name(view: Seen, seat: Seat) -> str:
    """The player of a seat, in printable characters, or the seat itself where it is free."""
    return printable(view.chairs.players[seat] or f"seat {seat}")


def names(view: Seen, seats: Iterable[Seat]) -> str:
    """Several of them, with commas."""
    return ", ".join(name(view, seat) for seat in seats)
