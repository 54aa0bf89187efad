"""What lists say of a room is what its events make of it: at every step, after damage, and without reading an event."""

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import pytest
from erqiwang_core.match import Disband, DisbandReason, HouseCommand, LeaveSeat, Over, Player, TakeSeat
from erqiwang_core.options import FourPlayer, RoomOptions, ThreePlayer

from erqiwang_grpc.__main__ import main
from erqiwang_grpc.archive.matches import Archive, ListedRooms, Recorded
from erqiwang_grpc.archive.summaries import Contradicted, Scrub, Sound, Unknown, checked, mended
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.commands import export
from erqiwang_grpc.commands.store import DONE
from erqiwang_grpc.events import Unreadable
from erqiwang_grpc.events.index import of_platform
from erqiwang_grpc.events.standing import RoomState
from erqiwang_grpc.events.summary import read, summary_of
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.refusals import StoreUnavailable
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store import (
    NOTHING,
    START,
    Batch,
    Damaged,
    Entry,
    Listed,
    Moment,
    Page,
    Period,
    RoomId,
    Search,
    Store,
    Summary,
    TimeNs,
    Unavailable,
    Version,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.stored.v1 import summary_pb2
from erqiwang_grpc.v1 import room_pb2
from tests.durability.played import PLAYERS, Clock, administer, node_on, opened, play, seated
from tests.durability.test_rooms_under_failure import FailingStore
from tests.service.clocks import HandMonotonic
from tests.service.tables import served
from tests.store.holding import HoldingStore
from tests.store.passing_on import PassingOn

GAMES: Final = [RoomOptions(ThreePlayer()), RoomOptions(FourPlayer())]


async def entries_of(store: Store, room: RoomId) -> tuple[Entry, ...]:
    entries = await store.read(room)
    assert isinstance(entries, tuple)
    return entries


async def stored(store: Store, room: RoomId) -> Listed:
    found = await store.summary(room)
    assert isinstance(found, Listed)
    return found


async def is_true(store: Store, room: Room) -> None:
    """The stored summary is the live room's, comes back from its bytes, and is what the events make."""
    listed = await stored(store, room.id)
    assert read(listed) == summary_of(room.id, room.state.standing)
    assert await checked(store, room.id, await entries_of(store, room.id)) == Sound(listed.summary)


@pytest.mark.parametrize("options", GAMES)
async def test_a_summary_is_true_at_every_step(options: RoomOptions) -> None:
    store = MemoryStore()
    room = await opened(Rooms(node_on(store)), options=options)
    await is_true(store, room)
    commands: list[HouseCommand] = [TakeSeat(1, Player("二王")), LeaveSeat(1), *seats(room)]
    for command in commands:
        assert isinstance(await administer(room, command), Accepted)
        await is_true(store, room)
    luck = Random(4)
    while not isinstance(room.match, Over):
        await play(room, 7, luck)
        await is_true(store, room)


def seats(room: Room) -> list[TakeSeat]:
    return [TakeSeat(seat, Player(PLAYERS[seat])) for seat in range(len(room.match.chairs))]


@pytest.mark.parametrize("options", GAMES)
async def test_a_summary_of_a_match_that_was_cut_short_is_true(options: RoomOptions) -> None:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)), options=options)
    await play(room, 40)
    assert isinstance(await administer(room, Disband()), Accepted)
    await is_true(store, room)


async def test_the_summary_of_an_end_that_was_not_stored_at_first_is_of_the_end_that_was() -> None:
    """It comes at another time and for another reason. What the first attempt has written of both is not kept."""
    store, clock = FailingStore(MemoryStore()), Clock()
    room = await opened(Rooms(node_on(store, clock=clock)))
    store.fails_before = True
    assert isinstance(await administer(room, Disband(reason=DisbandReason.ABSENT)), StoreUnavailable)
    store.fails_before = False
    clock.forward(MINUTE)
    assert isinstance(await administer(room, Disband(reason=DisbandReason.AGREED)), Accepted)
    await is_true(store, room)


WRONG: Final = Summary((), TimeNs(0), None, b"wrong")


async def test_a_summary_that_is_contradicted_is_made_anew() -> None:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)))
    right = await stored(store, room.id)
    await store.summarise(room.id, room.version, WRONG)
    assert isinstance(await mended(store, room.id), Contradicted)
    assert await stored(store, room.id) == right
    assert await mended(store, room.id) == Sound(right.summary)


