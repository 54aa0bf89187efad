"""Encodes rooms, as their platform sees them."""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.events.standing import RoomState
from erqiwang_grpc.events.summary import RoomSummary
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.rpc.wire.encode.rooms import labels, room_options
from erqiwang_grpc.rpc.wire.encode.settlements import disbanding
from erqiwang_grpc.rpc.wire.numbers import PHASES
from erqiwang_grpc.store import TimeNs
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb

STATES: Final = {
    RoomState.OPEN: room_pb2.ROOM_STATE_OPEN,
    RoomState.PLAYING: room_pb2.ROOM_STATE_PLAYING,
    RoomState.FINISHED: room_pb2.ROOM_STATE_FINISHED,
    RoomState.DISBANDED: room_pb2.ROOM_STATE_DISBANDED,
    RoomState.EXPIRED: room_pb2.ROOM_STATE_EXPIRED,
}


@final
@dataclass(frozen=True, slots=True)
class Live:
    """What no event says of a room."""

    present: tuple[bool, ...]
    """Whether each seat is present, seat 0 first."""
    is_quarantined: bool
    deadline: TimeNs
    """When the room expires unless its match has begun by then."""


def room(summary: RoomSummary, live: Live) -> pb.Room:
    """The message of a room, for its platform. It holds no hidden card."""
    return pb.Room(
        room_id=summary.room,
        state=STATES[summary.state],
        quarantined=live.is_quarantined,
        owner=summary.opened.owner,
        options=room_options(summary.opened.options),
        seats=[
            pb.SeatStatus(seat=seat, player=player or "", present=live.present[seat])
            for seat, player in summary.players.items()
        ],
        deal=summary.deal,
        totals=summary.totals.values,
        version=summary.version,
        create_time=timestamp(summary.created),
        start_time=None if summary.started is None else timestamp(summary.started),
        end_time=None if summary.ended is None else timestamp(summary.ended),
        expire_time=timestamp(live.deadline) if summary.state is RoomState.OPEN else None,
        phase=PHASES[summary.phase],
        to_act=summary.to_act,
        last_event_time=timestamp(summary.last),
        reference=summary.opened.reference,
        labels=labels(summary.opened),
        disbanding=disbanding(summary.disbanding),
    )
