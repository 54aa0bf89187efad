"""Spectators: the public view, as late as the token says, from the log, on any node; and nothing else."""

import asyncio
import base64
import json
import sqlite3
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from time import time_ns
from typing import Final

import grpc
import pytest
from erqiwang_core.notices import notice
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.view import view
from erqiwang_core.viewer import PUBLIC
from google.protobuf.duration_pb2 import Duration

from erqiwang_grpc.auth.files import SIGNING_KEYS, rotate_signing_key
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.auth.tokens import Delayed, Milliseconds, UnixSeconds, WatchClaims
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.events.history import RoomHistory, read
from erqiwang_grpc.events.standing import Step, steps
from erqiwang_grpc.rooms.listener import Told
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode import packing
from erqiwang_grpc.spectators import broadcasts
from erqiwang_grpc.store import NOTHING, Damaged, Entry, RoomId, Unavailable, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import refusal_pb2, room_service_pb2 as room_pb, seat_service_pb2 as pb, view_pb2
from tests.service.clocks import HandMonotonic
from tests.service.gateways import gateway_of
from tests.service.spectating import SECOND, SETTLED, Watch, asked, duration, ended, watch_token
from tests.service.tables import (
    ROOMY,
    RawSeat,
    Service,
    Table,
    attached,
    eventually,
    in_phase,
    is_over,
    play_all,
    refused,
    seated,
    seen,
    served,
    step,
)
from tests.service.test_access import with_another_payload
from tests.service.test_clocks import HandWall
from tests.service.test_slow_readers import NARROW

SEVERAL: Final = {
    "three": RoomOptions(),
    "three, no review": RoomOptions(ThreePlayer(joker_bonus=True, climb=True), review=False),
    "four": RoomOptions(FourPlayer(Deck.SHORT)),
    "four, no review": RoomOptions(FourPlayer(Deck.FULL), review=False),
}


def public(service: Service, room_id: str) -> view_pb2.View:
    """What the public may see of the room now."""
    standing = service.room(room_id).state.standing
    return encode.view(view(standing.match, PUBLIC), room_id, standing.turn_began)


async def play_on(service: Service, table: Table, until: view_pb2.Phase.ValueType, deal: int = 1) -> None:
    async with attached(service, table) as seats:
        await play_all(seats, until=in_phase(until, deal=deal))


async def log_of(service: Service, room_id: str) -> RoomHistory:
    """What is stored of the room."""
    entries = await service.store.read(RoomId(room_id))
    assert isinstance(entries, tuple)
    history = read(entries)
    assert isinstance(history, RoomHistory)
    return history


async def story(service: Service, room_id: str) -> list[pb.Notice]:
    """The public's notices of the room's events after its opening, each as the core alone makes it from the log."""
    told = []
    for step_ in steps(await log_of(service, room_id)):
        assert isinstance(step_, Step)
        before, after = step_.before, step_.after
        changed = notice(before.match, step_.happened.event, after.match, PUBLIC)
        told.append(encode.notice(changed, after.version, after.time, after.turn_began))
    return told


# What is told


@pytest.mark.parametrize("options", SEVERAL.values(), ids=SEVERAL)
async def test_a_whole_match_is_told_as_the_public_may_see_it(service: Service, options: RoomOptions) -> None:
    table = await seated(service.platform, encode.room_options(options))
    watch = Watch(service, await watch_token(service, table.room_id))
    begun = (await watch.hear("snapshot")).snapshot
    async with attached(service, table) as seats:
        playing = asyncio.create_task(play_all(seats))
        heard = await watch.rest()
        await playing
    assert watch.refused is None, "it ends with OK"
    assert is_over(watch.view)
    assert watch.view == public(service, table.room_id)
    assert [message.notice for message in heard] == (await story(service, table.room_id))[begun.version - 1 :]


async def test_the_view_of_a_spectator_has_no_seat_and_no_part_of_one(service: Service) -> None:
    table = await seated(service.platform)
    await play_on(service, table, view_pb2.PHASE_PLAYING)
    watch = Watch(service, await watch_token(service, table.room_id))
    seen_by_all = (await watch.hear("snapshot")).snapshot.view
    assert not seen_by_all.HasField("seat")
    assert all(number <= 15 for number in fields_of(seen_by_all.parts))
    assert fields_of(seen_by_all.parts) == [
        number for number in fields_of((await seen(service, table, 0)).view.parts) if number <= 15
    ]


def fields_of(parts: view_pb2.Parts) -> list[int]:
    return [field.number for field, _ in parts.ListFields()]


