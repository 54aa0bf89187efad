"""The allowance of a socket: how many messages it may send."""

from typing import final


@final
class Allowance:
    """So many messages a second in the long run, and twice as many in a burst."""

    def __init__(self, per_second: int, now: float) -> None:
        self._rate = per_second
        self._left = 2.0 * per_second
        self._at = now

    def spend(self, now: float) -> float:
        """Pay for one message; gives how many seconds too early it came: 0 if it is within the allowance."""
        self._left = min(2.0 * self._rate, self._left + (now - self._at) * self._rate) - 1
        self._at = now
        return max(0.0, -self._left / self._rate)
