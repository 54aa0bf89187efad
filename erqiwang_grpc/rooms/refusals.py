"""Refusals of the service: why a command did not reach the core, or why its events could not be stored."""

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
    Phase,
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
    """There is no such room, or it belongs to another platform. The two cases must look alike."""


@final
@dataclass(frozen=True, slots=True)
class CommandIdReused:
    """The `command_id` was used before, for a different command."""


@final
@dataclass(frozen=True, slots=True)
class StaleVersion:
    """The sender expected another version of the room."""

    version: Version
    """The version of the room now."""


@final
@dataclass(frozen=True, slots=True)
class NoCommand:
    """The request has no command, or one that this version does not know."""


@final
@dataclass(frozen=True, slots=True)
class RoomQuarantined:
    """The room is quarantined: it takes no commands because of an error or damage, but for being disbanded."""

    version: Version
    """The version of the room now."""


@final
@dataclass(frozen=True, slots=True)
class TooManyCommands:
    """The seat sends commands faster than its allowance permits."""

    per_second: int
    """The commands a second that a seat may send in the long run."""
    wait: float = field(default=1.0, compare=False)
    """Seconds until the next command is accepted. The status of a unary call tells it."""


@final
@dataclass(frozen=True, slots=True)
class StoreUnavailable:
    """The store cannot store the command now. Nothing was done."""


@final
@dataclass(frozen=True, slots=True)
class WrittenByNewer:
    """A newer version of the server has written the room, so this node leaves it to nodes of that version."""


class Unit(Enum):
    """What the bounds of a field are measured in."""

    VALUE = "value"
    """The field is a number or an enum: the bounds are values."""
    BYTES = "bytes"
    """Bytes of the text in UTF-8."""
    ITEMS = "items"
    SECONDS = "seconds"
    CONTROL_CHARACTERS = "control characters"
    """Control characters and other invisible characters of the text."""
    CHARACTERS = "characters"
    """Unicode code points of the text."""
    OTHER_CHARACTERS = "characters of other kinds"
    """Characters that the text may not hold."""


@final
@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The disk failed while the command was being stored. It may stand or not: send it again with its id to learn."""


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """What a field may hold, and what was given instead, all measured in `unit`."""

    unit: Unit
    given: int
    least: int
    most: int
    allowed: tuple[int, ...] = ()
    """The allowed values, if not all between the two are allowed; empty otherwise."""


@final
@dataclass(frozen=True, slots=True)
class InvalidField:
    """A field of the request has a value that is not allowed."""

    path: str
    """The path of the field from the request down, as in `choice.options.deals`."""
    bounds: Bounds


@final
@dataclass(frozen=True, slots=True)
class TooManyRooms:
    """The server has as many open rooms as it accepts."""

    limit: int


@final
class Quota(Enum):
    """What a platform has a share of."""

    ROOMS = "rooms"
    WATCHERS = "watchers"
    STREAMS = "streams"
    CALLS = "calls"
    UNATTACHED = "unattached"
    GATEWAYS = "gateways"
    SPECTATORS = "spectators"


@final
@dataclass(frozen=True, slots=True)
class QuotaReached:
    """The platform uses its whole share of the server. Other platforms are not affected."""

    quota: Quota
    limit: int
    """The size of the share; for calls, the units a second in the long run."""
    wait: float = field(default=1.0, compare=False)
    """Seconds after which to try again. The status of a unary call tells it."""


@final
@dataclass(frozen=True, slots=True)
class NoSuchRecord:
    """The sender has no such match, or the deal asked for is not settled yet."""


@final
@dataclass(frozen=True, slots=True)
class InvalidCursor:
    """The page token or cursor is not one that this server gave out."""

    path: str
    """The field of the request that holds it."""


@final
@dataclass(frozen=True, slots=True)
class RoomFull:
    """Every seat is taken, and the request named no seat number."""

    seats: int
    """The number of seats of the room."""


@final
@dataclass(frozen=True, slots=True)
class SeatChangesUsedUp:
    """The seats of the room were given and freed as often as a room allows."""

    most: int
    """How often the seats of one room may be given and freed, all seats together."""


@final
@dataclass(frozen=True, slots=True)
class ForeignCursor:
    """The page token or cursor is from another store, for example from before the store was restored or copied."""


@final
@dataclass(frozen=True, slots=True)
class HintsForbidden:
    """The options of the room forbid hints."""


@final
@dataclass(frozen=True, slots=True)
class NothingToDecide:
    """The seat has nothing to decide, and no other seat has the turn, so there is nothing to give a hint for."""

    phase: Phase
    """The phase that the match is in."""


@final
@dataclass(frozen=True, slots=True)
class TooManyHints:
    """As many hints as the server takes are waiting to be worked out."""


ServiceRefusal: TypeAlias = (
    NoSuchRoom
    | CommandIdReused
    | StaleVersion
    | NoCommand
    | RoomQuarantined
    | TooManyCommands
    | StoreUnavailable
    | WrittenByNewer
    | OutcomeUnknown
    | InvalidField
    | TooManyRooms
    | QuotaReached
    | NoSuchRecord
    | InvalidCursor
    | ForeignCursor
    | RoomFull
    | SeatChangesUsedUp
    | HintsForbidden
    | NothingToDecide
    | TooManyHints
)

Refused: TypeAlias = Refusal | ServiceRefusal
"""Every refusal, of the core and of the service."""


def reason(refused: Refused) -> Reason:
    """The reason of a refusal. For an illegal lead or follow it says what is wrong with the cards."""
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
        case WrittenByNewer():
            return Reason.WRITTEN_BY_NEWER
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
        case SeatChangesUsedUp():
            return Reason.SEAT_CHANGES_USED_UP
        case HintsForbidden():
            return Reason.HINTS_FORBIDDEN
        case NothingToDecide():
            return Reason.NOTHING_TO_DECIDE
        case TooManyHints():
            return Reason.TOO_MANY_HINTS


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
