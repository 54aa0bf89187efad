"""The lock of the node that keeps house: it alone expires rooms and deletes old matches. There is no other election."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from erqiwang_grpc.store.postgres.connections import Connection

log = logging.getLogger(__name__)

LOCK: Final = 0x45525148
"""The advisory lock: "ERQH"."""
# The session of a node that is frozen stays open, since its machine answers for it. The database ends it when nothing was
# asked on it for so long, and another node may take the lock. PostgreSQL 13 has no such setting.
_LEAVE_TO_OTHERS: Final = """SELECT set_config('idle_session_timeout', '60s', false)
WHERE current_setting('idle_session_timeout', true) IS NOT NULL"""


@final
class HouseLock:
    """Held by one node on a database at most, on one connection, and lost with it.

    A node that has lost it may not know it for a moment, and then two keep house. Their work is safe to do twice.
    """

    def __init__(self) -> None:
        self._held_on: Connection | None = None
        self._prepared: Connection | None = None

    @property
    def is_held(self) -> bool:
        """Whether this node has the lock."""
        return self._held_on is not None and not self._held_on.is_closed()

    async def seek(self, db: Connection) -> None:
        """Take the lock if nobody has it. Call it now and then, on the one connection that is kept."""
        if self._prepared is not db:
            await db.execute(_LEAVE_TO_OTHERS)
            self._prepared = db
        if self._held_on is not db:
            is_taken: bool = await db.fetchval("SELECT pg_try_advisory_lock($1)", LOCK)
            self._held_on = db if is_taken else None
            if is_taken:
                log.info("keeps house")
