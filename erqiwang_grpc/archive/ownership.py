"""Ownership: which platform a stored room belongs to, also if it is damaged. Other platforms are told that there is no such room."""

from erqiwang_grpc import events as stored
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.store import Entry, RoomId, StoreReader


async def owner(events: StoreReader, room: RoomId) -> PlatformId | None:
    """The platform that opened a room, from its first event alone.

    None if its first event is damaged or unreadable: then every platform is told that there is no such room.
    """
    first = await events.first(room)
    if not isinstance(first, Entry):
        return None
    opened = stored.read(first.body, first.rules_version)
    return PlatformId(opened.platform) if isinstance(opened, RoomOpened) else None
