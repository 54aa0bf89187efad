"""A scripted seat: it says what the advice suggests, and counts how long the answers take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_grpc.client.advice import suggestion
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2

Metadata: TypeAlias = tuple[tuple[str, str], ...]
"""What a stream carries to say whose it is."""


@final
@dataclass(frozen=True, slots=True)
class Reply:
    """What a seat makes of a response."""

    command: pb.Command | None = None
    """What it says now; None where it has nothing to say."""
    answered: bool = False
    """Whether the response holds the answer to its own command."""
    settled: bool = False
    """Whether a deal has been settled."""
    over: bool = False
    """Whether the match is."""


def reply(response: pb.PlayResponse) -> Reply:
    """What a scripted seat makes of what it was told; raises `ValueError` where a command of its own was refused."""
    command: pb.Command | None = None
    answered = settled = over = False
    for message in response.messages:
        match message.WhichOneof("message"):
            case "notice":
                parts = message.notice.changed
            case "snapshot":
                parts = message.snapshot.view.parts
            case "accepted":
                answered = True
                continue
            case "refused":
                raise ValueError(f"refused: {message.refused.refusal.message}")
            case _:
                continue
        if parts.HasField("advice"):
            command = suggestion(parts.advice)
        if parts.progress.phase == view_pb2.PHASE_SETTLED:
            settled = True
        elif parts.progress.phase == view_pb2.PHASE_OVER:
            over, command = True, None
    return Reply(command, answered, settled, over)


def attach() -> pb.PlayRequest:
    """What every stream begins with."""
    return pb.PlayRequest(attach=pb.Attach())


def request(number: int, command: pb.Command) -> pb.PlayRequest:
    """A command under an id of its own."""
    return pb.PlayRequest(command_id=f"bench-{number}", command=command)
