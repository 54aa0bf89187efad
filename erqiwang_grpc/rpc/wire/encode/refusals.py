"""Encodes refusals: the reason, and what the sender needs to know."""

from erqiwang_core.kernel.cards import CARDS
from erqiwang_core.kernel.following import GroupNotFollowed, PairsNotPlayed, TractorNotPlayed, WholeGroupNotPlayed
from erqiwang_core.kernel.hand import ids
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
    reason,
    sentence,
)
from erqiwang_grpc.rpc.wire.numbers import GROUPS, PHASES, QUOTAS, UNITS
from erqiwang_grpc.v1 import refusal_pb2

_LOWEST_INT32 = -(2**31)
_HIGHEST_INT32 = 2**31 - 1
_HIGHEST_UINT32 = 2**32 - 1


def refusal(refused: Refused) -> refusal_pb2.Refusal:
    """The message of a refusal."""
    message = _told(refused)
    code = reason(refused).value.code
    assert code is not None, "a refusal has a code"
    message.code = refusal_pb2.Code.ValueType(code)
    message.message = sentence(refused)
    return message


def _told(refused: Refused) -> refusal_pb2.Refusal:
    said = refusal_pb2.Refusal
    match refused:
        case WrongPhase(phase):
            return said(wrong_phase=said.WrongPhase(phase=PHASES[phase]))
        case NoSuchSeat(seat, seats):
            return said(no_such_seat=said.NoSuchSeat(seat=_uint32(seat), seats=seats))
        case NotYourTurn(turn):
            return said(not_your_turn=said.NotYourTurn(turn=turn))
        case SeatOccupied(seat):
            return said(seat_occupied=said.SeatOccupied(seat=seat))
        case SeatFree(seat):
            return said(seat_free=said.SeatFree(seat=seat))
        case SeatedElsewhere(seat):
            return said(seated_elsewhere=said.SeatedElsewhere(seat=seat))
        case NotABid(points, bids):
            return said(not_a_bid=said.NotABid(points=_uint32(points), bids=bids))
        case NotATrump(trump, trumps):
            return said(not_a_trump=said.NotATrump(trump=_int32(trump), trumps=trumps))
        case NotASignal(signal):
            return said(not_a_signal=said.NotASignal(signal=_int32(signal), signals=tuple(SignalKind)))
        case NotACard(card):
            return said(not_a_card=said.NotACard(card=_uint32(card), highest=CARDS - 1))
        case RepeatedCard(card):
            return said(repeated_card=said.RepeatedCard(card=card))
        case CardNotHeld(card):
            return said(card_not_held=said.CardNotHeld(card=card))
        case WrongNumberOfCards(expected, given):
            return said(wrong_number_of_cards=said.WrongNumberOfCards(expected=expected, given=given))
        case FirstBidderMustBid(opening):
            return said(first_bidder_must_bid=said.FirstBidderMustBid(opening=opening))
        case BidNotLower(standing):
            return said(bid_not_lower=said.BidNotLower(standing=standing))
        case SurrenderNotAllowed(bid):
            return said(surrender_not_allowed=said.SurrenderNotAllowed(bid=bid))
        case IllegalLead(fault, legal):
            return _illegal_lead(fault, legal)
        case IllegalFollow():
            return _illegal_follow(refused)
        case DeclarerMayNotSignal():
            return said(declarer_may_not_signal=said.DeclarerMayNotSignal())
        case NotInThisRoom():
            return said(not_in_this_room=said.NotInThisRoom())
        case NobodyIsVoid():
            return said(nobody_is_void=said.NobodyIsVoid())
        case NoSuchRoom():
            return said(no_such_room=said.NoSuchRoom())
        case CommandIdReused():
            return said(command_id_reused=said.CommandIdReused())
        case StaleVersion(version):
            return said(stale_version=said.StaleVersion(version=version))
        case NoCommand():
            return said(no_command=said.NoCommand())
        case RoomQuarantined(version):
            return said(room_quarantined=said.RoomQuarantined(version=version))
        case TooManyCommands(per_second):
            return said(too_many_commands=said.TooManyCommands(per_second=per_second))
        case StoreUnavailable():
            return said(store_unavailable=said.StoreUnavailable())
        case WrittenByNewer():
            return said(written_by_newer=said.WrittenByNewer())
        case InvalidField():
            return said(invalid_field=_invalid_field(refused))
        case TooManyRooms(limit):
            return said(too_many_rooms=said.TooManyRooms(limit=limit))
        case QuotaReached(quota, limit):
            return said(quota_reached=said.QuotaReached(quota=QUOTAS[quota], limit=limit))
        case NoSuchRecord():
            return said(no_such_record=said.NoSuchRecord())
        case InvalidCursor(path):
            return said(invalid_cursor=said.InvalidCursor(field=path))
        case RoomFull(seats):
            return said(room_full=said.RoomFull(seats=seats))
        case ForeignCursor():
            return said(foreign_cursor=said.ForeignCursor())
        case OutcomeUnknown():
            return said(outcome_unknown=said.OutcomeUnknown())
        case SeatChangesUsedUp(most):
            return said(seat_changes_used_up=said.SeatChangesUsedUp(most=most))
        case HintsForbidden():
            return said(hints_forbidden=said.HintsForbidden())
        case NothingToDecide(phase):
            return said(nothing_to_decide=said.NothingToDecide(phase=PHASES[phase]))
        case TooManyHints():
            return said(too_many_hints=said.TooManyHints())


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
    """The number, or the nearest that the field can hold. A number that came over the wire always fits."""
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