async def test_a_match_that_is_over_is_told_with_one_snapshot(service: Service) -> None:
    table = await seated(service.platform)
    await play_on(service, table, view_pb2.PHASE_OVER, deal=6)
    watch = Watch(service, await watch_token(service, table.room_id, SETTLED))
    (only,) = await watch.rest()
    assert watch.refused is None
    assert is_over(only.snapshot.view)


@pytest.mark.parametrize("late", [0, SETTLED])
async def test_a_disband_ends_it_after_it_was_told(service: Service, late: float | str) -> None:
    table = await seated(service.platform)
    watch = Watch(service, await watch_token(service, table.room_id, late))
    await watch.hear("snapshot")
    await step(service, table)
    await service.platform.disband_room(table.room_id)
    heard = await watch.rest()
    assert watch.refused is None
    assert heard[-1].notice.WhichOneof("cause") == "match_ended"
    assert watch.view == public(service, table.room_id)


async def test_up_to_the_last_settled_deal_nothing_is_told_of_the_deal_in_play(service: Service) -> None:
    table = await seated(service.platform)
    await play_on(service, table, view_pb2.PHASE_PLAYING)
    watch = Watch(service, await watch_token(service, table.room_id, SETTLED))
    begun = (await watch.hear("snapshot")).snapshot
    assert (begun.view.parts.progress.deal, begun.view.parts.progress.phase) == (0, view_pb2.PHASE_OPEN)
    assert begun.version == 4, "the last seat was taken"
    await play_on(service, table, view_pb2.PHASE_SETTLED)
    await watch.hear_of(service.room(table.room_id).version)
    assert watch.view == public(service, table.room_id)
    await play_on(service, table, view_pb2.PHASE_PLAYING, deal=2)
    late = Watch(service, await watch_token(service, table.room_id, SETTLED))
    begun = (await late.hear("snapshot")).snapshot
    assert (begun.view.parts.progress.deal, begun.view.parts.progress.phase) == (1, view_pb2.PHASE_SETTLED)
    await watch.hear_of(begun.version)
    assert watch.view == begun.view
    assert set(begun.view.parts.settlement.ready) == {True}


# The delay


async def test_on_a_real_server_nothing_younger_than_the_delay_is_told(service: Service) -> None:
    """Three seats play a deal as fast as they can; spectators come and go. Each time is compared with the moment of reading."""
    delay = 0.6
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id, delay)
    heard: list[tuple[int, pb.SeatMessage]] = []

    async def watched(seconds: float) -> None:
        watch = Watch(service, token, last_version=0)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (message := await watch.next()) is not None:
                    heard.append((time_ns(), message))
        watch.call.cancel()

    async with attached(service, table) as seats:
        playing = asyncio.create_task(play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED)))
        await asyncio.gather(*(watched(seconds) for seconds in (0.3, 0.7, 0.9, 3.0)))
        await watched(1.0)
        await playing
    happened = {notice.version: notice.time.ToNanoseconds() for notice in await story(service, table.room_id)}
    versions = {max(message.notice.version, message.snapshot.version) for _, message in heard}
    assert len(versions) > 80, "the deal was told"
    for at, message in heard:
        moments = [
            message.notice.time,
            message.notice.changed.turn.began,
            message.snapshot.server_time,
            message.snapshot.view.parts.turn.began,
            *(missed.time for missed in message.snapshot.missed),
        ]
        assert max(moment.ToNanoseconds() for moment in moments) <= at - int(delay * SECOND), (at, message)
        told = [
            message.notice.version,
            message.snapshot.version,
            *(missed.version for missed in message.snapshot.missed),
        ]
        assert max(happened.get(version, 0) for version in told) <= at - int(delay * SECOND), (at, message)


