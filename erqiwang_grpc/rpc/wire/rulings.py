"""Rulings: of every reason to refuse, its name on the wire and its codes; the one table that says so.

`docs/errors.md` is made from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.following import GroupNotFollowed, PairsNotPlayed, TractorNotPlayed, WholeGroupNotPlayed
from erqiwang_core.kernel.shapes import SeveralGroups, SideSuitThrow
from erqiwang_core.refusals import (
    BidNotLower,
    CardNotHeld,
    Code,
    DeclarerMayNotSignal,
    FirstBidderMustBid,
    NobodyIsVoid,
    NoSuchSeat,
    NotABid,
    NotACard,
    NotASignal,
    NotATrump,
    NotInThisRoom,
    NotYourTurn,
    RepeatedCard,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    SurrenderNotAllowed,
    WrongNumberOfCards,
    WrongPhase,
)
from grpc import StatusCode

from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    ForeignCursor,
    InvalidCursor,
    InvalidField,
    LogUnavailable,
    NoCommand,
    NoSuchRecord,
    NoSuchRoom,
    OutcomeUnknown,
    QuotaReached,
    Refused,
    RoomFull,
    RoomQuarantined,
    StaleVersion,
    TooManyCommands,
    TooManyRooms,
    Unit,
    kind,
)


@final
@dataclass(frozen=True, slots=True)
class Ruling:
    """What a reason to refuse is called and which codes it has."""

    reason: str
    """The member of `Refusal.reason`; in upper case, the reason of a status."""
    code: Code
    """The packet protocol's."""
    status: StatusCode
    """Of a unary call, whose refusal ends it; a stream stays open."""
    sentence: str
    """For a developer."""
    retry_after: int | None = None
    """Seconds after which the same command may well stand; None where waiting is of no use.

    A refusal that knows how long to wait says that instead.
    """


