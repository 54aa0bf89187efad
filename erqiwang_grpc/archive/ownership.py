"""Ownership: which platform a stored room belongs to. To other platforms the room does not exist, damaged or not."""

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.history import UnreadableEntry, read_first
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rooms.refusals import StoreUnavailable, WrittenByNewer
from erqiwang_grpc.store import Entry, RoomId, StoreReader, Unavailable


async def opening(events: StoreReader, room: RoomId) -> RoomOpened | StoreUnavailable | WrittenByNewer | None:
    """The first event of a room, read alone; a refusal if the store cannot be read, or if a newer version wrote it.

    None if there is no such room, or if its first event is damaged or unreadable.
    """
    first = await events.first(room)
    if isinstance(first, Unavailable):
        return StoreUnavailable()
    if not isinstance(first, Entry):
        return None
    opened = read_first(first)
    if isinstance(opened, UnreadableEntry):
        return WrittenByNewer() if opened.is_newer else None
    return opened


async def owner(events: StoreReader, room: RoomId) -> PlatformId | StoreUnavailable | WrittenByNewer | None:
    """The platform that created a room, read from the room's first event only; or a refusal as of `opening`.

    None if there is no such room, or if its first event is damaged or unreadable: then the room exists for nobody.
    """
    opened = await opening(events, room)
    return opened.platform if isinstance(opened, RoomOpened) else opened