async def test_a_spectator_that_comes_back_is_told_what_it_missed(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    watch = Watch(service, token)
    await watch.hear("snapshot")
    watch.call.cancel()
    accepted = [await step(service, table) for _ in range(3)]
    back = Watch(service, token, last_version=watch.version)
    snapshot = (await back.hear("snapshot")).snapshot
    assert [notice.version for notice in snapshot.missed] == list(
        range(watch.version + 1, accepted[-1].last_version + 1)
    )
    told = (await story(service, table.room_id))[watch.version - 1 :]
    for each, missed in zip(told, snapshot.missed, strict=True):
        each.ClearField("changed")
        assert missed == each


# Nodes and restarts


async def test_any_node_tells_the_same_also_one_that_never_had_the_room(tmp_path: Path) -> None:
    store = MemoryStore(shared=True)
    async with AsyncExitStack() as stack:
        ahead, behind = [await stack.enter_async_context(served(tmp_path, store=store)) for _ in range(2)]
        table = await seated(ahead.platform)
        token = await watch_token(ahead, table.room_id)
        watches = [Watch(node, token) for node in (ahead, behind)]
        for watch in watches:
            await watch.hear("snapshot")
        version = [(await step(ahead, table)).last_version for _ in range(5)][-1]
        await watches[0].hear_of(version)
        late = Watch(behind, token)
        assert (await late.hear("snapshot")).snapshot.version == version, "it begins at the head"
        await watches[1].hear_of(version)
        assert watches[0].view == watches[1].view == late.view == public(ahead, table.room_id)
        assert behind.kept.in_memory(RoomId(table.room_id)) is None, "no room is opened for a spectator"


async def test_after_a_restart_it_goes_on_and_the_delay_holds(tmp_path: Path) -> None:
    wall = HandWall()
    path = tmp_path / STORE_FILE
    store = await open_store(path)
    assert isinstance(store, SqliteStore)
    async with served(tmp_path, store=store, now=wall) as service:
        table = await seated(service.platform)
        wall.at += 100 * SECOND
        known = (await step(service, table)).last_version
        wall.at += 100 * SECOND
        await step(service, table)
        token = await watch_token(service, table.room_id, 100)
        watch = Watch(service, token)
        assert (await watch.hear("snapshot")).snapshot.version == known
        await service.server.stop()
        assert (await watch.rest())[-1].goodbye.reason == pb.Goodbye.REASON_DRAINING
        assert watch.refused is not None
        assert watch.refused.code == grpc.StatusCode.UNAVAILABLE
    await store.close()
    store = await open_store(path)
    assert isinstance(store, SqliteStore)
    async with served(tmp_path, store=store, now=wall) as service:
        snapshot = (await Watch(service, token).hear("snapshot")).snapshot
        assert (snapshot.version, snapshot.view) == (known, watch.view)
    await store.close()


# Tokens


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


# Limits, and what a spectator costs


async def test_more_spectators_than_a_room_a_platform_or_a_server_takes(tmp_path: Path) -> None:
    limits = replace(ROOMY, spectators=3, spectators_per_room=2, platform_spectators=2)
    async with served(tmp_path, limits=limits) as service:
        one, other = [await seated(service.platform) for _ in range(2)]
        token, another = [await watch_token(service, table.room_id) for table in (one, other)]
        watches = [Watch(service, token) for _ in range(2)]
        for watch in watches:
            await watch.hear("snapshot")
        assert (await ended(Watch(service, token))).reason == "TOO_MANY_STREAMS", "of the room"
        beyond = await ended(Watch(service, another))
        assert beyond.reason == "QUOTA_REACHED"
        assert beyond.refusal is not None
        assert beyond.refusal.quota_reached.quota == refusal_pb2.Refusal.QUOTA_SPECTATORS
        watches[0].call.cancel()
        await eventually(lambda: service.server.spectating.streams == 1)
        await Watch(service, another).hear("snapshot")


async def test_a_room_is_watched_with_so_many_delays_and_one_that_nobody_watches_makes_place(service: Service) -> None:
    table = await seated(service.platform)
    tokens = [await watch_token(service, table.room_id, late) for late in range(broadcasts.LATENESSES + 1)]
    watches = [Watch(service, token) for token in tokens[:-1]]
    await watches[0].hear("snapshot")
    await eventually(lambda: service.server.spectating.streams == broadcasts.LATENESSES)
    assert (await ended(Watch(service, tokens[-1]))).reason == "TOO_MANY_STREAMS"
    watches[0].call.cancel()
    await eventually(lambda: service.server.spectating.streams == broadcasts.LATENESSES - 1)
    last = Watch(service, tokens[-1])
    await eventually(lambda: service.server.spectating.streams == broadcasts.LATENESSES)
    assert not last.call.done()


async def test_spectators_that_come_too_fast_are_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcasts, "ATTACHED_PER_SECOND", 1)
    async with served(tmp_path, monotonic=HandMonotonic()) as service:
        table = await seated(service.platform)
        token = await watch_token(service, table.room_id)
        for _ in range(2):
            await Watch(service, token).hear("snapshot")
        refusal = await ended(Watch(service, token))
        assert refusal.reason == "TOO_MANY_STREAMS"
        assert refusal.retry_delay is not None


