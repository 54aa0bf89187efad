"""A room as its platform sees it: its stored summary, and what no event says of it."""

from erqiwang_grpc.events.summary import RoomSummary, summary_of
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.v1 import room_service_pb2 as pb


def status(room: Room, rooms: Rooms) -> pb.Room:
    """The status of a room in memory."""
    return _told(summary_of(room.id, room.state.standing), room, rooms)


def listed(summary: RoomSummary, rooms: Rooms) -> pb.Room:
    """The status of a room in a list. It need not be in memory."""
    return _told(summary, rooms.in_memory(summary.room), rooms)


def _told(summary: RoomSummary, room: Room | None, rooms: Rooms) -> pb.Room:
    present = rooms.presence(summary.room, len(summary.players))
    live = encode.Live(present, room is not None and room.fault is not None, rooms.deadline(summary.created))
    return encode.room(summary, live)
