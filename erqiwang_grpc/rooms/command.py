"""Asking: a command as it is sent, who sends it, and what it comes to."""

import hashlib
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_core import match as matches
from erqiwang_core.playing import ShowTrumps, Signal, TrumpsShown
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms.refusals import NoCommand, Refused
from erqiwang_grpc.store import Actor, CommandId, CommandKey, Version
from erqiwang_grpc.v1 import seat_service_pb2 as pb

PLATFORM: Final = Actor("platform")

SeatCommand: TypeAlias = matches.Command | Signal | ShowTrumps | NoCommand


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """A command as it was sent."""

    command: SeatCommand
    key: CommandKey | None = None
    expected_version: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Accepted:
    """A command has brought the versions `first` to `last`; both are 0 where it stands but there was nothing to do."""

    first: Version
    last: Version
    repeated: bool
    """Whether it had been accepted before, and nothing was done now."""
    notices: tuple[pb.Notice, ...] = ()
    """What the sender is told of it, in order; nothing for a repeated command."""


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """A request was answered; nothing is logged of it."""

    shown: TrumpsShown | None = None


Answer: TypeAlias = Accepted | Answered | Refused


def command_key(command_id: str, payload: bytes) -> CommandKey | None:
    """What makes a command recognisable when it is sent again; None for one without an id."""
    if not command_id:
        return None
    return CommandKey(CommandId(command_id), hashlib.blake2b(payload, digest_size=16).digest())


def seat_actor(seat: Seat, player: str) -> Actor:
    """Who sends a seat's commands: another player on the same seat is another actor."""
    return Actor(f"seat {seat} {player}")
