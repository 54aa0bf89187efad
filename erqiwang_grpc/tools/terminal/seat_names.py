"""The names of seats: those of the players on them."""

from collections.abc import Iterable

from erqiwang_core.parts import Seen
from erqiwang_core.units import Seat

from erqiwang_grpc.names import printable


def name(view: Seen, seat: Seat) -> str:
    """The player on a seat, with hidden characters escaped; `seat 2` if seat 2 is free."""
    return printable(view.chairs.players[seat] or f"seat {seat}")


def names(view: Seen, seats: Iterable[Seat]) -> str:
    """The names of several seats, separated by commas."""
    return ", ".join(name(view, seat) for seat in seats)
