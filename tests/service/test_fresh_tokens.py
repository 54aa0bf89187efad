"""`RefreshSeatToken`: a fresh token for who sits there, beside a stream that goes on."""

from pathlib import Path
from time import time

import grpc
import pytest

from erqiwang_grpc.auth.tokens import LIFETIME
from erqiwang_grpc.client import CallRefused, Platform, refusal_of
from tests.service.tables import ROOMY, RawSeat, Service, Table, eventually, seated, seen, served, step

DAY = LIFETIME
SECOND = 1_000_000_000


class Clock:
    def __init__(self) -> None:
        self.seconds = int(time())

    def __call__(self) -> int:
        return self.seconds * SECOND


async def test_the_stream_goes_on_and_both_tokens_are_good(tmp_path: Path) -> None:
    clock = Clock()
    async with served(tmp_path, limits=ROOMY, now=clock) as service:
        table = await seated(service.platform)
        stream = RawSeat(service, table.tokens[0])
        attached = await stream.attach()
        clock.seconds += DAY // 2
        fresh = await service.platform.refresh_seat_token(table.room_id, 0, "alice")
        assert fresh.token != table.tokens[0]
        assert fresh.token_expires.seconds == clock.seconds + DAY
        assert (await service.platform.room(table.room_id)).version == attached.version, "nothing is logged"
        accepted = await step(service, table)
        assert (await stream.hear("notice")).notice.version == accepted.first_version, "the stream goes on"
        renewed = Table(table.room_id, (fresh.token,))
        assert await seen(service, renewed, 0) == await seen(service, table, 0), "the old token is still good"
        clock.seconds += DAY // 2
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await seen(service, table, 0)
        assert refusal_of(ended.value).reason == "CREDENTIAL_EXPIRED"
        assert (await seen(service, renewed, 0)).version == accepted.last_version, "the fresh one lives longer"
        later = RawSeat(service, fresh.token)
        assert (await later.attach()).version == accepted.last_version


async def test_taking_the_seat_again_voids_a_fresh_token_too(service: Service) -> None:
    table = await seated(service.platform)
    fresh = await service.platform.refresh_seat_token(table.room_id, 0, "alice")
    await service.platform.take_seat(table.room_id, "alice")
    with pytest.raises(grpc.aio.AioRpcError) as void:
        await seen(service, Table(table.room_id, (fresh.token,)), 0)
    assert refusal_of(void.value).reason == "UNSEATED"


async def test_a_client_comes_back_with_its_fresh_token(tmp_path: Path) -> None:
    clock = Clock()
    async with served(tmp_path, limits=ROOMY, now=clock) as service:
        table = await seated(service.platform)
        async with service.client(table.tokens[0]) as seat:
            clock.seconds += DAY - 1
            seat.renew((await service.platform.refresh_seat_token(table.room_id, 0, "alice")).token)
            clock.seconds += 1
            assert seat.connections == 1, "it was not disturbed"
            seat.drop()
            await eventually(lambda: seat.connections == 2)
            assert seat.ended is None


@pytest.mark.parametrize(
    ("seat", "player", "reason"),
    [
        pytest.param(0, "bob", "SEAT_OCCUPIED", id="another player sits there"),
        pytest.param(1, "bob", "SEAT_FREE", id="nobody sits there"),
        pytest.param(3, "alice", "NO_SUCH_SEAT", id="no such seat"),
        pytest.param(0, "", "INVALID_FIELD", id="no player"),
    ],
)
async def test_nobody_else_gets_one(service: Service, seat: int, player: str, reason: str) -> None:
    room = await service.platform.create_room("alice")
    await service.platform.take_seat(room.room_id, "alice", 0)
    with pytest.raises(CallRefused) as refused:
        await service.platform.refresh_seat_token(room.room_id, seat, player)
    assert refused.value.reason == reason
    rival = Platform([service.address], service.tenant("rival"))
    with pytest.raises(CallRefused) as refused:
        await rival.refresh_seat_token(room.room_id, 0, "alice")
    assert refused.value.reason == "NO_SUCH_ROOM"
