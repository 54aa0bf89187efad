"""Decodes refusals."""

from erqiwang_core.kernel.following import (
    Breach,
    GroupNotFollowed,
    PairsNotPlayed,
    TractorNotPlayed,
    WholeGroupNotPlayed,
)
from erqiwang_core.kernel.shapes import SeveralGroups, SideSuitThrow
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
    RepeatedCard,
    SeatedElsewhere,
    SeatFree,
    SeatOccupied,
    SurrenderNotAllowed,
    WrongNumberOfCards,
    WrongPhase,
)
from erqiwang_core.units import Points, Seat

from erqiwang_grpc.rooms.refusals import (
    Bounds,
    CommandIdReused,
    ForeignCursor,
    HintsForbidden,
    InvalidCursor,
    InvalidField,
    NoCommand,
    NoSuchRecord,
    NoSuchRoom,
    NothingToDecide,
    OutcomeUnknown,
    QuotaReached,
    Refused,
    RoomFull,
    RoomQuarantined,
    SeatChangesUsedUp,
    StaleVersion,
    StoreUnavailable,
    TooManyCommands,
    TooManyHints,
    TooManyRooms,
    WrittenByNewer,
)
from erqiwang_grpc.rpc.wire.decode.cards import cards
from erqiwang_grpc.rpc.wire.decode.known import GROUPS, PHASES, QUOTAS, UNITS, NotUnderstood, known
from erqiwang_grpc.store.port import Version
from erqiwang_grpc.v1 import refusal_pb2


def refusal(message: refusal_pb2.Refusal) -> Refused:
    """The refusal in a message, of the core or of the service."""
    match message.WhichOneof("reason"):
        case "wrong_phase":
            return WrongPhase(known(PHASES, message.wrong_phase.phase))
        case "no_such_seat":
            return NoSuchSeat(message.no_such_seat.seat, message.no_such_seat.seats)
        case "not_your_turn":
            return NotYourTurn(Seat(message.not_your_turn.turn))
        case "seat_occupied":
            return SeatOccupied(Seat(message.seat_occupied.seat))
        case "seat_free":
            return SeatFree(Seat(message.seat_free.seat))
        case "seated_elsewhere":
            return SeatedElsewhere(Seat(message.seated_elsewhere.seat))
        case "not_a_bid":
            return NotABid(message.not_a_bid.points, tuple(map(Points, message.not_a_bid.bids)))
        case "not_a_trump":
            return NotATrump(message.not_a_trump.trump, tuple(message.not_a_trump.trumps))
        case "not_a_signal":
            return NotASignal(message.not_a_signal.signal)
        case "not_a_card":
            return NotACard(message.not_a_card.card)
        case "repeated_card":
            return RepeatedCard(message.repeated_card.card)
        case "card_not_held":
            return CardNotHeld(message.card_not_held.card)
        case "wrong_number_of_cards":
            return WrongNumberOfCards(message.wrong_number_of_cards.expected, message.wrong_number_of_cards.given)
        case "first_bidder_must_bid":
            return FirstBidderMustBid(Points(message.first_bidder_must_bid.opening))
        case "bid_not_lower":
            return BidNotLower(Points(message.bid_not_lower.standing))
        case "surrender_not_allowed":
            return SurrenderNotAllowed(Points(message.surrender_not_allowed.bid))
        case "several_groups":
            groups = tuple(known(GROUPS, group) for group in message.several_groups.groups)
            return IllegalLead(SeveralGroups(groups), cards(message.several_groups.legal))
        case "side_suit_throw":
            group = known(GROUPS, message.side_suit_throw.group)
            return IllegalLead(SideSuitThrow(group), cards(message.side_suit_throw.legal))
        case "whole_group_not_played":
            told = message.whole_group_not_played
            return _illegal_follow(WholeGroupNotPlayed(known(GROUPS, told.group)), told)
        case "group_not_followed":
            told = message.group_not_followed
            return _illegal_follow(GroupNotFollowed(known(GROUPS, told.group)), told)
        case "tractor_not_played":
            told = message.tractor_not_played
            return _illegal_follow(TractorNotPlayed(told.pairs), told)
        case "pairs_not_played":
            told = message.pairs_not_played
            return _illegal_follow(PairsNotPlayed(told.pairs), told)
        case "declarer_may_not_signal":
            return DeclarerMayNotSignal()
        case "not_in_this_room":
            return NotInThisRoom()
        case "nobody_is_void":
            return NobodyIsVoid()
        case "no_such_room":
            return NoSuchRoom()
        case "command_id_reused":
            return CommandIdReused()
        case "stale_version":
            return StaleVersion(Version(message.stale_version.version))
        case "no_command":
            return NoCommand()
        case "room_quarantined":
            return RoomQuarantined(Version(message.room_quarantined.version))
        case "too_many_commands":
            return TooManyCommands(message.too_many_commands.per_second)
        case "store_unavailable":
            return StoreUnavailable()
        case "written_by_newer":
            return WrittenByNewer()
        case "invalid_field":
            return _invalid_field(message.invalid_field)
        case "too_many_rooms":
            return TooManyRooms(message.too_many_rooms.limit)
        case "quota_reached":
            reached = message.quota_reached
            return QuotaReached(known(QUOTAS, reached.quota), reached.limit)
        case "no_such_record":
            return NoSuchRecord()
        case "invalid_cursor":
            return InvalidCursor(message.invalid_cursor.field)
        case "room_full":
            return RoomFull(message.room_full.seats)
        case "foreign_cursor":
            return ForeignCursor()
        case "outcome_unknown":
            return OutcomeUnknown()
        case "seat_changes_used_up":
            return SeatChangesUsedUp(message.seat_changes_used_up.most)
        case "hints_forbidden":
            return HintsForbidden()
        case "nothing_to_decide":
            return NothingToDecide(known(PHASES, message.nothing_to_decide.phase))
        case "too_many_hints":
            return TooManyHints()
        case None:
            raise NotUnderstood("a refusal for an unknown reason")


def _illegal_follow(breach: Breach, told: refusal_pb2.Refusal.Breach) -> IllegalFollow:
    return IllegalFollow(breach, cards(told.compulsory), cards(told.legal))


def _invalid_field(told: refusal_pb2.Refusal.InvalidField) -> InvalidField:
    unit = known(UNITS, told.unit)
    return InvalidField(told.field, Bounds(unit, told.given, told.least, told.most, tuple(told.allowed)))
