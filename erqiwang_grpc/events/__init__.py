"""What a room logs: `model` says the events, `encode` and `decode` turn them into bytes and back.

`actor` says who brings an event about, `history` reads a room's events with their circumstances. `standing` says where a room
stands after them, `summary` what lists say of it then, `index` by which terms they find it. `batches` puts events and summary
together as they are stored.
"""

from erqiwang_grpc.events.decode import Unreadable, read
from erqiwang_grpc.events.encode import write
from erqiwang_grpc.events.model import Label, RoomOpened, StoredEvent

__all__ = ["Label", "RoomOpened", "StoredEvent", "Unreadable", "read", "write"]
