"""Watch tokens: how they are made, what they open, and what nobody gets with them."""

import asyncio
import base64
import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from erqiwang_grpc.auth.files import SIGNING_KEYS, rotate_signing_key
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import Delayed, Milliseconds, UnixSeconds, WatchClaims
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import room_service_pb2 as room_pb, seat_service_pb2 as pb
from tests.service.gateways import gateway_of
from tests.service.spectating import SECOND, SETTLED, Watch, asked, duration, ended, watch_token
from tests.service.tables import (
    RawSeat,
    Service,
    refused,
    seated,
    seen,
    served,
    step,
)
from tests.service.test_access import with_another_payload
from tests.service.test_clocks import HandWall


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (room_pb.CreateWatchTokenRequest(), "told"),
        (room_pb.CreateWatchTokenRequest(settled_deals=False), "told"),
        (room_pb.CreateWatchTokenRequest(delay=duration(-1)), "delay"),
        (room_pb.CreateWatchTokenRequest(delay=duration(24 * 3600 + 0.001)), "delay"),
        (room_pb.CreateWatchTokenRequest(delay=Duration(seconds=2**62)), "delay"),
        (room_pb.CreateWatchTokenRequest(settled_deals=True, lifetime=duration(0)), "lifetime"),
        (room_pb.CreateWatchTokenRequest(settled_deals=True, lifetime=duration(-0.5)), "lifetime"),
        (room_pb.CreateWatchTokenRequest(settled_deals=True, lifetime=duration(7 * 24 * 3600 + 1)), "lifetime"),
    ],
)
async def test_a_token_for_nothing_or_beyond_its_bounds_is_refused(
    service: Service, request_: room_pb.CreateWatchTokenRequest, field: str
) -> None:
    table = await seated(service.platform)
    request_.room_id = table.room_id
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.rooms.CreateWatchToken(request_, metadata=bearer(service.key))
    refusal = refused(error.value).refusal
    assert refusal is not None
    assert refusal.invalid_field.field == field


