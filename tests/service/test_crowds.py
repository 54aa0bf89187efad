"""Crowds of spectators: how many may come, what one costs, and that none delays a table or another."""

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from erqiwang_grpc.rooms.counters import Kind
from erqiwang_grpc.rooms.listener import Told
from erqiwang_grpc.rpc.wire.encode import packing
from erqiwang_grpc.spectators import broadcasts
from erqiwang_grpc.store import NOTHING, Damaged, Entry, RoomId, Unavailable, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.v1 import refusal_pb2, seat_service_pb2 as pb, view_pb2
from tests.service.clocks import HandMonotonic
from tests.service.spectating import Watch, ended, watch_token
from tests.service.tables import (
    ROOMY,
    Service,
    attached,
    eventually,
    in_phase,
    play_all,
    seated,
    served,
    step,
)
from tests.service.test_slow_readers import NARROW


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
        assert service.server.counters.resyncs[Kind.SPECTATOR] >= 1
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
