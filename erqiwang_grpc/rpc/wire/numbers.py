"""Numbers: tables from the core's enumerations to the enum values on the wire."""

from typing import Final, TypeVar

from erqiwang_core.awards import AwardKind
from erqiwang_core.kernel.trump import TRUMPS, Group, Trump
from erqiwang_core.match import DisbandReason
from erqiwang_core.naming import number
from erqiwang_core.options import Deck, Payer, Start
from erqiwang_core.playing import SignalKind
from erqiwang_core.refusals import Phase
from erqiwang_core.scoring import Disbanded, Made, NearShutout, Outcome, Shutout, Surrendered, Upgrade

from erqiwang_grpc.rooms.refusals import Quota, Unit
from erqiwang_grpc.v1 import card_pb2, playing_pb2, refusal_pb2, room_pb2, settlement_pb2, view_pb2

K = TypeVar("K")
V = TypeVar("V")

PHASES: Final = {
    Phase.OPEN: view_pb2.PHASE_OPEN,
    Phase.BIDDING: view_pb2.PHASE_BIDDING,
    Phase.NAMING: view_pb2.PHASE_NAMING,
    Phase.BURYING: view_pb2.PHASE_BURYING,
    Phase.PLAYING: view_pb2.PHASE_PLAYING,
    Phase.SETTLED: view_pb2.PHASE_SETTLED,
    Phase.OVER: view_pb2.PHASE_OVER,
}

GROUPS: Final = {
    Group.TRUMPS: card_pb2.GROUP_TRUMPS,
    Group.DIAMONDS: card_pb2.GROUP_DIAMONDS,
    Group.CLUBS: card_pb2.GROUP_CLUBS,
    Group.HEARTS: card_pb2.GROUP_HEARTS,
    Group.SPADES: card_pb2.GROUP_SPADES,
}

NAMED: Final[dict[Trump, card_pb2.Trump.ValueType]] = {
    trump: card_pb2.Trump.ValueType(number(trump)) for trump in TRUMPS
}
"""The trump choices. The numbers are those of a `NameTrump` command too."""

QUOTAS: Final = {
    Quota.ROOMS: refusal_pb2.Refusal.QUOTA_ROOMS,
    Quota.WATCHERS: refusal_pb2.Refusal.QUOTA_WATCHERS,
    Quota.STREAMS: refusal_pb2.Refusal.QUOTA_STREAMS,
    Quota.CALLS: refusal_pb2.Refusal.QUOTA_CALLS,
    Quota.UNATTACHED: refusal_pb2.Refusal.QUOTA_UNATTACHED,
    Quota.GATEWAYS: refusal_pb2.Refusal.QUOTA_GATEWAYS,
    Quota.SPECTATORS: refusal_pb2.Refusal.QUOTA_SPECTATORS,
}

SIGNALS: Final = {
    SignalKind.CAN_BEAT: playing_pb2.SIGNAL_KIND_CAN_BEAT,
    SignalKind.NO_POINTS: playing_pb2.SIGNAL_KIND_NO_POINTS,
    SignalKind.HAS_POINTS: playing_pb2.SIGNAL_KIND_HAS_POINTS,
}

AWARD_KINDS: Final = {
    AwardKind.JOKERS: settlement_pb2.AWARD_KIND_JOKERS,
    AwardKind.SEVENS: settlement_pb2.AWARD_KIND_SEVENS,
    AwardKind.TWOS: settlement_pb2.AWARD_KIND_TWOS,
    AwardKind.CHAIN: settlement_pb2.AWARD_KIND_CHAIN,
    AwardKind.JOKER_BONUS: settlement_pb2.AWARD_KIND_JOKER_BONUS,
    AwardKind.RUSH: settlement_pb2.AWARD_KIND_RUSH,
}

PAYERS: Final = {
    Payer.OWNER: room_pb2.PAYER_OWNER,
    Payer.EACH: room_pb2.PAYER_EACH,
}

DISBAND_REASONS: Final = {
    DisbandReason.UNSAID: settlement_pb2.DISBAND_REASON_UNSPECIFIED,
    DisbandReason.AGREED: settlement_pb2.DISBAND_REASON_AGREED,
    DisbandReason.ABSENT: settlement_pb2.DISBAND_REASON_ABSENT,
    DisbandReason.MISCONDUCT: settlement_pb2.DISBAND_REASON_MISCONDUCT,
    DisbandReason.MAINTENANCE: settlement_pb2.DISBAND_REASON_MAINTENANCE,
    DisbandReason.OTHER: settlement_pb2.DISBAND_REASON_OTHER,
    DisbandReason.EXPIRED: settlement_pb2.DISBAND_REASON_EXPIRED,
}

STARTS: Final = {
    Start.LAST_SEAT: room_pb2.START_LAST_SEAT,
    Start.PLATFORM: room_pb2.START_PLATFORM,
}

DECKS: Final = {
    Deck.SHORT: room_pb2.DECK_SHORT,
    Deck.FULL: room_pb2.DECK_FULL,
}

UNITS: Final = {
    Unit.VALUE: refusal_pb2.Refusal.UNIT_UNSPECIFIED,
    Unit.BYTES: refusal_pb2.Refusal.UNIT_BYTES,
    Unit.ITEMS: refusal_pb2.Refusal.UNIT_ITEMS,
    Unit.SECONDS: refusal_pb2.Refusal.UNIT_SECONDS,
    Unit.CONTROL_CHARACTERS: refusal_pb2.Refusal.UNIT_CONTROL_CHARACTERS,
    Unit.CHARACTERS: refusal_pb2.Refusal.UNIT_CHARACTERS,
    Unit.OTHER_CHARACTERS: refusal_pb2.Refusal.UNIT_OTHER_CHARACTERS,
}


def reverse(numbers: dict[K, V]) -> dict[V, K]:
    """The table in the other direction: from the number on the wire to the core's value."""
    return {number: value for value, number in numbers.items()}


def outcome(result: Outcome) -> settlement_pb2.Outcome.ValueType:
    """The enum value of an outcome. The n of an upgrade is sent as the multiplier."""
    match result:
        case Shutout():
            return settlement_pb2.OUTCOME_SHUTOUT
        case NearShutout():
            return settlement_pb2.OUTCOME_NEAR_SHUTOUT
        case Made():
            return settlement_pb2.OUTCOME_MADE
        case Upgrade():
            return settlement_pb2.OUTCOME_UPGRADE
        case Surrendered():
            return settlement_pb2.OUTCOME_SURRENDERED
        case Disbanded():
            return settlement_pb2.OUTCOME_DISBANDED
