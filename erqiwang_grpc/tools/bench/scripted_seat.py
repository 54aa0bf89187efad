"""A scripted seat: sends the command that its advice suggests, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from erqiwang_grpc.client.advice import suggestion
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2


@final
@dataclass(frozen=True, slots=True)
class Reply:
    """What messages mean for a scripted seat."""

    command: pb.Command | None = None
    """The command to send now; None if the seat has to wait."""
    answered: bool = False
    """Whether they have the answer to a command of the seat."""
    settled: bool = False
    """Whether a deal is settled now."""
    over: bool = False
    """Whether the match is over."""


def reply(messages: Iterable[pb.SeatMessage]) -> Reply:
    """What messages to a scripted seat mean for it. Raises `ValueError` if it refuses a command of the seat."""
    command: pb.Command | None = None
    answered = settled = over = False
    for message in messages:
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
    """The first request of each stream."""
    return pb.PlayRequest(attach=pb.Attach())


def request(number: int, command: pb.Command) -> pb.PlayRequest:
    """A request with the command. `number` becomes its id, and must differ for each command of a seat in a room."""
    return pb.PlayRequest(command_id=f"bench-{number}", command=command)