async def test_who_is_sent_away_for_coming_too_fast_costs_no_read_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcasts, "ATTACHED_PER_SECOND", 1)
    store = MemoryStore(shared=True)
    async with AsyncExitStack() as stack:
        ahead = await stack.enter_async_context(served(tmp_path, store=store))
        behind = await stack.enter_async_context(served(tmp_path, store=store, monotonic=HandMonotonic()))
        table = await seated(ahead.platform)
        token = await watch_token(ahead, table.room_id)
        for _ in range(2):
            await Watch(behind, token).hear("snapshot")
        reads, first = list[RoomId](), store.first

        async def counted(room: RoomId) -> Entry | None:
            reads.append(room)
            return await first(room)

        monkeypatch.setattr(store, "first", counted)
        for _ in range(5):
            assert (await ended(Watch(behind, token))).reason == "TOO_MANY_STREAMS"
        assert reads == []


async def test_spectators_of_one_delay_share_a_fold_and_every_message(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []
    made = packing._alike  # what is counted

    def counted(told: Told) -> object:
        encoded.append(told.version)
        return made(told)

    table = await seated(service.platform)
    token = await watch_token(service, table.room_id)
    watches = [Watch(service, token) for _ in range(20)]
    for watch in watches:
        await watch.hear("snapshot")
    monkeypatch.setattr(packing, "_alike", counted)
    version = (await step(service, table)).last_version
    for watch in watches:
        await watch.hear_of(version)
    assert version in encoded
    assert len(encoded) == len(set(encoded)), "each version is encoded once"
    assert len(service.server._broadcasts) == 1  # what is counted


async def test_a_slow_spectator_gets_one_snapshot_and_delays_nobody(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(ROOMY, outbox=8)) as service, AsyncExitStack() as stack:
        table = await seated(service.platform)
        token = await watch_token(service, table.room_id)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(service.address, options=NARROW))
        slow, quick = Watch(replace(service, channel=channel), token), Watch(service, token)
        await quick.hear("snapshot")
        await eventually(lambda: service.server.spectating.streams == 2)
        async with attached(service, table) as seats:
            await play_all(seats, until=in_phase(view_pb2.PHASE_SETTLED, deal=6))
        await quick.hear_of(service.room(table.room_id).version)
        assert service.server.counters.resyncs >= 1
        told: list[str] = []
        while slow.version < quick.version:
            message = await folded(slow)
            told.append(str(message.WhichOneof("message")))
        assert told.count("snapshot") >= 2
        assert slow.view == quick.view


async def folded(watch: Watch) -> pb.SeatMessage:
    message = await watch.next()
    assert message is not None
    return message


async def test_a_spectator_of_a_deleted_match_is_told_so(service: Service) -> None:
    table = await seated(service.platform)
    token = await watch_token(service, table.room_id, 3_600)
    watch = Watch(service, token)
    await eventually(lambda: service.server.spectating.streams == 1)
    service.server._broadcasts.forget([RoomId(table.room_id)])  # as retention does
    refusal = await ended(watch)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.NOT_FOUND, "NO_SUCH_ROOM")


async def test_a_broadcast_that_nobody_watches_is_kept_for_a_while_and_then_dropped(tmp_path: Path) -> None:
    clock = HandMonotonic()
    async with served(tmp_path, monotonic=clock) as service:
        table = await seated(service.platform)
        watch = Watch(service, await watch_token(service, table.room_id))
        await watch.hear("snapshot")
        watch.call.cancel()
        await eventually(lambda: service.server.spectating.streams == 0)
        kept = service.server._broadcasts  # what is counted
        kept.look_after()
        assert len(kept) == 1
        clock.forward(61)
        kept.look_after()
        assert len(kept) == 0


async def test_an_error_in_one_broadcast_reaches_no_other(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = [await seated(service.platform) for _ in range(2)]
    watches = [Watch(service, await watch_token(service, table.room_id)) for table in (one, other)]
    for watch in watches:
        await watch.hear("snapshot")
    read_ = service.store.read

    async def failing(room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        if room == one.room_id:
            raise RuntimeError("a bug")
        return await read_(room, after)

    monkeypatch.setattr(service.store, "read", failing)
    await step(service, one)
    assert (await ended(watches[0])).code == grpc.StatusCode.INTERNAL
    monkeypatch.undo()
    await watches[1].hear_of((await step(service, other)).last_version)
    again = Watch(service, await watch_token(service, one.room_id))
    assert (await again.hear("snapshot")).snapshot.version == service.room(one.room_id).version
