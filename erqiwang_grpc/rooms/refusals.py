"""Refusals of the service: why a command never came before the core, or what it decided could not be kept."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.refusals import Refusal

from erqiwang_grpc.store.port import Version


@final
@dataclass(frozen=True, slots=True)
class NoSuchRoom:
    """There is no such room, or it is another platform's."""


@final
@dataclass(frozen=True, slots=True)
class CommandIdReused:
    """The `command_id` was used for something else."""


@final
@dataclass(frozen=True, slots=True)
class StaleVersion:
    """The sender expected another version of the room."""

    version: Version
    """The one it stands at."""


@final
@dataclass(frozen=True, slots=True)
class NoCommand:
    """No command was given, or one of a kind that is not known here."""


@final
@dataclass(frozen=True, slots=True)
class RoomQuarantined:
    """The room is set apart because of an error, until it is mended."""

    version: Version
    """The one it stands at."""


@final
@dataclass(frozen=True, slots=True)
class TooManyCommands:
    """The seat sends commands faster than they are taken."""

    per_second: int
    """How many are taken from a seat."""


@final
@dataclass(frozen=True, slots=True)
class LogUnavailable:
    """The log cannot take the command now, and nothing was done."""


@final
@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The disk failed while the command was being stored: it may stand or not, which sending it again under its id tells."""


@final
@dataclass(frozen=True, slots=True)
class InvalidOption:
    """An option or a parameter is out of range."""

    name: str
    """Its field, as in the request."""


@final
@dataclass(frozen=True, slots=True)
class TooManyRooms:
    """The server holds as many open rooms as it takes."""

    limit: int


@final
@dataclass(frozen=True, slots=True)
class NoSuchRecord:
    """There is no such match for the sender, or its deal is not settled yet."""


@final
@dataclass(frozen=True, slots=True)
class InvalidCursor:
    """A page token or cursor that was not given here."""


@final
@dataclass(frozen=True, slots=True)
class ForeignCursor:
    """A page token or cursor of another store: the one served now is a copy of it, or was restored from one."""


ServiceRefusal: TypeAlias = (
    NoSuchRoom
    | CommandIdReused
    | StaleVersion
    | NoCommand
    | RoomQuarantined
    | TooManyCommands
    | LogUnavailable
    | OutcomeUnknown
    | InvalidOption
    | TooManyRooms
    | NoSuchRecord
    | InvalidCursor
    | ForeignCursor
)

Refused: TypeAlias = Refusal | ServiceRefusal
"""Everything that a command may be refused for."""
