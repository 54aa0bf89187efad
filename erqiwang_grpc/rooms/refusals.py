"""Refusals of the service: why a command never came before the core, or what it decided could not be kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, final

from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.following import (
    Breach,
    GroupNotFollowed,
    PairsNotPlayed,
    TractorNotPlayed,
    WholeGroupNotPlayed,
)
from erqiwang_core.kernel.shapes import SeveralGroups, SideSuitThrow
from erqiwang_core.playing import SignalKind
from erqiwang_core.refusals import (
    BidNotLower,
    CardNotHeld,
    DeclarerMayNotSignal,
    FirstBidderMustBid,
    IllegalFollow,
    IllegalLead,
    NobodyIsVoid,
    NoSuchSeat,
    NotABid,
    NotACard,
    NotASignal,
    NotATrump,
    NotInThisRoom,
    NotYourTurn,
    Refusal,
    RepeatedCard,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    SurrenderNotAllowed,
    WrongNumberOfCards,
    WrongPhase,
)

from erqiwang_grpc.reasons import Reason
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
class StoreUnavailable:
    """The store cannot take the command now, and nothing was done."""


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
    | StoreUnavailable
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


def reason(refused: Refused) -> Reason:
    """The row of a refusal; of an illegal lead or follow, of what is wrong with it."""
    match refused:
        case WrongPhase():
            return Reason.WRONG_PHASE
        case NoSuchSeat():
            return Reason.NO_SUCH_SEAT
        case NotYourTurn():
            return Reason.NOT_YOUR_TURN
        case SeatOccupied():
            return Reason.SEAT_OCCUPIED
        case SeatFree():
            return Reason.SEAT_FREE
        case SeatedElsewhere():
            return Reason.SEATED_ELSEWHERE
        case NotABid():
            return Reason.NOT_A_BID
        case NotATrump():
            return Reason.NOT_A_TRUMP
        case NotASignal():
            return Reason.NOT_A_SIGNAL
        case NotACard():
            return Reason.NOT_A_CARD
        case RepeatedCard():
            return Reason.REPEATED_CARD
        case CardNotHeld():
            return Reason.CARD_NOT_HELD
        case WrongNumberOfCards():
            return Reason.WRONG_NUMBER_OF_CARDS
        case FirstBidderMustBid():
            return Reason.FIRST_BIDDER_MUST_BID
        case BidNotLower():
            return Reason.BID_NOT_LOWER
        case SurrenderNotAllowed():
            return Reason.SURRENDER_NOT_ALLOWED
        case IllegalLead(fault=wrong) | IllegalFollow(breach=wrong):
            return _wrong_cards(wrong)
        case DeclarerMayNotSignal():
            return Reason.DECLARER_MAY_NOT_SIGNAL
        case NotInThisRoom():
            return Reason.NOT_IN_THIS_ROOM
        case NobodyIsVoid():
            return Reason.NOBODY_IS_VOID
        case NoSuchRoom():
            return Reason.NO_SUCH_ROOM
        case CommandIdReused():
            return Reason.COMMAND_ID_REUSED
        case StaleVersion():
            return Reason.STALE_VERSION
        case NoCommand():
            return Reason.NO_COMMAND
        case RoomQuarantined():
            return Reason.ROOM_QUARANTINED
        case TooManyCommands():
            return Reason.TOO_MANY_COMMANDS
        case StoreUnavailable():
            return Reason.STORE_UNAVAILABLE
        case OutcomeUnknown():
            return Reason.OUTCOME_UNKNOWN
        case InvalidField():
            return Reason.INVALID_FIELD
        case TooManyRooms():
            return Reason.TOO_MANY_ROOMS
        case QuotaReached():
            return Reason.QUOTA_REACHED
        case NoSuchRecord():
            return Reason.NO_SUCH_RECORD
        case InvalidCursor():
            return Reason.INVALID_CURSOR
        case ForeignCursor():
            return Reason.FOREIGN_CURSOR
        case RoomFull():
            return Reason.ROOM_FULL


def _wrong_cards(wrong: SeveralGroups | SideSuitThrow | Breach) -> Reason:
    match wrong:
        case SeveralGroups():
            return Reason.SEVERAL_GROUPS
        case SideSuitThrow():
            return Reason.SIDE_SUIT_THROW
        case WholeGroupNotPlayed():
            return Reason.WHOLE_GROUP_NOT_PLAYED
        case GroupNotFollowed():
            return Reason.GROUP_NOT_FOLLOWED
        case TractorNotPlayed():
            return Reason.TRACTOR_NOT_PLAYED
        case PairsNotPlayed():
            return Reason.PAIRS_NOT_PLAYED


def sentence(refusal: Refused) -> str:
    """One sentence for a developer: the row's, and of a value that does not fit what it can be and what was given."""
    if isinstance(refusal, InvalidField):
        bounds = refusal.bounds
        counted = "" if bounds.unit is Unit.VALUE else f" {bounds.unit.value}"
        return f"`{refusal.path}` must have {_wanted(bounds)}{counted}, and has {bounds.given}."
    if isinstance(refusal, NoSuchSeat):
        return f"The table has no seat {refusal.seat}: its seats are 0 to {refusal.seats - 1}."
    if isinstance(refusal, NotABid):
        return f"The game has no bid of {refusal.points}: its bids are {_one_of(refusal.bids)}."
    if isinstance(refusal, NotATrump):
        return f"The game has no trump choice {refusal.trump}: its choices are {_one_of(refusal.trumps)}."
    if isinstance(refusal, NotASignal):
        return f"There is no signal {refusal.signal}: signals are {_one_of(tuple(map(int, SignalKind)))}."
    if isinstance(refusal, NotACard):
        return f"No card has the id {refusal.card}: ids are 0 to {CARDS - 1}."
    return reason(refusal).value.when


def _wanted(bounds: Bounds) -> str:
    if bounds.allowed:
        return _one_of(bounds.allowed)
    return str(bounds.most) if bounds.least == bounds.most else f"{bounds.least} to {bounds.most}"


def _one_of(values: Sequence[object]) -> str:
    *others, last = map(str, values)
    return f"{', '.join(others)} or {last}" if others else last
