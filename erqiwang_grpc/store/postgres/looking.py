"""What the database tells of itself for metrics: who holds the feed up, and how far its standbys are behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, final

import asyncpg

from erqiwang_grpc.store.figures import Looked
from erqiwang_grpc.store.postgres.standby import WAITS

if TYPE_CHECKING:
    from erqiwang_grpc.store.postgres.connections import Connection
    from erqiwang_grpc.store.postgres.database_clock import DatabaseClock

_LOOK: Final = f"""
SELECT pg_snapshot_xmin(s)::text::bigint AS oldest, pg_snapshot_xmax(s)::text::bigint AS next,
  (SELECT max(extract(epoch FROM clock_timestamp() - xact_start)) FROM pg_stat_activity
    WHERE backend_xid IS NOT NULL)::double precision AS seconds,
  {WAITS} AS waits, r.standbys, r.lag_seconds, r.lag_bytes
FROM pg_current_snapshot() s, (
  SELECT count(*) AS standbys,
    (max(extract(epoch FROM coalesce(replay_lag, interval '0'))) FILTER (WHERE replay_lsn IS NOT NULL))::double precision
      AS lag_seconds,
    max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint AS lag_bytes
  FROM pg_stat_replication) r
"""


@final
@dataclass(frozen=True, slots=True)
class _Answer:
    at: float
    looked: Looked


@final
class Looking:
    """The last look at the database."""

    def __init__(self, clock: DatabaseClock, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._answer: _Answer | None = None
        self._oldest: int | None = None
        self._oldest_since = 0.0

    async def look(self, db: Connection) -> None:
        """Ask the database. A role that may not ask has no figures."""
        try:
            row = await db.fetchrow(_LOOK)
        except asyncpg.InsufficientPrivilegeError:
            self._answer = None
            return
        assert row is not None, "the statement gives one row"
        now = self._monotonic()
        looked = Looked(
            seconds_ago=0.0,
            oldest_writer_seconds=max(row["seconds"] or 0.0, self._open_for(row["oldest"], row["next"], now)),
            standbys=row["standbys"],
            waits_for_standby=row["waits"],
            lag_seconds=row["lag_seconds"],
            lag_bytes=row["lag_bytes"],
            clock_ahead=self._clock.ahead,
        )
        self._answer = _Answer(now, looked)

    def _open_for(self, oldest: int, following: int, now: float) -> float:
        """How long the oldest writing transaction has been open, as far as this node has seen.

        The database tells when a transaction began only to the role that began it, and to `pg_monitor`. Which one is the
        oldest it tells everybody, as soon as a later one has ended: `following` comes after the last one that has.
        """
        if oldest >= following:
            self._oldest = None
            return 0.0
        if oldest != self._oldest:
            self._oldest, self._oldest_since = oldest, now
        return now - self._oldest_since

    @property
    def looked(self) -> Looked | None:
        """What the database said, and how long ago; None if it was not asked yet."""
        answer = self._answer
        if answer is None:
            return None
        return replace(answer.looked, seconds_ago=self._monotonic() - answer.at)
