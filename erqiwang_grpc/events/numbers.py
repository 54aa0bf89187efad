"""Numbers: tables from the core's enumerations to the numbers that are stored for them."""

from typing import Final

from erqiwang_core.awards import AwardKind
from erqiwang_core.match import DisbandReason
from erqiwang_core.scoring import Disbanded, Made, NearShutout, Outcome, Shutout, Surrendered, Upgrade

from erqiwang_grpc.stored.v1 import settlement_pb2

AWARD_KINDS: Final = {
    AwardKind.JOKERS: settlement_pb2.AWARD_KIND_JOKERS,
    AwardKind.SEVENS: settlement_pb2.AWARD_KIND_SEVENS,
    AwardKind.TWOS: settlement_pb2.AWARD_KIND_TWOS,
    AwardKind.CHAIN: settlement_pb2.AWARD_KIND_CHAIN,
    AwardKind.JOKER_BONUS: settlement_pb2.AWARD_KIND_JOKER_BONUS,
    AwardKind.RUSH: settlement_pb2.AWARD_KIND_RUSH,
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

PLAIN_OUTCOMES: Final[dict[Outcome, settlement_pb2.Outcome.ValueType]] = {
    Shutout(): settlement_pb2.OUTCOME_SHUTOUT,
    NearShutout(): settlement_pb2.OUTCOME_NEAR_SHUTOUT,
    Made(): settlement_pb2.OUTCOME_MADE,
    Surrendered(): settlement_pb2.OUTCOME_SURRENDERED,
    Disbanded(): settlement_pb2.OUTCOME_DISBANDED,
}
"""All outcomes except an upgrade, which has a number of levels too."""


def outcome(result: Outcome) -> settlement_pb2.Outcome.ValueType:
    """The number that is stored for an outcome."""
    return settlement_pb2.OUTCOME_UPGRADE if isinstance(result, Upgrade) else PLAIN_OUTCOMES[result]
