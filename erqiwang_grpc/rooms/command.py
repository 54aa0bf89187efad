"""A command as a room is asked it, and what it comes to."""

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
"""What a seat may ask for: something that the match brings about, or a request that is answered aside."""


@final
@dataclass(frozen=True, slots=True)
class SeatAsks:
    """A command or request of the player on a seat."""

    actor: SeatActor
    command: SeatCommand
    key: CommandKey | None = None
    """What makes it recognisable when it is sent again; None for a command without an id."""
    expected_version: int | None = None
    """Refuse the command unless the room is at this version; None accepts any."""


@final
@dataclass(frozen=True, slots=True)
class HouseAsks:
    """A command of the platform or of the house."""

    actor: PlatformActor | HouseActor
    command: HouseCommand
    key: CommandKey | None = None
    """As in `SeatAsks`."""


Asked: TypeAlias = SeatAsks | HouseAsks


@final
@dataclass(frozen=True, slots=True)
class Accepted:
    """A command has brought the versions `first` to `last`. Both are 0 if it stands but there was nothing to do."""

    first: Version
    last: Version
    repeated: bool
    """Whether it had been accepted before, so that nothing was done now."""
    told: tuple[Told, ...] = ()
    """The events, in order, as the listeners and the sender are told them; empty for a repeated command."""


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """A request was answered aside: nothing of it is stored."""

    shown: TrumpsShown | None = None
    """The trumps that were asked for; None after a signal, since its sender gets no answer."""


Answer: TypeAlias = Accepted | Answered | Refused
