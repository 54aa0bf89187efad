"""Stored entries that wait until a spectator may be told of them, in the order of their versions."""

from collections import deque
from collections.abc import Iterable
from itertools import islice, takewhile
from typing import Final, Protocol, final

from erqiwang_core.match import DealStarted, MatchEnded
from erqiwang_core.settlement import DealSettled

from erqiwang_grpc.auth.tokens import Delayed, Lateness, SettledDeals
from erqiwang_grpc.events import read
from erqiwang_grpc.rooms.limits import SECOND
from erqiwang_grpc.store import Entry, TimeNs

_MILLISECOND: Final = SECOND // 1_000
_BREATH_SECONDS: Final = 1.0


class Waiting(Protocol):
    """The entries that were read and not told yet. There are at most those of a whole match."""

    def add(self, entries: Iterable[Entry]) -> None:
        """Add the next entries of the room."""

    def take(self, now: TimeNs, most: int) -> tuple[Entry, ...]:
        """Remove and give the first entries that may be told at that time on the wall clock, at most so many."""

    def seconds(self, now: TimeNs) -> float | None:
        """After how many seconds the next entry may be told; None if time alone brings none."""

    def moment(self, now: TimeNs) -> TimeNs:
        """Which time a spectator is shown."""


@final
class ByTime:
    """Each entry waits for the delay, counted from the time that the log says."""

    def __init__(self, delay: Delayed) -> None:
        self._delay = delay.milliseconds * _MILLISECOND
        self._entries: deque[Entry] = deque()

    def add(self, entries: Iterable[Entry]) -> None:
        """Add the next entries of the room."""
        self._entries.extend(entries)

    def take(self, now: TimeNs, most: int) -> tuple[Entry, ...]:
        """Remove and give the first entries whose delay has passed. The times in a room never go back."""
        moment = self.moment(now)
        taken = tuple(takewhile(lambda entry: entry.time <= moment, islice(self._entries, most)))
        for _ in taken:
            self._entries.popleft()
        return taken

    def seconds(self, now: TimeNs) -> float | None:
        """After how many seconds the delay of the next entry has passed; None if no entry waits."""
        return max(0, self._entries[0].time - self.moment(now)) / SECOND if self._entries else None

    def moment(self, now: TimeNs) -> TimeNs:
        """The time now, less the delay."""
        return TimeNs(now - self._delay)


@final
class ByDeal:
    """The entries of a deal wait until it is settled, or the match has ended. What happens between deals does not wait."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._ready = 0
        """How many of them may be told."""
        self._is_dealt = False
        """Whether a deal is in play after the last of them."""

    def add(self, entries: Iterable[Entry]) -> None:
        """Add the next entries of the room."""
        for entry in entries:
            self._entries.append(entry)
            match read(entry.body, entry.rules_version):
                case DealStarted():
                    self._is_dealt = True
                case DealSettled() | MatchEnded():
                    self._is_dealt = False
                case _:
                    pass
            if not self._is_dealt:
                self._ready = len(self._entries)

    def take(self, now: TimeNs, most: int) -> tuple[Entry, ...]:
        """Remove and give the first entries up to the last settled deal, and those after it until the next one begins."""
        taken = tuple(self._entries[: min(most, self._ready)])
        del self._entries[: len(taken)]
        self._ready -= len(taken)
        return taken

    def seconds(self, now: TimeNs) -> float | None:
        """None: a deal is settled by its seats alone."""
        return None

    def moment(self, now: TimeNs) -> TimeNs:
        """The time now, which says nothing of the deal in play."""
        return now


def waiting(lateness: Lateness) -> Waiting:
    """Where the entries wait for spectators that are told so late."""
    match lateness:
        case Delayed():
            return ByTime(lateness)
        case SettledDeals():
            return ByDeal()


def breath(lateness: Lateness) -> float:
    """How many seconds after a wakeup the log is read.

    It is late enough for one read to find several turns, and early enough to tell nothing later than it may be told.
    """
    match lateness:
        case Delayed(milliseconds):
            return min(milliseconds / 2_000, _BREATH_SECONDS)
        case SettledDeals():
            return _BREATH_SECONDS
