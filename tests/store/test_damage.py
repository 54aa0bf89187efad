"""Damage: whatever is changed in a file, nothing wrong is told, and what is sound goes on."""

# ruff: noqa: ASYNC240 - nothing else runs in the loops of these tests

import random
from pathlib import Path

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Conflict,
    Damaged,
    Entry,
    Listed,
    Moment,
    Page,
    Rewritten,
    RoomId,
    Search,
    TimeNs,
    Unavailable,
    Version,
)
from erqiwang_grpc.store.sqlite import SqliteStore, advice, open_store
from tests.store.contract import EVER, FEED, FINISHED, OTHER, PLAYED, ROOM, batch, bodies, head, listed, summary
from tests.store.files import MARKER, edit, entries_of, fill, listed_in, opened, told_in, whole

# One room damaged, the others going on.

WAYS = [
    pytest.param("UPDATE batches SET bodies = x'00000000' WHERE room = 'room-1' AND last_version = 3", 3, id="a body"),
    pytest.param("UPDATE batches SET time_ns = 2 WHERE room = 'room-1' AND last_version = 2", 2, id="a time"),
    pytest.param("UPDATE batches SET actor = 'bob' WHERE room = 'room-1' AND last_version = 1", 1, id="an actor"),
    pytest.param("UPDATE batches SET rules_version = 'x' WHERE room = 'room-1' AND last_version = 4", 4, id="a type"),
    pytest.param("UPDATE batches SET feed = NULL WHERE room = 'room-1' AND last_version = 4", 4, id="the feed"),
    pytest.param("UPDATE batches SET command = NULL WHERE room = 'room-1' AND last_version = 4", 4, id="a command"),
    pytest.param("UPDATE batches SET fingerprint = x'00' WHERE room = 'room-1' AND last_version = 4", 4, id="a print"),
    pytest.param("UPDATE batches SET chain = zeroblob(32) WHERE room = 'room-1' AND last_version = 2", 2, id="a link"),
    pytest.param("DELETE FROM batches WHERE room = 'room-1' AND last_version = 3", 3, id="one in the middle is gone"),
    pytest.param("DELETE FROM batches WHERE room = 'room-1' AND last_version = 5", 5, id="the last one is gone"),
    pytest.param("DELETE FROM batches WHERE room = 'room-1'", 1, id="all are gone"),
    pytest.param("DELETE FROM rooms WHERE room = 'room-1'", 6, id="the head is gone"),
    pytest.param("UPDATE rooms SET version = 4 WHERE room = 'room-1'", 6, id="the head is behind"),
    pytest.param("UPDATE rooms SET chain = zeroblob(32) WHERE room = 'room-1'", 6, id="the head has another link"),
    pytest.param("UPDATE rooms SET chain = 5 WHERE room = 'room-1'", 6, id="the head has no link"),
]

ENDS = [way for way in WAYS if way.id in {"the last one is gone", "all are gone"} or "head" in str(way.id)]


@pytest.mark.parametrize(("way", "version"), WAYS)
async def test_a_damaged_room_is_found_and_the_others_go_on(path: Path, way: str, version: int) -> None:
    await fill(path)
    edit(path, way)
    store = await opened(path)
    found = await store.read(ROOM)
    assert isinstance(found, Damaged)
    assert (found.room, found.version) == (ROOM, version)
    assert len(await bodies(store, OTHER)) == 5
    assert await store.append(OTHER, Version(5), batch(b"on")) == Appended(Version(6))
    await store.close()


@pytest.mark.parametrize(("way", "version"), WAYS)
async def test_the_first_event_is_believed_by_itself(path: Path, way: str, version: int) -> None:
    """Whose room it is stands there, and is wanted of a room that is damaged behind it."""
    await fill(path)
    edit(path, way)
    store = await opened(path)
    first = await store.first(ROOM)
    if way == "DELETE FROM batches WHERE room = 'room-1'":
        assert first is None
    elif version == 1:
        assert isinstance(first, Damaged)
        assert (first.room, first.version) == (ROOM, 1)
    else:
        assert isinstance(first, Entry)
        assert (first.room, first.version, first.body) == (ROOM, 1, b"0")
    await store.close()


@pytest.mark.parametrize(("way", "version"), ENDS)
async def test_a_room_whose_end_is_damaged_is_not_written(path: Path, way: str, version: int) -> None:
    await fill(path)
    edit(path, way)
    store = await opened(path)
    for expected in range(7):
        answer = await store.append(ROOM, Version(expected), batch(b"over it"))
        assert isinstance(answer, Damaged)
        assert answer.version == version
    assert isinstance(await head(store, ROOM), Damaged)
    await store.close()


async def test_a_later_part_is_believed_only_as_far_as_it_was_read(path: Path) -> None:
    await fill(path)
    edit(path, "UPDATE batches SET actor = 'bob' WHERE room = 'room-1' AND last_version = 1")
    store = await opened(path)
    assert await bodies(store, ROOM, Version(3)) == [b"3", b"4"]
    assert isinstance(await store.read(ROOM), Damaged)
    await store.close()


