"""The stored events of a room. `model` defines them, `encode` and `decode` turn them into bytes and back.

`actor` says who brought an event about, `history` reads all events of a room, `standing` follows them, `summary` makes
what lists show of a room, `index` makes the terms by which lists find it, and `batches` puts all that into one batch.
"""

from erqiwang_grpc.events.decode import Unreadable, read
from erqiwang_grpc.events.encode import write
from erqiwang_grpc.events.model import Label, RoomOpened, StoredEvent

__all__ = ["Label", "RoomOpened", "StoredEvent", "Unreadable", "read", "write"]
