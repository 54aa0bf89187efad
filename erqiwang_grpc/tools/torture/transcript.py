"""What clients were told: every notice and snapshot of every seat, and the answer to every command."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NewType, final

from google.protobuf.message import Message

from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import seat_service_pb2 as pb

Digest = NewType("Digest", bytes)
"""The hash of a message, kept instead of the message because there are too many of them."""


def digest(message: Message) -> Digest:
    """The digest of a message."""
    return Digest(blake2b(message.SerializeToString(deterministic=True), digest_size=8).digest())


@final
@dataclass(slots=True)
class SeatTranscript:
    """What one seat's client was told, over all its connections."""

    notices: dict[int, Digest] = field(default_factory=dict)
    """By the version of the event."""
    snapshots: dict[int, Digest] = field(default_factory=dict)
    """The whole view, by the version that it was sent at."""
    faults: list[str] = field(default_factory=list)
    """Faults: messages that no server may send, however often it is killed."""
    connections: int = 0
    _version: int = 0

    def hear(self, message: pb.SeatMessage) -> None:
        """Take down one message."""
        match message.WhichOneof("message"):
            case "snapshot":
                self._hear_snapshot(message.snapshot)
            case "notice":
                self._hear_notice(message.notice)
            case _:  # Answers are kept where they are waited for, and nothing else is logged.
                pass

    def _hear_snapshot(self, snapshot: pb.Snapshot) -> None:
        self.connections += 1
        if snapshot.version < self._version:
            self.faults.append(f"was told of version {self._version}, and then that there are {snapshot.version}")
        self._version = snapshot.version
        self._note(self.snapshots, snapshot.version, digest(snapshot.view))

    def _hear_notice(self, notice: pb.Notice) -> None:
        if notice.version != self._version + 1:
            self.faults.append(f"was told of version {notice.version} after {self._version}")
        self._version = notice.version
        self._note(self.notices, notice.version, digest(notice))

    def _note(self, told: dict[int, Digest], version: int, said: Digest) -> None:
        if told.setdefault(version, said) != said:
            self.faults.append(f"was told of version {version} twice, and differently")


@final
@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """A command that was sent and accepted."""

    command_id: str
    fingerprint: bytes
    first: int
    last: int
    repeated: bool
    """Whether the answer was found in the log: the first one was lost with the server or the connection."""


@final
@dataclass(slots=True)
class RoomTranscript:
    """What all clients of a room were told."""

    room: RoomId
    players: tuple[str, ...]
    seats: tuple[SeatTranscript, ...]
    answers: dict[int, list[CommandAnswer]] = field(default_factory=dict)
    """By the seat that sent the command."""
    house: set[str] = field(default_factory=set)
    """The ids of the platform's commands."""
    faults: list[str] = field(default_factory=list)
