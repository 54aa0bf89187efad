"""Spectators: the public view, as late as the token says, from the log, on any node; and nothing else."""

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from time import time_ns
from typing import Final

import grpc
import pytest
from erqiwang_core.notices import notice
from erqiwang_core.options import Deck, FourPlayer, RoomOptions, ThreePlayer
from erqiwang_core.view import view
from erqiwang_core.viewer import PUBLIC

from erqiwang_grpc.events.history import RoomHistory, read
from erqiwang_grpc.events.standing import Step, steps
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import RoomId
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import seat_service_pb2 as pb, view_pb2
from tests.service.spectating import SECOND, SETTLED, Watch, watch_token
from tests.service.tables import (
    Service,
    Table,
    attached,
    in_phase,
    is_over,
    play_all,
    seated,
    seen,
    served,
    step,
)
from tests.service.test_clocks import HandWall

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
