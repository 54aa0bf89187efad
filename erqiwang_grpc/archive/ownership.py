"""Ownership: which platform a stored room belongs to. To other platforms the room does not exist, damaged or not."""

from erqiwang_grpc import events as stored
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.refusals import StoreUnavailable
from erqiwang_grpc.store import Entry, RoomId, StoreReader, Unavailable


async def owner(events: StoreReader, room: RoomId) -> PlatformId | StoreUnavailable | None:
    """The platform that created a room, read from the room's first event only; a refusal if the store cannot be read.

    None if there is no such room, or if its first event is damaged or unreadable: then the room exists for nobody.
    """
    first = await events.first(room)
    if isinstance(first, Unavailable):
        return StoreUnavailable()
    if not isinstance(first, Entry):
        return None
    opened = stored.read(first.body, first.rules_version)
    return PlatformId(opened.platform) if isinstance(opened, RoomOpened) else None
