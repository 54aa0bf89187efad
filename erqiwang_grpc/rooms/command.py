"""A command with its sender, as a room takes it, and the answers that a room gives."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core import match as matches
from erqiwang_core.match import HouseCommand
from erqiwang_core.playing import Request, TrumpsShown

from erqiwang_grpc.events.actor import HouseActor, PlatformActor, SeatActor
from erqiwang_grpc.rooms.listener import Told
from erqiwang_grpc.rooms.refusals import Refused
from erqiwang_grpc.store import CommandKey, Version

SeatCommand: TypeAlias = matches.Command | Request
"""What a seat may send: a command, which may bring about events, or a request, which only gets a reply."""


@final
@dataclass(frozen=True, slots=True)
class SeatAsks:
    """A command or request of the player on a seat."""

    actor: SeatActor
    command: SeatCommand
    key: CommandKey | None = None
    """Recognises the command when it is sent again; None for a command without an id."""
    expected_version: int | None = None
    """The room must be at this version, otherwise the command is refused as stale; None accepts any version."""


@final
@dataclass(frozen=True, slots=True)
class HouseAsks:
    """A command of the platform, or of the server itself (the house)."""

    actor: PlatformActor | HouseActor
    command: HouseCommand
    key: CommandKey | None = None
    """As in `SeatAsks`."""


Asked: TypeAlias = SeatAsks | HouseAsks


@final
@dataclass(frozen=True, slots=True)
class Accepted:
    """The command stands. Its events are the versions `first` to `last`; both are 0 if it had no effect."""

    first: Version
    last: Version
    repeated: bool
    """Whether the command had been accepted before, so that nothing was done now."""
    told: tuple[Told, ...] = ()
    """The events in order, as listeners and sender are told them. Empty for a repeated command."""


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """The request was answered. Nothing of it is stored."""

    shown: TrumpsShown | None = None
    """The trumps that were asked for; None after a signal, whose sender gets no receipt (rules §13)."""


Answer: TypeAlias = Accepted | Answered | Refused
