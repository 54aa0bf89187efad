"""Histograms as plain numbers, so that counting costs well below a microsecond."""

from bisect import bisect_left
from typing import Final, final

SECONDS: Final = (
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
)  # fmt: skip
"""Bounds for durations, from work in memory up to a disk or a network that is stuck."""


@final
class Histogram:
    """Numbers counted in classes. It is written by one thread, and may be read by another."""

    __slots__ = ("bounds", "classes", "sum")

    def __init__(self, bounds: tuple[float, ...] = SECONDS) -> None:
        self.bounds = bounds
        """The largest number of each class, in ascending order. One more class holds all larger ones."""
        self.classes = [0] * (len(bounds) + 1)
        """How many numbers fell in each class."""
        self.sum = 0.0
        """All numbers together."""

    def observe(self, number: float) -> None:
        """Count a number."""
        self.sum += number
        self.classes[bisect_left(self.bounds, number)] += 1
