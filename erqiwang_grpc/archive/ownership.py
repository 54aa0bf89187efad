"""Ownership: which platform a stored room belongs to, also one that is damaged: whoever else asks is told that there is none."""

from erqiwang_grpc import events as stored
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.store import Entry, RoomId, StoreReader


async def owner(events: StoreReader, room: RoomId) -> PlatformId | None:
    """The platform that opened a room, from its first event alone.

    None where that cannot be believed or read: then nobody is told that there is a room.
    """
    first = await events.first(room)
    if not isinstance(first, Entry):
        return None
    opened = stored.read(first.body, first.rules_version)
    return PlatformId(opened.platform) if isinstance(opened, RoomOpened) else None
