"""Encodes the records of matches and deals that have ended."""

from erqiwang_core.kernel.hand import ids

from erqiwang_grpc.archive.records import DealRecord, MatchRecord, TrickRecord
from erqiwang_grpc.events.summary import RoomSummary
from erqiwang_grpc.rpc.wire.encode.cards import call, put_trick
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.rpc.wire.encode.rooms import labels, room_options
from erqiwang_grpc.rpc.wire.encode.settlements import disbanding, settlement
from erqiwang_grpc.v1 import record_pb2


def match_record(record: MatchRecord) -> record_pb2.MatchRecord:
    """A match with its deals, for its platform."""
    return record_pb2.MatchRecord(
        summary=platform_summary(record.summary), deals=[deal_record(deal) for deal in record.deals]
    )


def match_summary(summary: RoomSummary) -> record_pb2.MatchSummary:
    """A match without its deals, for a seat that played it."""
    return record_pb2.MatchSummary(
        room_id=summary.room,
        owner=summary.opened.owner,
        options=room_options(summary.opened.options),
        players=[player or "" for player in summary.players],
        totals=summary.totals.values,
        settled_deals=summary.settled_deals,
        disbanding=disbanding(summary.disbanding),
        create_time=timestamp(summary.created),
        start_time=None if summary.started is None else timestamp(summary.started),
        end_time=None if summary.ended is None else timestamp(summary.ended),
    )


def platform_summary(summary: RoomSummary) -> record_pb2.MatchSummary:
    """A match without its deals, for its platform: with the labels and reference of its room."""
    message = match_summary(summary)
    message.reference = summary.opened.reference
    message.labels.update(labels(summary.opened))
    return message


def written_deal(deal: DealRecord) -> bytes:
    """The bytes of a record that holds this deal alone. Joined, the bytes of several deals are those of one record."""
    return record_pb2.MatchRecord(deals=[deal_record(deal)]).SerializeToString()


def read_record(summary: record_pb2.MatchSummary, deals: bytes) -> record_pb2.MatchRecord:
    """The record with that summary. `deals` are the bytes of its deals, each from `written_deal`, joined in order."""
    record = record_pb2.MatchRecord.FromString(deals)
    record.summary.CopyFrom(summary)
    return record


def deal_record(deal: DealRecord) -> record_pb2.DealRecord:
    """The record of one deal that has ended."""
    dealt = deal.dealt
    return record_pb2.DealRecord(
        deal=dealt.number,
        start_time=timestamp(deal.started),
        end_time=timestamp(deal.ended),
        rules_version=dealt.rules.version,
        first_bidder=dealt.first_bidder,
        hands=[record_pb2.DealtHand(cards=ids(hand)) for hand in dealt.hands],
        kitty=ids(dealt.kitty),
        calls=[call(called) for called in deal.calls],
        tricks=[_trick(trick) for trick in deal.tricks],
        settlement=settlement(deal.settlement),
        commitment=dealt.shuffled.commitment,
        salt=dealt.shuffled.salt,
        deck=dealt.shuffled.order,
    )


def _trick(record: TrickRecord) -> record_pb2.TrickRecord:
    message = record_pb2.TrickRecord()
    put_trick(message.trick, record.trick)
    if record.attempted is not None:
        message.attempted.extend(ids(record.attempted))
    if record.taken is not None:
        message.taken.winner = record.taken.winner
        message.taken.points = record.taken.points
        message.taken.captured = record.taken.captured
    return message
