"""How many commands a seat may send: so many a second in the long run, twice as many in a burst."""

from typing import final

from erqiwang_grpc.rooms.limits import SECOND


@final
class Allowance:
    """A bucket that fills with time and from which every command takes one."""

    __slots__ = ("_last", "_left", "_per_second")

    def __init__(self, per_second: int, now_ns: int) -> None:
        self._per_second = per_second
        self._left = 2.0 * per_second
        self._last = now_ns

    def take(self, now_ns: int) -> bool:
        """Take one, if there is one."""
        gained = (now_ns - self._last) * self._per_second / SECOND
        self._left = min(self._left + gained, 2.0 * self._per_second)
        self._last = now_ns
        if self._left < 1:
            return False
        self._left -= 1
        return True
