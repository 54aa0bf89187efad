"""Events: what a room stores, and what follows from it.

Read the modules in this order:

1. `model`: the events. `actor`: who brings one about.
2. `encode`, `decode`, `numbers`: events as bytes and back.
3. `history`: the events of a room as they were read from the store, each with its time and actor.
4. `standing`: where a room stands after its events.
5. `summary`: what lists tell of that room. `index`: the terms by which lists find it.
6. `batches`: events and summary as they are appended to the store.
"""

from erqiwang_grpc.events.decode import Unreadable, read
from erqiwang_grpc.events.encode import write
from erqiwang_grpc.events.model import Label, RoomOpened, StoredEvent

__all__ = ["Label", "RoomOpened", "StoredEvent", "Unreadable", "read", "write"]