async def test_what_cannot_be_followed_contradicts_nothing() -> None:
    """A newer program wrote it, and knew better."""
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)))
    newer = replace((await stored(store, room.id)).summary, body=b"newer")
    entry = (await entries_of(store, room.id))[-1]
    await store.append(room.id, room.version, Batch(entry.time, entry.actor, None, 99, (b"newer",), newer))
    assert isinstance(await mended(store, room.id), Unknown)
    assert (await stored(store, room.id)).summary == newer
    assert isinstance(await mended(store, RoomId("nowhere")), Unknown)


async def test_the_scrub_looks_every_room_over_and_begins_again() -> None:
    store = MemoryStore()
    rooms = Rooms(node_on(store))
    made = sorted([(await opened(rooms, name)).id for name in ("one", "two", "three")])
    for room in made:
        await store.summarise(room, Version(1), WRONG)
    scrub = Scrub(store)
    for _ in range(2):
        assert [await scrub.step() for _ in range(4)] == [*made, None]
    assert WRONG not in [(await stored(store, room)).summary for room in made]


async def test_a_server_scrubs_and_mends_a_list_that_meets_a_contradiction(tmp_path: Path) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    async with served(tmp_path, store=store) as service:
        rooms = [(await service.platform.create_room("alice", command_id=name)).room for name in ("1", "2", "3")]
        db = sqlite3.connect(tmp_path / STORE_FILE, isolation_level=None)
        db.execute("UPDATE rooms SET body = x'00' WHERE room = ?", (rooms[1].room_id,))
        db.execute("UPDATE found SET created_ns = created_ns + 1 WHERE room = ?", (rooms[0].room_id,))
        db.close()
        assert await service.platform.rooms() == [rooms[2]], "what is doubtful is not told"
        assert await service.platform.rooms() == rooms[::-1], "and is told again after it was rebuilt"
    await store.close()


async def test_a_list_mends_no_more_at_once_than_its_caller_can_wait_for(tmp_path: Path) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    rooms = Rooms(node_on(store))
    made = [(await opened(rooms, f"{number}")).id for number in range(25)]
    db = sqlite3.connect(tmp_path / STORE_FILE, isolation_level=None)
    db.execute("UPDATE rooms SET body = x'00'")
    db.close()
    search = Search((of_platform(PlatformId("local")),), Moment.CREATED, Period(TimeNs(0), TimeNs(2**62)))
    page = await store.summaries(search, 200)
    assert isinstance(page, Page)
    assert (page.rooms, page.doubtful) == ((), tuple(made[:4:-1]))
    assert page.next is not None
    rest = await store.summaries(search, 200, page.next)
    assert rest == Page((), None, tuple(made[4::-1]), 5)
    await store.close()


async def test_rooms_of_a_newer_program_are_checked_a_few_at_a_time_and_then_left_alone_for_a_while() -> None:
    store, clock = HoldingStore(MemoryStore()), HandMonotonic()
    rooms, made = Rooms(node_on(store)), list[RoomId]()
    for number in range(25):
        room = await opened(rooms, f"{number}")
        newer = replace((await stored(store, room.id)).summary, body=b"newer")
        entry = (await entries_of(store, room.id))[-1]
        await store.append(room.id, room.version, Batch(entry.time, entry.actor, None, 99, (b"newer",), newer))
        made.append(room.id)
    right = await opened(rooms, "right")
    archive = Archive(store, encode.written_deal, clock)

    async def reads() -> int:
        before = store.reads
        search = Search((of_platform(PlatformId("local")),), Moment.CREATED, Period(TimeNs(0), TimeNs(2**62)))
        page = await archive.page(search, 200, START)
        assert isinstance(page, ListedRooms)
        assert [each.room for each in page.rooms] == [right.id]
        assert (page.looked_at, page.events_read) == (26, 2 * (store.reads - before))
        return store.reads - before

    assert [await reads() for _ in range(4)] == [20, 5, 0, 0]
    assert not isinstance(await archive.record(PlatformId("local"), made[-1]), Recorded)
    assert await reads() == 0
    clock.forward(299.9)
    assert await reads() == 0
    clock.forward(0.1)
    assert [await reads() for _ in range(3)] == [20, 5, 0]


async def test_the_scrub_mends_what_no_list_can_meet(tmp_path: Path) -> None:
    """A room that the table of terms has lost is in no list, so that no list can be in doubt of it."""
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    room = await seated(Rooms(node_on(store)))
    right = await stored(store, room.id)
    db = sqlite3.connect(tmp_path / STORE_FILE, isolation_level=None)
    db.execute("DELETE FROM found WHERE key = 'player'")
    db.close()
    assert isinstance(await store.summary(room.id), Damaged)
    assert await Scrub(store).step() == room.id
    assert await stored(store, room.id) == right
    assert await store.faults() == ()
    await store.close()


