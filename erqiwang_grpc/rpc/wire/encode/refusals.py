"""Refusals: the reason, and what the sender needs to know."""

from erqiwang_core.following import GroupNotFollowed, PairsNotPlayed, TractorNotPlayed, WholeGroupNotPlayed
from erqiwang_core.hand import ids
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
from erqiwang_core.shapes import SeveralGroups, SideSuitThrow
from erqiwang_core.units import CardSet

from erqiwang_grpc.rooms.refusals import (
    CommandIdReused,
    ForeignCursor,
    InvalidCursor,
    InvalidOption,
    LogUnavailable,
    NoCommand,
    NoSuchRecord,
    NoSuchRoom,
    OutcomeUnknown,
    Refused,
    RoomQuarantined,
    StaleVersion,
    TooManyCommands,
    TooManyRooms,
)
from erqiwang_grpc.rpc.wire.numbers import GROUPS, PHASES
from erqiwang_grpc.rpc.wire.rulings import ruling
from erqiwang_grpc.v1 import refusal_pb2

_LOWEST_INT32 = -(2**31)
_HIGHEST_INT32 = 2**31 - 1
_HIGHEST_UINT32 = 2**32 - 1


def refusal(refused: Refused) -> refusal_pb2.Refusal:
    """The refusal as its sender is told it."""
    message = _reason(refused)
    row = ruling(refused)
    message.code = refusal_pb2.Code.ValueType(row.code)
    message.message = row.sentence
    return message


def _reason(refused: Refused) -> refusal_pb2.Refusal:
    message = refusal_pb2.Refusal
    match refused:
        case WrongPhase(phase):
            return message(wrong_phase=PHASES[phase])
        case NoSuchSeat(seat):
            return message(no_such_seat=_uint32(seat))
        case NotYourTurn(turn):
            return message(not_your_turn=turn)
        case SeatOccupied(seat):
            return message(seat_occupied=seat)
        case SeatFree(seat):
            return message(seat_free=seat)
        case SeatedElsewhere(seat):
            return message(seated_elsewhere=seat)
        case NotABid(points):
            return message(not_a_bid=_uint32(points))
        case NotATrump(trump):
            return message(not_a_trump=_int32(trump))
        case NotASignal(signal):
            return message(not_a_signal=_int32(signal))
        case NotACard(card):
            return message(not_a_card=_uint32(card))
        case RepeatedCard(card):
            return message(repeated_card=card)
        case CardNotHeld(card):
            return message(card_not_held=card)
        case WrongNumberOfCards(expected, given):
            number = refusal_pb2.Refusal.WrongNumberOfCards(expected=expected, given=given)
            return message(wrong_number_of_cards=number)
        case FirstBidderMustBid(opening):
            return message(first_bidder_must_bid=opening)
        case BidNotLower(standing):
            return message(bid_not_lower=standing)
        case SurrenderNotAllowed(bid):
            return message(surrender_not_allowed=bid)
        case IllegalLead(fault, legal):
            return _illegal_lead(fault, legal)
        case IllegalFollow():
            return _illegal_follow(refused)
        case DeclarerMayNotSignal():
            return message(declarer_may_not_signal=True)
        case NotInThisRoom():
            return message(not_in_this_room=True)
        case NobodyIsVoid():
            return message(nobody_is_void=True)
        case NoSuchRoom():
            return message(no_such_room=True)
        case CommandIdReused():
            return message(command_id_reused=True)
        case StaleVersion(version):
            return message(stale_version=version)
        case NoCommand():
            return message(no_command=True)
        case RoomQuarantined(version):
            return message(room_quarantined=version)
        case TooManyCommands(per_second):
            return message(too_many_commands=per_second)
        case LogUnavailable():
            return message(log_unavailable=True)
        case InvalidOption(name):
            return message(invalid_option=name)
        case TooManyRooms(limit):
            return message(too_many_rooms=limit)
        case NoSuchRecord():
            return message(no_such_record=True)
        case InvalidCursor():
            return message(invalid_cursor=True)
        case ForeignCursor():
            return message(foreign_cursor=True)
        case OutcomeUnknown():
            return message(outcome_unknown=True)


def _int32(number: int) -> int:
    """A raw number as near as its field can hold it; what came over the wire fits."""
    return max(_LOWEST_INT32, min(number, _HIGHEST_INT32))


def _uint32(number: int) -> int:
    return max(0, min(number, _HIGHEST_UINT32))


def _illegal_lead(fault: SeveralGroups | SideSuitThrow, legal: CardSet) -> refusal_pb2.Refusal:
    match fault:
        case SeveralGroups(groups):
            numbers = [GROUPS[group] for group in groups]
            several = refusal_pb2.Refusal.SeveralGroups(groups=numbers, legal=ids(legal))
            return refusal_pb2.Refusal(several_groups=several)
        case SideSuitThrow(group):
            throw = refusal_pb2.Refusal.SideSuitThrow(group=GROUPS[group], legal=ids(legal))
            return refusal_pb2.Refusal(side_suit_throw=throw)


def _illegal_follow(refused: IllegalFollow) -> refusal_pb2.Refusal:
    told = refusal_pb2.Refusal.Breach(compulsory=ids(refused.compulsory), legal=ids(refused.legal))
    match refused.breach:
        case WholeGroupNotPlayed(group):
            told.group = GROUPS[group]
            return refusal_pb2.Refusal(whole_group_not_played=told)
        case GroupNotFollowed(group):
            told.group = GROUPS[group]
            return refusal_pb2.Refusal(group_not_followed=told)
        case TractorNotPlayed(length):
            told.pairs = length
            return refusal_pb2.Refusal(tractor_not_played=told)
        case PairsNotPlayed(number):
            told.pairs = number
            return refusal_pb2.Refusal(pairs_not_played=told)
