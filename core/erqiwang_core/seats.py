"""The seats of a table: their order, and a tuple that holds one value for each."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, Generic, TypeVar, final

from erqiwang_core.units import Seat

T = TypeVar("T")
U = TypeVar("U")


@cache
def seats(count: int) -> tuple[Seat, ...]:
    """All seats of a table with `count` seats, seat 0 first."""
    return tuple(Seat(number) for number in range(count))


def next_seat(seat: Seat, count: int) -> Seat:
    """The next seat (下家), counter-clockwise, at a table with `count` seats (rules §1)."""
    return Seat((seat + 1) % count)


def seats_after(seat: Seat, count: int) -> tuple[Seat, ...]:
    """The other seats in order of play, the next seat of `seat` first."""
    return tuple(Seat((seat + step) % count) for step in range(1, count))


@final
class BySeat(Generic[T]):
    """One value for every seat, seat 0 first.

    It is no dataclass, because mypyc cannot compile a generic one.
    """

    __slots__ = ("values",)
    __match_args__ = ("values",)

    def __init__(self, values: tuple[T, ...]) -> None:
        self.values: Final = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BySeat) and self.values == other.values

    def __hash__(self) -> int:
        return hash((self.values,))

    def __reduce__(self) -> "tuple[type[BySeat[T]], tuple[tuple[T, ...]]]":
        # Pickled and copied by its value, compiled too.
        return BySeat, (self.values,)

    def __repr__(self) -> str:
        return f"BySeat(values={self.values!r})"

    def __getitem__(self, seat: Seat) -> T:
        return self.values[seat]

    def __iter__(self) -> Iterator[T]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def seats(self) -> tuple[Seat, ...]:
        """All seats of the table, seat 0 first."""
        return seats(len(self.values))

    def items(self) -> Iterator[tuple[Seat, T]]:
        """Each seat with its value, seat 0 first."""
        return zip(self.seats(), self.values, strict=True)

    def put(self, seat: Seat, value: T) -> "BySeat[T]":
        """A copy with `value` at `seat`."""
        return BySeat((*self.values[:seat], value, *self.values[seat + 1 :]))

    def map(self, function: Callable[[T], U]) -> "BySeat[U]":
        """`function` applied to the value of each seat."""
        return BySeat(tuple(function(value) for value in self.values))


def by_seat(count: int, function: Callable[[Seat], T]) -> BySeat[T]:
    """`function(seat)` for each seat of a table with `count` seats."""
    return BySeat(tuple(function(seat) for seat in seats(count)))