async def test_a_flipped_byte_on_the_disk_is_found(path: Path) -> None:
    await fill(path)
    raw = path.read_bytes()
    at = raw.index(MARKER)
    path.write_bytes(raw[:at] + b"T" + raw[at + 1 :])
    store = await opened(path)
    assert isinstance(await store.read(ROOM), Damaged)
    assert len(await bodies(store, OTHER)) == 5
    await store.close()


async def test_wherever_a_bit_flips_nothing_wrong_is_ever_told(path: Path) -> None:
    await fill(path)
    truth = await whole(path)
    raw = path.read_bytes()
    summaries = {room: Listed(room, Version(5), summary(FINISHED)) for room in (ROOM, OTHER)}
    chance = random.Random(27)
    for _ in range(400):
        at = chance.randrange(len(raw))
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << chance.randrange(8)]) + raw[at + 1 :])
        store = await open_store(path)
        if not isinstance(store, SqliteStore):
            assert advice(store)
            continue
        for room in (ROOM, OTHER):
            entries = await store.read(room)
            assert isinstance(entries, Damaged) or entries == truth[room]
            first = await store.first(room)
            assert first is None or isinstance(first, Damaged) or first == truth[room][0]
            answer = await store.append(room, Version(99), batch(b"x"))
            assert answer == Conflict(Version(5)) or isinstance(answer, Damaged | Unavailable)
            summed = await store.summary(room)
            assert summed is None or isinstance(summed, Damaged) or summed == summaries[room]
        page = await store.summaries(Search((FINISHED,), Moment.CREATED, EVER), 100)
        assert isinstance(page, Unavailable) or all(each == summaries[each.room] for each in listed_in(page))
        told = await store.feed(FEED, START, 100)
        assert isinstance(told, Unavailable) or all(
            set(each.entries) <= set(entries_of(truth)) for each in told_in(told)
        )
        await store.rooms(RoomId(""), 100)
        await store.close()


# What lists say.

MISLED = {
    "a summary": ("UPDATE rooms SET body = x'00' WHERE room = 'room-1'", True),
    "terms": ("UPDATE rooms SET terms = x'00' WHERE room = 'room-1'", True),
    "a moment": ("UPDATE rooms SET created_ns = 7 WHERE room = 'room-1'", True),
    "an end": ("UPDATE rooms SET ended_ns = 7 WHERE room = 'room-1'", True),
    "a seal": ("UPDATE rooms SET seal = zeroblob(32) WHERE room = 'room-1'", True),
    "a place": ("UPDATE found SET created_ns = 7 WHERE room = 'room-1'", False),
    "another room": ("UPDATE found SET room = 'nobody' WHERE room = 'room-1'", False),
    "another term": ("UPDATE found SET key = 'player', value = 'alice' WHERE room = 'room-1'", False),
    "nothing": ("DELETE FROM found WHERE room = 'room-1'", False),
}


@pytest.mark.parametrize("way", MISLED)
async def test_a_list_that_is_damaged_tells_nothing_wrong_and_is_rebuilt(path: Path, way: str) -> None:
    await fill(path)
    statement, _ = MISLED[way]
    edit(path, statement)
    store = await opened(path)
    sound = Listed(OTHER, Version(5), summary(FINISHED))
    for term in (FINISHED, PLAYED):
        page = await listed(store, term)
        assert page.rooms in ((sound,), ())
        assert set(page.doubtful) <= {ROOM, "nobody"}
    assert await store.faults()
    assert isinstance(await store.summary(ROOM), Damaged)
    assert len(await bodies(store, ROOM)) == 5, "the events are not damaged"
    assert await store.delete_rooms(FINISHED, TimeNs(9), 9) == (), "no room has ended"
    assert await store.summarise(ROOM, Version(5), summary(FINISHED)) == Rewritten()
    if way == "another room":
        assert await store.summarise(RoomId("nobody"), NOTHING, summary()) == Conflict(NOTHING)
    assert await store.faults() == ()
    page = await listed(store, FINISHED)
    assert page == Page((sound, Listed(ROOM, Version(5), summary(FINISHED))), None, (), 2)
    await store.close()


@pytest.mark.parametrize("way", MISLED)
async def test_the_next_batch_of_a_room_mends_what_lists_say_of_it(path: Path, way: str) -> None:
    """But for the terms that are damaged on their own: nobody looks at those when a batch is written."""
    statement, is_of_the_summary = MISLED[way]
    await fill(path)
    edit(path, statement)
    store = await opened(path)
    assert await store.append(ROOM, Version(5), batch(b"5", summary=summary(FINISHED))) == Appended(Version(6))
    assert (await store.faults() == ()) is is_of_the_summary
    await store.close()
