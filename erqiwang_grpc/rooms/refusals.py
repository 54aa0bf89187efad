"""Refusals of the service: why a command never came before the core, or what it decided could not be kept."""

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, final

from erqiwang_core.refusals import IllegalFollow, IllegalLead, Refusal

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
    wait: float = field(default=1.0, compare=False)
    """Seconds until one more is taken. Told in the status of a unary call."""


@final
@dataclass(frozen=True, slots=True)
class LogUnavailable:
    """The log cannot take the command now, and nothing was done."""


class Unit(Enum):
    """What the bounds of a field count."""

    VALUE = "value"
    """The number itself, or the value of an enum."""
    BYTES = "bytes"
    """Of the text in UTF-8."""
    ITEMS = "items"
    SECONDS = "seconds"
    CONTROL_CHARACTERS = "control characters"
    """That the text holds."""
    CHARACTERS = "characters"
    """Of the text, as Unicode code points."""
    OTHER_CHARACTERS = "characters of other kinds"
    """Than the text may hold."""


@final
@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The disk failed while the command was being stored: it may stand or not, which sending it again under its id tells."""


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """What a field may hold, and what was given instead, all counted in `unit`."""

    unit: Unit
    given: int
    least: int
    most: int
    allowed: tuple[int, ...] = ()
    """Where only some values between the two are taken: these. Empty where all are."""


@final
@dataclass(frozen=True, slots=True)
class InvalidField:
    """A field of the request has a value that it cannot have."""

    path: str
    """From the request down, as in `choice.options.deals`."""
    bounds: Bounds


@final
@dataclass(frozen=True, slots=True)
class TooManyRooms:
    """The server holds as many open rooms as it takes."""

    limit: int


@final
class Quota(Enum):
    """Of what a platform has its share."""

    ROOMS = "rooms"
    WATCHERS = "watchers"
    STREAMS = "streams"
    CALLS = "calls"


@final
@dataclass(frozen=True, slots=True)
class QuotaReached:
    """The platform has as much of the server as it may have; others go on."""

    quota: Quota
    limit: int
    """Its size; of calls, how many a second are taken in the long run."""
    wait: float = field(default=1.0, compare=False)
    """Seconds after which it is worth while to try again. Told in the status of a unary call."""


@final
@dataclass(frozen=True, slots=True)
class NoSuchRecord:
    """There is no such match for the sender, or its deal is not settled yet."""


@final
@dataclass(frozen=True, slots=True)
class InvalidCursor:
    """A page token or cursor that was not given here."""

    path: str
    """The field of the request that held it."""


@final
@dataclass(frozen=True, slots=True)
class RoomFull:
    """Every seat is taken, and no seat was asked for by its number."""

    seats: int
    """How many the room has."""


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
    | InvalidField
    | TooManyRooms
    | QuotaReached
    | NoSuchRecord
    | InvalidCursor
    | ForeignCursor
    | RoomFull
)

Refused: TypeAlias = Refusal | ServiceRefusal
"""Everything that a command may be refused for."""


def kind(refused: Refused) -> type[object]:
    """What a refusal is counted and ruled as: its type, or for an illegal lead or follow the type of what is wrong."""
    match refused:
        case IllegalLead(fault=fault):
            return type(fault)
        case IllegalFollow(breach=breach):
            return type(breach)
        case _:
            return type(refused)
