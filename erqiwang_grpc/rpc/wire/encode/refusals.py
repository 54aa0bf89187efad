"""Refusals: the reason, and what the sender needs to know."""

from erqiwang_core.kernel.following import GroupNotFollowed, PairsNotPlayed, TractorNotPlayed, WholeGroupNotPlayed
from erqiwang_core.kernel.hand import ids
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
from erqiwang_core.units import CardSet

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
)
from erqiwang_grpc.rpc.wire.numbers import GROUPS, PHASES, QUOTAS, UNITS
from erqiwang_grpc.rpc.wire.rulings import ruling, sentence
from erqiwang_grpc.v1 import refusal_pb2

_LOWEST_INT32 = -(2**31)
_HIGHEST_INT32 = 2**31 - 1
_HIGHEST_UINT32 = 2**32 - 1


def refusal(refused: Refused) -> refusal_pb2.Refusal:
    """The refusal as its sender is told it."""
    message = _reason(refused)
    row = ruling(refused)
    message.code = refusal_pb2.Code.ValueType(row.code)
    message.message = sentence(refused)
    return message


def _reason(refused: Refused) -> refusal_pb2.Refusal:
    reason = refusal_pb2.Refusal
    match refused:
        case WrongPhase(phase):
            return reason(wrong_phase=reason.WrongPhase(phase=PHASES[phase]))
        case NoSuchSeat(seat):
            return reason(no_such_seat=reason.NoSuchSeat(seat=_uint32(seat)))
        case NotYourTurn(turn):
            return reason(not_your_turn=reason.NotYourTurn(turn=turn))
        case SeatOccupied(seat):
            return reason(seat_occupied=reason.SeatOccupied(seat=seat))
        case SeatFree(seat):
            return reason(seat_free=reason.SeatFree(seat=seat))
        case SeatedElsewhere(seat):
            return reason(seated_elsewhere=reason.SeatedElsewhere(seat=seat))
        case NotABid(points):
            return reason(not_a_bid=reason.NotABid(points=_uint32(points)))
        case NotATrump(trump):
            return reason(not_a_trump=reason.NotATrump(trump=_int32(trump)))
        case NotASignal(signal):
            return reason(not_a_signal=reason.NotASignal(signal=_int32(signal)))
        case NotACard(card):
            return reason(not_a_card=reason.NotACard(card=_uint32(card)))
        case RepeatedCard(card):
            return reason(repeated_card=reason.RepeatedCard(card=card))
        case CardNotHeld(card):
            return reason(card_not_held=reason.CardNotHeld(card=card))
        case WrongNumberOfCards(expected, given):
            return reason(wrong_number_of_cards=reason.WrongNumberOfCards(expected=expected, given=given))
        case FirstBidderMustBid(opening):
            return reason(first_bidder_must_bid=reason.FirstBidderMustBid(opening=opening))
        case BidNotLower(standing):
            return reason(bid_not_lower=reason.BidNotLower(standing=standing))
        case SurrenderNotAllowed(bid):
            return reason(surrender_not_allowed=reason.SurrenderNotAllowed(bid=bid))
        case IllegalLead(fault, legal):
            return _illegal_lead(fault, legal)
        case IllegalFollow():
            return _illegal_follow(refused)
        case DeclarerMayNotSignal():
            return reason(declarer_may_not_signal=reason.DeclarerMayNotSignal())
        case NotInThisRoom():
            return reason(not_in_this_room=reason.NotInThisRoom())
        case NobodyIsVoid():
            return reason(nobody_is_void=reason.NobodyIsVoid())
        case NoSuchRoom():
            return reason(no_such_room=reason.NoSuchRoom())
        case CommandIdReused():
            return reason(command_id_reused=reason.CommandIdReused())
        case StaleVersion(version):
            return reason(stale_version=reason.StaleVersion(version=version))
        case NoCommand():
            return reason(no_command=reason.NoCommand())
        case RoomQuarantined(version):
            return reason(room_quarantined=reason.RoomQuarantined(version=version))
        case TooManyCommands(per_second):
            return reason(too_many_commands=reason.TooManyCommands(per_second=per_second))
        case LogUnavailable():
            return reason(log_unavailable=reason.LogUnavailable())
        case InvalidField():
            return reason(invalid_field=_invalid_field(refused))
        case TooManyRooms(limit):
            return reason(too_many_rooms=reason.TooManyRooms(limit=limit))
        case QuotaReached(quota, limit):
            return reason(quota_reached=reason.QuotaReached(quota=QUOTAS[quota], limit=limit))
        case NoSuchRecord():
            return reason(no_such_record=reason.NoSuchRecord())
        case InvalidCursor(path):
            return reason(invalid_cursor=reason.InvalidCursor(field=path))
        case RoomFull(seats):
            return reason(room_full=reason.RoomFull(seats=seats))
        case ForeignCursor():
            return reason(foreign_cursor=reason.ForeignCursor())
        case OutcomeUnknown():
            return reason(outcome_unknown=reason.OutcomeUnknown())


def _invalid_field(refused: InvalidField) -> refusal_pb2.Refusal.InvalidField:
    bounds = refused.bounds
    return refusal_pb2.Refusal.InvalidField(
        field=refused.path,
        given=bounds.given,
        least=bounds.least,
        most=bounds.most,
        unit=UNITS[bounds.unit],
        allowed=bounds.allowed,
    )


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
