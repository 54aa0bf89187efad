"""What is on disk: the events of a room as bytes, and back."""

from erqiwang_grpc.events import StoredEvent
from erqiwang_grpc.stored.reading import Unreadable, read
from erqiwang_grpc.stored.writing import write

__all__ = ["StoredEvent", "Unreadable", "read", "write"]