async def test_a_room_whose_summary_is_in_doubt_expires_all_the_same(tmp_path: Path) -> None:
    store, clock = await open_store(tmp_path / STORE_FILE), Clock()
    assert isinstance(store, SqliteStore)
    room = await opened(Rooms(node_on(store, clock=clock)))
    db = sqlite3.connect(tmp_path / STORE_FILE, isolation_level=None)
    db.execute("UPDATE rooms SET body = x'00'")
    db.close()
    rooms = Rooms(node_on(store, clock=clock))
    housekeeping = Housekeeping(rooms)
    await housekeeping.watch_stored()
    clock.forward(60 * MINUTE)
    await housekeeping.expire()
    (expired,) = rooms.live
    assert expired.id == room.id
    assert expired.state.standing.state is RoomState.EXPIRED
    await store.close()


async def test_a_rebuild_takes_a_room_that_is_not_there_out_of_the_lists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore)
    await seated(Rooms(node_on(store)))
    db = sqlite3.connect(tmp_path / STORE_FILE, isolation_level=None)
    db.execute("INSERT INTO found SELECT key, value, created_ns, 'nowhere', NULL FROM found")
    db.close()
    assert await store.faults() != ()
    await store.close()
    assert await asyncio.to_thread(main, ["store", "rebuild", "--data", str(tmp_path)]) == DONE
    assert "room nowhere: there is no such room" in capsys.readouterr().out
    assert await asyncio.to_thread(main, ["export", "--verify", "--data", str(tmp_path)]) == export.DONE


class Unread(PassingOn):
    """A store whose rooms' events nobody may read."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.may_read = True

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        assert self.may_read
        return await super().read(room, after)


async def test_lists_read_no_event(tmp_path: Path) -> None:
    store = Unread()
    async with served(tmp_path, store=store) as service:
        rooms = [(await service.platform.create_room("alice", command_id=f"{n}")).room_id for n in range(3)]
        await service.platform.take_seat(rooms[1], "bob")
        for player in ("alice", "bob", "carol"):
            await service.platform.take_seat(rooms[2], player)
        await service.platform.disband_room(rooms[2])
        service.kept.forget([RoomId(room) for room in rooms])
        store.may_read = False
        platform = service.platform
        assert [room.room_id for room in await platform.rooms()] == rooms[::-1]
        assert [room.room_id for room in await platform.rooms(room_pb2.ROOM_STATE_OPEN)] == [rooms[1], rooms[0]]
        assert [room.room_id for room in await platform.rooms(player="bob")] == [rooms[2], rooms[1]]
        assert [room.room_id for room in await platform.rooms(room_pb2.ROOM_STATE_OPEN, "bob")] == [rooms[1]]
        assert await platform.rooms(player="nobody") == []
        assert [match.room_id async for match in platform.records(player="carol")] == [rooms[2]]


def test_verify_names_a_wrong_summary_and_rebuild_makes_it_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    room = asyncio.run(written(tmp_path))
    assert main(["export", "--verify", "--data", str(tmp_path)]) == export.FAULTY
    assert f"room {room}: its summary is not what its events make of it, in: body" in capsys.readouterr().err
    assert main(["store", "rebuild", "--data", str(tmp_path)]) == DONE
    assert "1 sound, 1 rebuilt, 0 could not be checked" in capsys.readouterr().out
    assert main(["export", "--verify", "--data", str(tmp_path)]) == export.DONE


async def written(folder: Path) -> RoomId:
    """Two rooms; the summary of one says something else than its events, under a seal that fits."""
    store = await open_store(folder / STORE_FILE)
    assert isinstance(store, SqliteStore)
    rooms = Rooms(node_on(store))
    room = await seated(rooms, "wrong")
    await seated(rooms, "right")
    summary = (await stored(store, room.id)).summary
    message = summary_pb2.RoomSummary.FromString(summary.body)
    message.deal = 9
    await store.summarise(room.id, room.version, replace(summary, body=message.SerializeToString()))
    await store.close()
    return room.id


async def test_a_summary_without_a_phase_is_unreadable() -> None:
    store = MemoryStore()
    listed = await stored(store, (await opened(Rooms(node_on(store)))).id)
    message = summary_pb2.RoomSummary.FromString(listed.summary.body)
    for phase in (0, 8):
        message.phase = phase
        body = message.SerializeToString()
        assert isinstance(read(replace(listed, summary=replace(listed.summary, body=body))), Unreadable)


@pytest.mark.parametrize("body", [b"\xff", b"", b"\x10\x63"])
async def test_what_is_no_summary_is_unreadable(body: bytes) -> None:
    listed = Listed(RoomId("room"), Version(1), Summary((), TimeNs(0), None, body))
    assert isinstance(read(listed), Unreadable)