@pytest.mark.parametrize(("lifetime", "seconds"), [(None, 24 * 3600), (1, 1), (1.5, 2), (7 * 24 * 3600, 7 * 24 * 3600)])
async def test_a_token_lives_as_long_as_was_asked(tmp_path: Path, lifetime: float | None, seconds: int) -> None:
    wall = HandWall()
    async with served(tmp_path, now=wall) as service:
        table = await seated(service.platform)
        request = asked(table.room_id, 0, lifetime)
        given: room_pb.CreateWatchTokenResponse
        given = await service.rooms.CreateWatchToken(request, metadata=bearer(service.key))
        assert given.token_expire_time.ToNanoseconds() == wall.at + seconds * SECOND
        wall.at += seconds * SECOND - 1
        watch = Watch(service, given.watch_token)
        await watch.hear("snapshot")
        wall.at += 1
        late = await ended(Watch(service, given.watch_token))
        assert (late.code, late.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_EXPIRED")
        cut = await ended(watch)
        assert (cut.code, cut.reason) == (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_EXPIRED"), (
            "an open stream ends too"
        )


async def test_tokens_survive_a_rotation_of_the_signing_keys_as_seat_tokens_do(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    assert rotate_signing_key(service.folder / SIGNING_KEYS, keep=1) is None
    assert service.keys.reload() is None
    await Watch(service, token).hear("snapshot")
    assert (await watch_token(service, table.room_id)).split(".")[0] != token.split(".")[0]
    assert rotate_signing_key(service.folder / SIGNING_KEYS, keep=0) is None
    assert service.keys.reload() is None
    assert (await ended(Watch(service, token))).reason == "CREDENTIAL_WRONG"


async def test_a_token_is_made_without_a_word_to_the_table(service: Service) -> None:
    table = await seated(service.platform)
    before = await seen(service, table, 0)
    watch = Watch(service, await watch_token(service, table.room_id))
    await watch.hear("snapshot")
    assert await seen(service, table, 0) == before
    assert (await service.platform.room(table.room_id)).seats[0].present is False
    assert [seat.present for seat in (await service.platform.room(table.room_id)).seats] == [False] * 3


# Attacks


async def test_a_watch_token_opens_nothing_else(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    for call in (
        service.seats.Act(pb.ActRequest(), metadata=bearer(token)),
        service.seats.GetView(pb.GetViewRequest(), metadata=bearer(token)),
        service.seats.GetRecord(pb.GetRecordRequest(), metadata=bearer(token)),
        service.rooms.GetRoom(room_pb.GetRoomRequest(room_id=table.room_id), metadata=bearer(token)),
        service.rooms.CreateWatchToken(asked(table.room_id, 0), metadata=bearer(token)),
        service.rooms.DisbandRoom(room_pb.DisbandRoomRequest(room_id=table.room_id), metadata=bearer(token)),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await call
        assert refused(error.value).reason == "CREDENTIAL_MALFORMED"
    stream = RawSeat(service, token)
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
        await stream.say(pb.PlayRequest(attach=pb.Attach()))
    assert await stream.next() is None
    assert stream.refused is not None
    gateway = service.gateways.Connect(metadata=bearer(token))
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await gateway.read()
    assert refused(error.value).reason == "CREDENTIAL_MALFORMED"


async def test_a_gateway_takes_no_watch_token_for_a_seat(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    async with gateway_of(service) as gateway:
        stranger = gateway.seat(token)
        with suppress(AssertionError):
            await stranger.attach()
        assert stranger.refused is not None
        assert stranger.refused.reason == "NO_SUCH_ROOM", "a gateway learns nothing of a bad token"


async def test_another_platform_gets_no_token_for_a_room(service: Service) -> None:
    table = await seated(service.platform)
    rival = service.tenant("rival")
    for room_id in (table.room_id, "no such room", ""):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await service.rooms.CreateWatchToken(asked(room_id, 0), metadata=bearer(rival))
        assert refused(error.value).reason == "NO_SUCH_ROOM"


def signed(service: Service, room_id: str, platform: str = "local") -> str:
    """A token with our own signature: only what it says may be wrong with it."""
    claims = WatchClaims(PlatformId(platform), RoomId(room_id), Delayed(Milliseconds(0)), UnixSeconds(2**40))
    return service.keys.current.tokens.issue(claims)


async def test_a_token_that_names_another_platform_or_room_opens_nothing(service: Service) -> None:
    table = await seated(service.platform)
    await Watch(service, signed(service, table.room_id)).hear("snapshot")
    for wrong in (signed(service, table.room_id, "rival"), signed(service, "no such room")):
        refusal = await ended(Watch(service, wrong))
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM")


def _payload(token: str) -> dict[str, object]:
    said: dict[str, object] = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return said


async def test_what_was_changed_in_a_token_makes_it_worthless(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id, 180)
    assert _payload(token)["late"] == 180_000
    for changed in ({"late": 0}, {"late": SETTLED}, {"exp": 2**40}, {"room": "another"}, {"platform": "rival"}):
        forged = with_another_payload(token, _payload(token) | changed)
        assert (await ended(Watch(service, forged))).reason == "CREDENTIAL_WRONG"
    seat_as_watch = with_another_payload(table.tokens[0], _payload(token))
    assert (await ended(Watch(service, seat_as_watch))).reason == "CREDENTIAL_WRONG"


async def test_refusals_tell_nothing_younger_than_the_delay(tmp_path: Path) -> None:
    """The log is damaged after what the spectator may see: it is told that, and not how far the room has come."""
    path = tmp_path / STORE_FILE
    store = await open_store(path)
    assert isinstance(store, SqliteStore)
    async with served(tmp_path, store=store) as service:
        table = await seated(service.platform)
        for _ in range(3):
            await step(service, table)
        token = await watch_token(service, table.room_id, 60)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(
                "UPDATE batches SET time_ns = time_ns + 1 WHERE room = ? AND first_version = 6", (table.room_id,)
            )
        refusal = await ended(Watch(service, token))
        assert (refusal.code, refusal.reason) == (grpc.StatusCode.INTERNAL, "ROOM_QUARANTINED")
        assert refusal.refusal is not None
        assert refusal.refusal.room_quarantined.version == 0
    await store.close()
