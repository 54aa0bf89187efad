"""Server info: the version, games, features and limits that a server tells platforms."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Final

from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import RULES_VERSION, game_rules
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from erqiwang_grpc.auth.tokens import LIFETIME
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.wire import encode, requests as decode
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb

FEATURES: Final = (
    "disband_reason",
    "gateway",
    "hints",
    "labels",
    "last_event_time",
    "presence",
    "refresh_seat_token",
    "start_match",
    "watch",
    "watch_from_now",
)
"""Sorted. A name is never removed and never changes its meaning; docs/platforms.md says what each means."""

_DISTRIBUTION: Final = "erqiwang-grpc"


def server_info(limits: Limits, largest_page: int) -> pb.GetServerInfoResponse:
    """The server info of a server with these limits."""
    return pb.GetServerInfoResponse(
        version=version(_DISTRIBUTION),
        rules_version=RULES_VERSION,
        games=_games(),
        features=FEATURES,
        limits=pb.ServerLimits(
            platform_rooms=limits.rooms_of_platform,
            platform_streams=limits.streams_of_platform,
            platform_watchers=limits.watchers_of_platform,
            platform_unattached=limits.unattached_of_platform,
            platform_gateways=limits.gateways_of_platform,
            platform_spectators=limits.spectators_of_platform,
            spectators_per_room=limits.spectators_per_room,
            seats_per_gateway=limits.seats_per_gateway,
            gateway_commands_per_second=limits.commands_per_gateway,
            platform_calls_per_second=limits.platform_calls_per_second,
            seat_commands_per_second=limits.commands_per_second,
            streams_per_seat=limits.streams_per_seat,
            streams_per_connection=limits.streams_per_connection,
            message_bytes=limits.message_bytes,
            page_size=largest_page,
            attach=_duration(limits.attach_seconds),
            heartbeat=_duration(limits.heartbeat_seconds),
            absent=_duration(limits.absent_seconds),
            fill=_duration(60 * limits.fill_minutes),
            seat_token=_duration(LIFETIME),
        ),
    )


def _games() -> Iterator[pb.GameInfo]:
    """Each game that `RoomOptions` can choose, in the order of its fields."""
    for field in room_pb2.RoomOptions.DESCRIPTOR.oneofs_by_name["game"].fields:
        chosen = room_pb2.RoomOptions()
        game: Message = getattr(chosen, field.name)
        game.SetInParent()
        options = decode.room_options(chosen)
        assert isinstance(options, RoomOptions), "the defaults of a game are in range"
        seats = game_rules(options.game, options.review).seats
        yield pb.GameInfo(name=field.name, seats=seats, defaults=encode.room_options(options))


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromMilliseconds(round(1000 * seconds))
    return duration
