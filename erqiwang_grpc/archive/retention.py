"""Retention: deletes matches that ended long ago, a few at a time, so that no player has to wait."""

import asyncio
import logging
from typing import Final

from erqiwang_grpc.events.index import ENDED
from erqiwang_grpc.store import RoomId, Store, TimeNs, Unavailable

log = logging.getLogger(__name__)

_AT_ONCE: Final = 20
"""Most rooms deleted in one step. Appends wait during a step, some ten milliseconds."""
_PAUSE_SECONDS: Final = 0.05


async def delete_old_matches(events: Store, before: TimeNs, at_once: int = _AT_ONCE) -> tuple[RoomId, ...]:
    """Delete the matches that ended before `before`, and give their rooms. It stops if the store is unavailable."""
    deleted: list[RoomId] = []
    while True:
        gone = await events.delete_rooms(ENDED, before, at_once)
        if isinstance(gone, Unavailable):
            log.error("old matches are not deleted", extra={"why": gone.why})
            break
        if not set(gone).isdisjoint(deleted):
            log.error(
                "old matches are not deleted", extra={"why": "the store lists again what was deleted: it is damaged"}
            )
            break
        deleted += gone
        if len(gone) < at_once:
            break
        await asyncio.sleep(_PAUSE_SECONDS)
    if deleted:
        log.info("old matches deleted", extra={"count": len(deleted)})
    return tuple(deleted)
