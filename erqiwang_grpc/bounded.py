"""A bound on how often something is said, with a count of what was left out."""

from __future__ import annotations

from typing import final


@final
class Bounded:
    """Lets `most` things be said in each span of `seconds`, and counts the others."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self.seconds = seconds
        self._began = float("-inf")
        self._said = 0
        self.left_out = 0
        """What was left out since `take_left_out` was called last."""

    def is_said(self, now: float) -> bool:
        """Whether one more thing is said at `now`. If not, it is counted."""
        if now - self._began >= self.seconds:
            self._began, self._said = now, 0
        if self._said < self._most:
            self._said += 1
            return True
        self.left_out += 1
        return False

    def is_full(self, now: float) -> bool:
        """Whether something said at `now` would be left out."""
        return now - self._began < self.seconds and self._said >= self._most

    def take_left_out(self) -> int:
        """How many things were left out; from now on they are counted afresh."""
        number, self.left_out = self.left_out, 0
        return number
