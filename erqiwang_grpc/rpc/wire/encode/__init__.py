"""Encode: from values of the core to messages of the wire. It never fails, since every value has a message."""

from erqiwang_grpc.rpc.wire.encode.notices import aside, beginning, missed, notice, snapshot, trumps_shown
from erqiwang_grpc.rpc.wire.encode.packing import Packed, packed, packed_beginning, packed_entrance, packed_notice
from erqiwang_grpc.rpc.wire.encode.parts import parts, timestamp, view
from erqiwang_grpc.rpc.wire.encode.records import (
    deal_record,
    match_record,
    match_summary,
    platform_summary,
    read_record,
    written_deal,
)
from erqiwang_grpc.rpc.wire.encode.refusals import refusal
from erqiwang_grpc.rpc.wire.encode.room_events import room_event
from erqiwang_grpc.rpc.wire.encode.room_status import STATES, Live, room
from erqiwang_grpc.rpc.wire.encode.rooms import card_cost, labels, room_options
from erqiwang_grpc.rpc.wire.encode.settlements import account, settlement

__all__ = [
    "STATES",
    "Live",
    "Packed",
    "account",
    "aside",
    "beginning",
    "card_cost",
    "deal_record",
    "labels",
    "match_record",
    "match_summary",
    "missed",
    "notice",
    "packed",
    "packed_beginning",
    "packed_entrance",
    "packed_notice",
    "parts",
    "platform_summary",
    "read_record",
    "refusal",
    "room",
    "room_event",
    "room_options",
    "settlement",
    "snapshot",
    "timestamp",
    "trumps_shown",
    "view",
    "written_deal",
]
