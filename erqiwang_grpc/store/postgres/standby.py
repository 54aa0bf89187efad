"""What a standby is known to have.

A commit that waits for its standby cannot be read by others until the standby has it, unless somebody ends the wait:
then it can be read at once, and is lost if the standby becomes the primary. So on a server whose commits wait, a node
answers what it has read only when it knows that the standby has it too. It finds out by a write of its own, which waits
for everything that was committed before. One such write serves all who have read something before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, final

from erqiwang_grpc.store.postgres.connections import Connection

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

WAITS: Final = "current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') <> 'local'"
"""Whether commits wait for a standby."""
TIMELINE: Final = "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)"
"""It changes with every failover."""
_SEEN: Final = (
    f"SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS below, {TIMELINE} AS timeline WHERE {WAITS}"
)
_CONFIRM: Final = f"""SELECT pg_logical_emit_message(true, 'erqiwang', ''), pg_current_xact_id()::text::bigint AS own,
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS open, {TIMELINE} AS timeline"""


@final
@dataclass(frozen=True, slots=True)
class Seen(Generic[T_co]):
    """An answer, and what the standby must have before it may be given."""

    answer: T_co
    below: int
    """A number above those of all transactions that it shows; 0 if it shows nothing."""
    timeline: str | None
    """The timeline of the server; None if its commits wait for no standby."""


@final
@dataclass(frozen=True, slots=True)
class Confirmed:
    """The standby has every committed transaction with a number below `below`."""

    below: int
    timeline: str | None


async def seen(db: Connection, query: Callable[[Connection], Coroutine[object, object, T]]) -> Seen[T]:
    """The answer to a query, and what was committed by then."""
    answer = await query(db)
    row = await db.fetchrow(_SEEN)
    return Seen(answer, 0, None) if row is None else Seen(answer, row["below"], row["timeline"])


async def confirm(db: Connection) -> Confirmed:
    """Write something, which waits for the standby. Everything that could be read before is there then."""
    row = await db.fetchrow(_CONFIRM)
    assert row is not None, "the statement gives one row"
    # Numbers between the oldest open transaction and this one may belong to others that are still open.
    return Confirmed(row["own"] + 1 if row["open"] == row["own"] else row["open"], row["timeline"])


@final
class Standby:
    """What the standby is known to have, as far as this node has asked."""

    def __init__(self, write: Callable[[], Awaitable[Confirmed]]) -> None:
        self._write = write
        self._known = Confirmed(0, None)
        self._writing: asyncio.Task[Confirmed] | None = None
        self._next: asyncio.Task[Confirmed] | None = None

    async def has(self, seen: Seen[object]) -> bool:
        """Whether the standby has what was seen. Waits for it; another server may be the primary by then, which gives False.

        Raises what the write raises.
        """
        if seen.timeline is None or seen.below == 0 or self._covers(seen):
            return True
        if self._next is None:
            self._next = asyncio.create_task(self._confirm(self._writing))
            self._next.add_done_callback(_looked_at)
        known = await asyncio.shield(self._next)
        return known.timeline == seen.timeline

    def _covers(self, seen: Seen[object]) -> bool:
        return seen.timeline == self._known.timeline and seen.below <= self._known.below

    async def _confirm(self, before: asyncio.Task[Confirmed] | None) -> Confirmed:
        """Write once the write before this one has ended. Callers that come meanwhile wait for this one."""
        if before is not None:
            await asyncio.wait((before,))
        self._writing, self._next = self._next, None
        self._known = await self._write()
        return self._known


def _looked_at(confirming: asyncio.Task[Confirmed]) -> None:
    """Take note of how it ended: all who waited for it may have left."""
    if not confirming.cancelled():
        confirming.exception()
