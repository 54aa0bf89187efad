"""The transcript: every notice and snapshot that clients were told, and the answer to every command."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NewType, final

from google.protobuf.message import Message

from erqiwang_grpc.store import RoomId
from erqiwang_grpc.v1 import seat_service_pb2 as pb

Digest = NewType("Digest", bytes)
"""The hash of a message. It is kept instead of the message, because a run has too many messages for the memory."""


def digest(message: Message) -> Digest:
    """The digest of a message."""
    return Digest(blake2b(message.SerializeToString(deterministic=True), digest_size=8).digest())


@final
@dataclass(slots=True)
class SeatTranscript:
    """What one seat's client was told, over all its connections."""

    notices: dict[int, Digest] = field(default_factory=dict)
    """The notices, by the version of their event."""
    snapshots: dict[int, Digest] = field(default_factory=dict)
    """The views in snapshots, by their version."""
    faults: list[str] = field(default_factory=list)
    """Messages that no server may send, however often it is killed."""
    connections: int = 0
    """The snapshots received. Each connection begins with one."""
    _version: int = 0

    def hear(self, message: pb.SeatMessage) -> None:
        """Add a message of the server to the transcript."""
        match message.WhichOneof("message"):
            case "snapshot":
                self._hear_snapshot(message.snapshot)
            case "notice":
                self._hear_notice(message.notice)
            case _:  # The player that waits for an answer keeps it. No other message tells an event.
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
    """A command that was accepted, and the answer to it."""

    command_id: str
    fingerprint: bytes
    first: int
    """The version of the first event that it caused."""
    last: int
    """The version of the last one."""
    repeated: bool
    """Whether the server recognised the command: the first answer was lost with the server or the connection."""


@final
@dataclass(slots=True)
class RoomTranscript:
    """What all clients of a room were told, and what they sent."""

    room: RoomId
    players: tuple[str, ...]
    seats: tuple[SeatTranscript, ...]
    answers: dict[int, list[CommandAnswer]] = field(default_factory=dict)
    """The accepted commands, by the seat that sent them."""
    house: set[str] = field(default_factory=set)
    """The ids of the platform's commands."""
    faults: list[str] = field(default_factory=list)
    """Legal commands that were not accepted."""
