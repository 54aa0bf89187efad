"""`GetServerInfo`: what a server says of itself is what is so."""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import grpc
import pytest
from erqiwang_core.rules import RULES_VERSION

from erqiwang_grpc.auth.tokens import LIFETIME
from erqiwang_grpc.client import CallRefused, refusal_of
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rpc.server_info import FEATURES
from erqiwang_grpc.v1 import refusal_pb2, room_pb2, room_service_pb2 as pb
from tests.documents import REPOSITORY
from tests.service.tables import ROOMY, Service, served

SCHEMA = (REPOSITORY / "proto" / "erqiwang" / "v1" / "room_service.proto").read_text(encoding="utf-8")
PLATFORMS = (REPOSITORY / "docs" / "platforms.md").read_text(encoding="utf-8")


async def test_versions_and_features(service: Service) -> None:
    info = await service.platform.server_info()
    assert (info.version, info.rules_version) == (version("erqiwang-grpc"), RULES_VERSION)
    assert tuple(info.features) == FEATURES == tuple(sorted(set(FEATURES)))


@pytest.mark.parametrize("feature", FEATURES)
def test_each_feature_is_written_of(feature: str) -> None:
    assert f"`{feature}`" in SCHEMA
    assert f"| `{feature}` |" in PLATFORMS


async def test_each_game_is_one_that_can_be_opened(service: Service) -> None:
    info = await service.platform.server_info()
    assert [(game.name, game.seats) for game in info.games] == [("three_player", 3), ("four_player", 4)]
    for game in info.games:
        assert game.defaults.WhichOneof("game") == game.name
        room = (await service.platform.create_room("alice", game.defaults)).room
        assert (room.options, len(room.seats)) == (game.defaults, game.seats)
    default = (await service.platform.create_room("alice", room_pb2.RoomOptions())).room
    assert default.options == info.games[0].defaults


async def test_its_limits_are_those_that_it_keeps(tmp_path: Path) -> None:
    limits = replace(ROOMY, rooms=5, platform_watchers=7, fill_minutes=3, heartbeat_seconds=1.5)
    async with served(tmp_path, limits=limits) as service:
        told = (await service.platform.server_info()).limits
        assert (told.platform_rooms, told.platform_watchers) == (3, 7), "half of all rooms, rounded up"
        assert told.platform_streams == limits.streams_of_platform
        assert told.platform_unattached == limits.unattached_of_platform == 2_500
        assert told.platform_gateways == limits.gateways_of_platform == 50
        assert (told.seats_per_gateway, told.gateway_commands_per_second) == (30_000, limits.commands_per_gateway)
        assert told.platform_calls_per_second == limits.platform_calls_per_second
        assert told.seat_commands_per_second == limits.commands_per_second
        assert (told.streams_per_seat, told.streams_per_connection) == (16, 1_000)
        assert (told.message_bytes, told.page_size) == (64 * 1024, 200)
        assert told.heartbeat.ToMilliseconds() == 1_500
        assert (told.attach.seconds, told.absent.seconds, told.fill.seconds) == (30, 60, 180)
        assert told.seat_token.seconds == LIFETIME
        room, *_ = [(await service.platform.create_room("alice")).room for _ in range(told.platform_rooms)]
        with pytest.raises(CallRefused) as refused:
            await service.platform.create_room("alice")
        assert refused.value.refusal is not None
        reached = refused.value.refusal.quota_reached
        assert (reached.quota, reached.limit) == (refusal_pb2.Refusal.QUOTA_ROOMS, told.platform_rooms)
        waits = room.expire_time.ToMilliseconds() - room.create_time.ToMilliseconds()
        assert waits == told.fill.ToMilliseconds()
        with pytest.raises(grpc.aio.AioRpcError) as too_large:
            await service.rooms.GetRoom(
                pb.GetRoomRequest(room_id="x" * told.message_bytes), metadata=bearer(service.key)
            )
        assert too_large.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_stranger_learns_nothing(service: Service) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await service.rooms.GetServerInfo(pb.GetServerInfoRequest())
    assert refusal_of(refused.value).reason == "CREDENTIAL_MISSING"
