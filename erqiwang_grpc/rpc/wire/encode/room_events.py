"""Encodes the public events of rooms, for `WatchRooms`."""

from erqiwang_core.match import DealStarted, MatchEnded, SeatLeft, SeatTaken
from erqiwang_core.settlement import DealSettled

from erqiwang_grpc.events.actor import HOUSE, stored
from erqiwang_grpc.events.index import PublicEvent
from erqiwang_grpc.events.model import RoomOpened
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.rpc.wire.encode.rooms import labels, room_options
from erqiwang_grpc.rpc.wire.encode.settlements import account, settlement
from erqiwang_grpc.store import Entry
from erqiwang_grpc.v1 import room_pb2, room_service_pb2


def room_event(entry: Entry, event: PublicEvent, opened: RoomOpened | None, cursor: str) -> room_service_pb2.RoomEvent:
    """A public event, for the platform of its room. `cursor` is the place after it, where a watcher goes on.

    `opened` is the opening of its room; None if that cannot be read any more.
    """
    message = room_service_pb2.RoomEvent(
        cursor=cursor,
        room_id=entry.room,
        version=entry.version,
        time=timestamp(entry.time),
        reference="" if opened is None else opened.reference,
        labels={} if opened is None else labels(opened),
    )
    match event:
        case RoomOpened(_, owner, options):
            created = room_service_pb2.RoomCreated(owner=owner, options=room_options(options))
            message.created.CopyFrom(created)
        case SeatTaken(seat, player):
            message.seat_taken.CopyFrom(room_pb2.SeatTaken(seat=seat, player=player))
        case SeatLeft(seat):
            message.seat_left.CopyFrom(room_pb2.SeatLeft(seat=seat))
        case DealStarted(number, first_bidder, shuffled=shuffled):
            started = room_pb2.DealStarted(deal=number, first_bidder=first_bidder, commitment=shuffled.commitment)
            message.deal_started.CopyFrom(started)
        case DealSettled(number, settled):
            told = room_service_pb2.DealSettled(deal=number, settlement=settlement(settled))
            message.deal_settled.CopyFrom(told)
        case MatchEnded(result):
            ended = room_service_pb2.MatchSettled(account=account(result), expired=entry.actor == stored(HOUSE))
            message.match_settled.CopyFrom(ended)
    return message
