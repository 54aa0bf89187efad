"""Quotas: how much of one server a platform may use, so that no platform can use it up for all others."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, final

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import Monotonic
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.rate_limit import Allowance
from erqiwang_grpc.rooms.refusals import Quota, QuotaReached

_ROOMS_WAIT: Final = 60.0
_STREAMS_WAIT: Final = 5.0
"""Seconds after which a refused caller should try again, since a place may be free by then."""


@final
class Quotas:
    """What each platform uses of this server now."""

    def __init__(self, limits: Limits, monotonic: Monotonic) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._streams: Counter[PlatformId] = Counter()
        self._watchers: Counter[PlatformId] = Counter()
        self._spectators: Counter[PlatformId] = Counter()
        self._gateways: Counter[PlatformId] = Counter()
        self._unattached: Counter[PlatformId] = Counter()
        self._calls: dict[PlatformId, Allowance] = {}

    def call(self, platform: PlatformId, cost: float) -> QuotaReached | None:
        """Take `cost` units from the platform's allowance; the refusal if they are not there, None if paid."""
        wait = self._calls_of(platform).take(cost, self._monotonic())
        if not wait:
            return None
        return QuotaReached(Quota.CALLS, self._limits.platform_calls_per_second, wait)

    def owe(self, platform: PlatformId, cost: float) -> None:
        """Take `cost` units even if they are not there: for work whose cost is known only after it is done."""
        self._calls_of(platform).spend(cost, self._monotonic())

    def watch(self, platform: PlatformId, cost: float) -> float:
        """Take `cost` units for what a watcher is to be told; gives the seconds that it must wait before, 0 if none.

        A watcher waits while less than half a burst is left: however long a history is read, calls find an allowance.
        """
        allowance, now = self._calls_of(platform), self._monotonic()
        allowance.spend(cost, now)
        return allowance.until(allowance.most / 2, now)

    def _calls_of(self, platform: PlatformId) -> Allowance:
        # This dictionary stays small: only platforms with a valid key get here.
        allowance = self._calls.get(platform)
        if allowance is None:
            allowance = Allowance(self._limits.platform_calls_per_second, self._monotonic())
            self._calls[platform] = allowance
        return allowance

    def room(self, has: int) -> QuotaReached | None:
        """The refusal if a platform that `has` this many open rooms may open no more; None if it may."""
        most = self._limits.rooms_of_platform
        return QuotaReached(Quota.ROOMS, most, _ROOMS_WAIT) if has >= most else None

    def stream(self, platform: PlatformId) -> QuotaReached | None:
        """The refusal if the platform may open no more seat streams; None if it may."""
        most = self._limits.streams_of_platform
        return QuotaReached(Quota.STREAMS, most, _STREAMS_WAIT) if self._streams[platform] >= most else None

    def watcher(self, platform: PlatformId) -> QuotaReached | None:
        """The refusal if the platform may open no more streams of `WatchRooms`; None if it may."""
        most = self._limits.watchers_of_platform
        return QuotaReached(Quota.WATCHERS, most, _STREAMS_WAIT) if self._watchers[platform] >= most else None

    def spectator(self, platform: PlatformId) -> QuotaReached | None:
        """The refusal if no more spectators may watch the platform's rooms; None if one more may."""
        most = self._limits.spectators_of_platform
        return QuotaReached(Quota.SPECTATORS, most, _STREAMS_WAIT) if self._spectators[platform] >= most else None

    def gateway(self, platform: PlatformId) -> QuotaReached | None:
        """The refusal if the platform may open no more gateway streams; None if it may."""
        most = self._limits.gateways_of_platform
        return QuotaReached(Quota.GATEWAYS, most, _STREAMS_WAIT) if self._gateways[platform] >= most else None

    def unattached(self, platform: PlatformId) -> QuotaReached | None:
        """The refusal if no more of the platform's seat streams may wait for `Attach`; None if one more may."""
        most = self._limits.unattached_of_platform
        return QuotaReached(Quota.UNATTACHED, most, _STREAMS_WAIT) if self._unattached[platform] >= most else None

    @contextmanager
    def streaming(self, platform: PlatformId) -> Iterator[None]:
        """Count a stream of one of the platform's seats until the context is left."""
        with _counted(self._streams, platform):
            yield

    @contextmanager
    def attaching(self, platform: PlatformId) -> Iterator[None]:
        """Count a stream of one of the platform's seats that waits for `Attach` until the context is left."""
        with _counted(self._unattached, platform):
            yield

    @contextmanager
    def connecting(self, platform: PlatformId) -> Iterator[None]:
        """Count a gateway stream until the context is left."""
        with _counted(self._gateways, platform):
            yield

    @contextmanager
    def spectating(self, platform: PlatformId) -> Iterator[None]:
        """Count a spectator of one of the platform's rooms until the context is left."""
        with _counted(self._spectators, platform):
            yield

    @contextmanager
    def watching(self, platform: PlatformId) -> Iterator[None]:
        """Count a stream of `WatchRooms` until the context is left."""
        with _counted(self._watchers, platform):
            yield


@contextmanager
def _counted(counter: Counter[PlatformId], platform: PlatformId) -> Iterator[None]:
    counter[platform] += 1
    try:
        yield
    finally:
        counter[platform] -= 1
        if not counter[platform]:
            del counter[platform]
