"""A room as its platform sees it: nothing that any seat hides."""

from erqiwang_core.match import Gathering, Match, Over, Running, phase, scores, to_act, totals

from erqiwang_grpc.events.actor import HOUSE
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.rpc.wire.numbers import PHASES
from erqiwang_grpc.store import TimeNs
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb


def status(room: Room, deadline: TimeNs) -> pb.Room:
    """Everything a platform is told of a live room, which ends at `deadline` if it is not full by then."""
    match = room.match
    return pb.Room(
        room_id=room.id,
        state=state(room),
        quarantined=room.fault is not None,
        owner=room.state.opened.owner,
        options=encode.room_options(match.options),
        seats=[
            pb.SeatStatus(seat=seat, player=chair.player or "", present=room.audience.present(seat))
            for seat, chair in match.chairs.items()
        ],
        deal=_deal_number(match),
        totals=totals(len(match.chairs), scores(match)),
        version=room.version,
        create_time=timestamp(room.state.created),
        start_time=None if room.state.started is None else timestamp(room.state.started),
        end_time=None if room.state.ended is None else timestamp(room.state.ended),
        expire_time=timestamp(deadline) if isinstance(match, Gathering) else None,
        phase=PHASES[phase(match)],
        to_act=to_act(match),
        last_event_time=timestamp(room.state.time),
        reference=room.state.opened.reference,
        labels=encode.labels(room.state.opened),
    )


def state(room: Room) -> room_pb2.RoomState.ValueType:
    """Where a room stands."""
    match room.match:
        case Gathering():
            return room_pb2.ROOM_STATE_OPEN
        case Running():
            return room_pb2.ROOM_STATE_PLAYING
        case Over(account=account):
            if room.state.ended_by == HOUSE:
                return room_pb2.ROOM_STATE_EXPIRED
            return room_pb2.ROOM_STATE_FINISHED if account.disbanding is None else room_pb2.ROOM_STATE_DISBANDED


def _deal_number(match: Match) -> int:
    match match:
        case Gathering():
            return 0
        case Running(deal=deal):
            return deal.dealt.number
        case Over(last=last):
            return last.dealt.number if last else 0
