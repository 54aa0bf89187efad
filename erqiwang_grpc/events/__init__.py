"""What is on disk: the events of a room as bytes, and back."""

from erqiwang_grpc.events.decode import Unreadable, read
from erqiwang_grpc.events.encode import write
from erqiwang_grpc.events.model import StoredEvent

__all__ = ["StoredEvent", "Unreadable", "read", "write"]