RULINGS: Final[Mapping[type[object], Ruling]] = {
    WrongPhase: Ruling(
        "wrong_phase", Code.STEP, StatusCode.FAILED_PRECONDITION, "The command does not belong to this phase."
    ),
    NoSuchSeat: Ruling("no_such_seat", Code.SEAT, StatusCode.INVALID_ARGUMENT, "The table has no such seat."),
    NotYourTurn: Ruling("not_your_turn", Code.SEAT, StatusCode.FAILED_PRECONDITION, "It is another seat's turn."),
    SeatOccupied: Ruling("seat_occupied", Code.SEAT, StatusCode.FAILED_PRECONDITION, "Another player sits there."),
    SeatFree: Ruling("seat_free", Code.SEAT, StatusCode.FAILED_PRECONDITION, "Nobody sits there."),
    SeatedElsewhere: Ruling(
        "seated_elsewhere", Code.SEAT, StatusCode.FAILED_PRECONDITION, "The player sits at this table already."
    ),
    NotABid: Ruling("not_a_bid", Code.PARAM, StatusCode.INVALID_ARGUMENT, "The game has no such bid."),
    NotATrump: Ruling("not_a_trump", Code.PARAM, StatusCode.INVALID_ARGUMENT, "The game has no such trump choice."),
    NotASignal: Ruling("not_a_signal", Code.PARAM, StatusCode.INVALID_ARGUMENT, "There is no such signal."),
    NotACard: Ruling("not_a_card", Code.PARAM, StatusCode.INVALID_ARGUMENT, "No card has this id."),
    RepeatedCard: Ruling("repeated_card", Code.PARAM, StatusCode.INVALID_ARGUMENT, "A card is given twice."),
    CardNotHeld: Ruling(
        "card_not_held", Code.PARAM, StatusCode.INVALID_ARGUMENT, "A card is not in the sender's hand."
    ),
    WrongNumberOfCards: Ruling(
        "wrong_number_of_cards", Code.PARAM, StatusCode.INVALID_ARGUMENT, "Another number of cards is called for."
    ),
    FirstBidderMustBid: Ruling(
        "first_bidder_must_bid", Code.RULE, StatusCode.FAILED_PRECONDITION, "The first bidder may not pass."
    ),
    BidNotLower: Ruling(
        "bid_not_lower",
        Code.RULE,
        StatusCode.FAILED_PRECONDITION,
        "A bid must be strictly lower than the standing one.",
    ),
    SurrenderNotAllowed: Ruling(
        "surrender_not_allowed", Code.RULE, StatusCode.FAILED_PRECONDITION, "Surrender is not open at this bid."
    ),
    SeveralGroups: Ruling(
        "several_groups", Code.RULE, StatusCode.FAILED_PRECONDITION, "Cards of several groups may not be led together."
    ),
    SideSuitThrow: Ruling(
        "side_suit_throw",
        Code.RULE,
        StatusCode.FAILED_PRECONDITION,
        "Of a side suit only a single, a pair or a tractor may be led.",
    ),
    WholeGroupNotPlayed: Ruling(
        "whole_group_not_played",
        Code.RULE,
        StatusCode.FAILED_PRECONDITION,
        "Every card of the led group must be played, since fewer are held than were led.",
    ),
    GroupNotFollowed: Ruling(
        "group_not_followed",
        Code.RULE,
        StatusCode.FAILED_PRECONDITION,
        "Only cards of the led group may be played, since enough are held.",
    ),
    TractorNotPlayed: Ruling(
        "tractor_not_played", Code.RULE, StatusCode.FAILED_PRECONDITION, "A tractor that is held must be played."
    ),
    PairsNotPlayed: Ruling(
        "pairs_not_played", Code.RULE, StatusCode.FAILED_PRECONDITION, "Pairs that are held must be played."
    ),
    DeclarerMayNotSignal: Ruling(
        "declarer_may_not_signal", Code.RULE, StatusCode.FAILED_PRECONDITION, "Signals pass between defenders alone."
    ),
    NotInThisRoom: Ruling(
        "not_in_this_room", Code.RULE, StatusCode.FAILED_PRECONDITION, "The room's options do not offer it."
    ),
    NobodyIsVoid: Ruling(
        "nobody_is_void", Code.RULE, StatusCode.FAILED_PRECONDITION, "Trumps are shown only once a seat holds none."
    ),
    NoSuchRoom: Ruling("no_such_room", Code.NODESK, StatusCode.NOT_FOUND, "There is no such room."),
    CommandIdReused: Ruling(
        "command_id_reused", Code.PARAM, StatusCode.ALREADY_EXISTS, "The command_id was used for another command."
    ),
    StaleVersion: Ruling(
        "stale_version", Code.STEP, StatusCode.ABORTED, "The room has moved on from the expected version."
    ),
    NoCommand: Ruling(
        "no_command", Code.PARAM, StatusCode.INVALID_ARGUMENT, "No command was given, or one of an unknown kind."
    ),
    RoomQuarantined: Ruling(
        "room_quarantined",
        Code.STEP,
        StatusCode.INTERNAL,
        "The room is set apart because of an error, until it is mended.",
    ),
    TooManyCommands: Ruling(
        "too_many_commands",
        Code.RULE,
        StatusCode.RESOURCE_EXHAUSTED,
        "Commands come faster than they are taken from one seat.",
        retry_after=1,
    ),
    LogUnavailable: Ruling(
        "log_unavailable",
        Code.STEP,
        StatusCode.UNAVAILABLE,
        "The command cannot be kept now, and nothing was done.",
        retry_after=2,
    ),
    InvalidField: Ruling(
        "invalid_field",
        Code.PARAM,
        StatusCode.INVALID_ARGUMENT,
        "A field of the request has a value that it cannot have: it and what it can have are named.",
    ),
    TooManyRooms: Ruling(
        "too_many_rooms",
        Code.RULE,
        StatusCode.RESOURCE_EXHAUSTED,
        "The server holds as many open rooms as it takes.",
        retry_after=60,
    ),
    QuotaReached: Ruling(
        "quota_reached",
        Code.RULE,
        StatusCode.RESOURCE_EXHAUSTED,
        "The platform has as much of this server as one platform may have.",
        retry_after=1,
    ),
    NoSuchRecord: Ruling(
        "no_such_record", Code.NODESK, StatusCode.NOT_FOUND, "There is no such record, or its deal is not settled yet."
    ),
    InvalidCursor: Ruling(
        "invalid_cursor",
        Code.PARAM,
        StatusCode.INVALID_ARGUMENT,
        "A page token or cursor was not given by this server.",
    ),
    RoomFull: Ruling("room_full", Code.SEAT, StatusCode.FAILED_PRECONDITION, "Every seat of the room is taken."),
    ForeignCursor: Ruling(
        "foreign_cursor",
        Code.PARAM,
        StatusCode.FAILED_PRECONDITION,
        "The page token or cursor is of another store, from before this one was restored or copied: list again from the "
        "first page, and watch again with an empty cursor.",
    ),
    OutcomeUnknown: Ruling(
        "outcome_unknown",
        Code.STEP,
        StatusCode.UNAVAILABLE,
        "The disk failed while the command was being stored: whether it stands is unknown. Send it again under its "
        "command_id.",
        retry_after=2,
    ),
}
"""By the type of the refusal; of a lead or a follow that breaks a rule, by the type of what is wrong with it."""


def ruling(refused: Refused) -> Ruling:
    """The row of a refusal."""
    return RULINGS[kind(refused)]


def sentence(refusal: Refused) -> str:
    """One sentence for a developer: the row's, or of a field its name, what it can have and what was given."""
    if not isinstance(refusal, InvalidField):
        return ruling(refusal).sentence
    bounds = refusal.bounds
    if bounds.allowed:
        *others, last = map(str, bounds.allowed)
        wanted = f"{', '.join(others)} or {last}"
    elif bounds.least == bounds.most:
        wanted = str(bounds.most)
    else:
        wanted = f"{bounds.least} to {bounds.most}"
    counted = "" if bounds.unit is Unit.VALUE else f" {bounds.unit.value}"
    return f"`{refusal.path}` must have {wanted}{counted}, and has {bounds.given}."
