"""Retention: matches that ended long ago are deleted, a few at a time, so that nobody waits for it."""

import asyncio
import logging
from typing import Final

from erqiwang_grpc.events.index import ENDED
from erqiwang_grpc.store import RoomId, Store, TimeNs, Unavailable

log = logging.getLogger(__name__)

_AT_ONCE: Final = 20
"""Rooms deleted in one step: appends wait for as long, some ten milliseconds."""
_PAUSE_SECONDS: Final = 0.05


async def delete_old_matches(events: Store, before: TimeNs, at_once: int = _AT_ONCE) -> tuple[RoomId, ...]:
    """Delete every match that ended before a time, and say which; stops where the store takes nothing now."""
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
