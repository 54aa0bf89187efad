"""The allowance of a socket: how many messages it may send."""

from typing import final


@final
class Allowance:
    """So many messages a second in the long run, and twice as many in a burst."""

    def __init__(self, per_second: int, now: float) -> None:
        self._rate = per_second
        self._left = 2.0 * per_second
        self._at = now
        self._beyond_since = now

    def spend(self, now: float) -> float:
        """Pay for one message; gives how many seconds to wait before it is taken: 0 if it is within the allowance."""
        self._left = min(2.0 * self._rate, self._left + (now - self._at) * self._rate) - 1
        self._at = now
        if self._left >= 0:
            self._beyond_since = now
        return max(0.0, -self._left / self._rate)

    @property
    def beyond(self) -> float:
        """For how many seconds each message had to wait."""
        return self._at - self._beyond_since
