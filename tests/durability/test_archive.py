"""The archive keeps settled deals ready: what it tells is what reading the whole log anew would tell."""

from random import Random

import pytest
from erqiwang_core import match as matches
from erqiwang_core.match import Disband, Over

from erqiwang_grpc.archive import matches as archives
from erqiwang_grpc.archive.matches import Archive, Recorded
from erqiwang_grpc.archive.records import MatchRecord, match_record
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import SystemMonotonic
from erqiwang_grpc.events.index import ENDED
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.refusals import NoSuchRecord
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.port import Damaged, Listed, RoomId, Summary, TimeNs, Unavailable
from erqiwang_grpc.v1 import record_pb2
from tests.durability.played import Clock, administer, node_on, opened, play, seated
from tests.store.passing_on import PassingOn

LOCAL = PlatformId("local")


async def read_anew(store: MemoryStore, room: RoomId) -> record_pb2.MatchRecord:
    record = match_record(await store.read(room))
    assert isinstance(record, MatchRecord), record
    return encode.match_record(record)


def told_as(record: Recorded) -> record_pb2.MatchRecord:
    return encode.read_record(encode.platform_summary(record.summary), record.deals)


async def told(archive: Archive, room: RoomId) -> Recorded:
    record = await archive.record(LOCAL, room)
    assert isinstance(record, Recorded), record
    return record


@pytest.mark.parametrize("steps", [1, 7, 50, 200])
async def test_a_match_that_is_asked_for_while_it_goes_on_is_told_as_if_it_were_read_anew(steps: int) -> None:
    store = MemoryStore()
    rooms, archive, luck = Rooms(node_on(store)), Archive(store, encode.written_deal, SystemMonotonic()), Random(steps)
    room = await seated(rooms)
    read = 0
    while not isinstance(room.match, Over) and room.version < (200 if steps == 1 else 10_000):
        record = await told(archive, room.id)
        assert told_as(record) == await read_anew(store, room.id)
        read += record.read
        await play(room, steps, luck)
    await administer(room, Disband())
    last = await told(archive, room.id)
    assert told_as(last) == await read_anew(store, room.id)
    assert read + last.read == len(told_as(last).deals), "each deal was read once"
    again = await told(archive, room.id)
    assert (again.deals, again.summary, again.read) == (last.deals, last.summary, 0)


async def test_a_room_that_nobody_filled_has_no_record() -> None:
    store = MemoryStore()
    rooms, archive = Rooms(node_on(store)), Archive(store, encode.written_deal, SystemMonotonic())
    room = await opened(rooms)
    for _ in range(2):
        assert await archive.record(PlatformId("local"), room.id) == NoSuchRecord()
    assert isinstance(await administer(room, Disband()), Accepted)
    assert await archive.record(PlatformId("local"), room.id) == NoSuchRecord()


async def test_what_is_kept_is_its_platforms_alone_and_is_gone_once_the_match_is_deleted() -> None:
    store = MemoryStore()
    rooms, archive = Rooms(node_on(store)), Archive(store, encode.written_deal, SystemMonotonic())
    room = await seated(rooms)
    await play(room, 10_000)
    await told(archive, room.id)
    assert await archive.record(PlatformId("rival"), room.id) == NoSuchRecord()
    assert await store.delete_rooms(ENDED, TimeNs(2**62), 10) == (room.id,)
    for _ in range(2):
        assert await archive.record(LOCAL, room.id) == NoSuchRecord()


async def test_another_match_under_the_id_of_a_deleted_one_is_told_alone() -> None:
    """A platform may use a `command_id` again once retention has deleted what it opened."""
    store, clock = MemoryStore(), Clock()
    archive = Archive(store, encode.written_deal, SystemMonotonic())
    for seed in (3, 4):
        room = await seated(Rooms(node_on(store, clock=clock)))
        await play(room, 10_000, Random(seed))
        for _ in range(2):
            assert told_as(await told(archive, room.id)) == await read_anew(store, room.id)
        if seed == 3:
            await store.delete_rooms(ENDED, TimeNs(2**62), 10)


async def test_the_record_of_a_match_whose_summary_is_wrong_is_told_after_a_rebuild() -> None:
    store = MemoryStore()
    room = await seated(Rooms(node_on(store)))
    await play(room, 200)
    await store.summarise(room.id, room.version, Summary((), TimeNs(0), None, b"wrong"))
    assert told_as(await told(Archive(store, encode.written_deal, SystemMonotonic()), room.id)) == await read_anew(
        store, room.id
    )


class PlayedOn(PassingOn):
    """A store in which matches go on each time a summary has been read."""

    def __init__(self, below: MemoryStore) -> None:
        super().__init__(below)
        self.room: Room | None = None

    async def summary(self, room: RoomId) -> Listed | Damaged | Unavailable | None:
        found = await super().summary(room)
        if self.room is not None:
            await play(self.room, 10_000)
        return found


async def test_a_record_shows_a_match_at_one_version() -> None:
    below = MemoryStore()
    store = PlayedOn(below)
    room = await seated(Rooms(node_on(store)))
    while len(matches.scores(room.match)) < 2:
        await play(room, 1)
    before = await read_anew(below, room.id)
    store.room = room
    archive = Archive(store, encode.written_deal, SystemMonotonic())
    assert told_as(await told(archive, room.id)) == before
    assert isinstance(room.match, Over)
    assert told_as(await told(archive, room.id)) == await read_anew(below, room.id)


async def test_no_more_than_so_many_matches_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_KEPT", 2)
    store = MemoryStore()
    rooms, archive = Rooms(node_on(store)), Archive(store, encode.written_deal, SystemMonotonic())
    names = []
    for number in range(3):
        room = await seated(rooms, f"{number}")
        while not (await told(Archive(store, encode.written_deal, SystemMonotonic()), room.id)).deals:
            await play(room, 5, Random(number))
        names.append(room.id)
    assert [(await told(archive, name)).read for name in names] == [1, 1, 1]
    assert [(await told(archive, name)).read for name in names[::-1]] == [0, 0, 1], "the one asked for longest ago"
