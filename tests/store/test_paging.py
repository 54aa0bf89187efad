"""Pages: whatever is damaged, a loop over them ends; what is not damaged is in them, once and in order."""

import asyncio
import random
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import pytest

from erqiwang_grpc.archive.retention import delete_old_matches
from erqiwang_grpc.events.index import ENDED, WAITING
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Cursor,
    Moment,
    Page,
    RoomId,
    Search,
    Store,
    Term,
    TimeNs,
    Version,
    pages,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from tests.durability.played import node_on
from tests.store.contract import EVER, FEED, FINISHED, batch, summary
from tests.store.passing_on import PassingOn

T = TypeVar("T")
Loop: TypeAlias = Callable[[Store, int], Awaitable[list[str]]]

ROOMS: Final = 7
FIRST_TIME: Final = 0x11223344_55667701
"""A number whose eight bytes stand nowhere else in the file."""


async def filled(path: Path) -> SqliteStore:
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    for number in range(ROOMS):
        time = FIRST_TIME + number
        of_room = summary(FINISHED, WAITING, created=time, ended=time)
        written = batch(b"1", time=time, summary=of_room, feed=FEED)
        assert await store.append(RoomId(f"room {number}"), NOTHING, written) == Appended(Version(1))
    return store


async def by_creation(store: Store, page: int) -> list[str]:
    return await _listed(store, page, Moment.CREATED)


async def by_end(store: Store, page: int) -> list[str]:
    return await _listed(store, page, Moment.ENDED)


async def _listed(store: Store, size: int, moment: Moment) -> list[str]:
    seen: list[str] = []
    after: Cursor | None = START
    while after is not None:
        page = await store.summaries(Search((FINISHED,), moment, EVER), size, after)
        if not isinstance(page, Page):
            break
        seen += [each.room for each in page.rooms]
        assert len(seen) <= ROOMS, "a loop that does not end"
        after = page.next
    return seen[::-1]


async def by_feed(store: Store, page: int) -> list[str]:
    seen: list[str] = []
    after = START
    while found := await store.feed(FEED, after, page):
        if not isinstance(found, tuple):
            break
        seen += [each.entries[0].room for each in found]
        after = found[-1].cursor
        assert len(seen) <= ROOMS, "a loop that does not end"
        if len(found) < page:
            break
    return seen


async def by_id(store: Store, page: int) -> list[str]:
    seen: list[RoomId] = []
    while found := await store.rooms(seen[-1] if seen else RoomId(""), page):
        if not isinstance(found, tuple):
            break
        seen += found
        assert len(seen) <= 2 * ROOMS, "a loop that does not end"
        if len(found) < page:
            break
    return list(seen)


LOOPS: Final = [by_creation, by_end, by_feed, by_id]


@pytest.mark.parametrize(("other", "found"), [(WAITING, ROOMS), (Term("player", "nobody"), 0)])
@pytest.mark.parametrize("moment", list(Moment))
async def test_a_page_of_a_narrow_search_looks_at_so_many_rooms_and_says_where_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: Moment, other: Term, found: int
) -> None:
    monkeypatch.setattr(pages, "MOST_SCANNED", 2)
    store = await filled(tmp_path / "rooms.db")
    read: list[Page] = []
    after: Cursor | None = START
    while after is not None:
        page = await store.summaries(Search((FINISHED, other), moment, EVER), 200, after)
        assert isinstance(page, Page)
        read.append(page)
        after = page.next
    assert [len(page.rooms) for page in read] == ([2, 2, 2, 1] if found else [0, 0, 0, 0])
    assert [page.looked_at for page in read] == [2, 2, 2, 1]
    assert [each.room for page in read for each in page.rooms] == [f"room {n}" for n in reversed(range(found))]
    await store.close()


@pytest.mark.parametrize("page", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("loop", LOOPS)
async def test_rows_that_cannot_be_read_end_no_list(tmp_path: Path, loop: Loop, page: int) -> None:
    """One at the border of a page of two, one within, and the last one."""
    store = await filled(tmp_path / "rooms.db")
    spoilt = (1, 2, 6)
    db = sqlite3.connect(tmp_path / "rooms.db", isolation_level=None)
    for number, value in zip(spoilt, ("x'ff'", "CAST(x'ff' AS TEXT)", "CAST(x'80' AS TEXT)"), strict=True):
        for table in ("batches", "rooms", "found"):
            db.execute(f"UPDATE {table} SET room = {value} WHERE room = 'room {number}'")
    db.close()
    assert await loop(store, page) == [f"room {number}" for number in range(ROOMS) if number not in spoilt]
    await store.close()


@pytest.mark.parametrize("loop", LOOPS)
async def test_a_bit_that_flips_in_a_time_lets_no_loop_run_for_ever(tmp_path: Path, loop: Loop) -> None:
    """Each of the places at which a time is stored: the batch, its room, its terms, and the index that lists are read by."""
    path = tmp_path / "rooms.db"
    await (await filled(path)).close()
    raw = path.read_bytes()
    places = [at for number in range(ROOMS) for at in occurrences(raw, (FIRST_TIME + number).to_bytes(8, "big"))]
    assert len(places) == ROOMS * 13, "once in the batch, twice in the room, five times for each of two terms"
    for at in places[:: 5 if loop in (by_creation, by_end) else 13]:
        for bit in (0, 1, 2, 7):
            path.write_bytes(raw[: at + 7] + bytes([raw[at + 7] ^ 1 << bit]) + raw[at + 8 :])
            store = await open_store(path)
            assert isinstance(store, SqliteStore), store
            for page in (1, 2):
                await loop(store, page)
            await store.close()


def occurrences(raw: bytes, wanted: bytes) -> list[int]:
    found = [raw.find(wanted)]
    while found[-1] >= 0:
        found.append(raw.find(wanted, found[-1] + 1))
    return found[:-1]


async def test_wherever_a_bit_flips_every_loop_ends(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    await (await filled(path)).close()
    raw = path.read_bytes()
    chance = random.Random(9)
    for _ in range(150):
        at = chance.randrange(len(raw))
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << chance.randrange(8)]) + raw[at + 1 :])
        store = await open_store(path)
        if isinstance(store, SqliteStore):
            for loop in LOOPS:
                await loop(store, 1)
            await store.close()


async def test_a_starting_server_is_not_held_up_by_a_damaged_index(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    await (await filled(path)).close()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("UPDATE found SET created_ns = created_ns - 2 WHERE room = 'room 4'")
    db.close()
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    node = node_on(store)
    clock = TimeNs(FIRST_TIME + 10_000_000_000)
    rooms = Rooms(type(node)(store, node.wakeup, lambda: clock, node.shuffle, node.limits))
    async with asyncio.timeout(60):
        await Housekeeping(rooms).watch_stored(page=1)
    await store.close()


class Undeletable(PassingOn):
    """A store that says of the same rooms again and again that they were deleted."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.asked = 0

    async def delete_rooms(self, *_: object) -> tuple[RoomId, ...]:
        self.asked += 1
        return RoomId("a"), RoomId("b")


async def test_retention_ends_where_deleting_changes_nothing() -> None:
    store = Undeletable()
    async with asyncio.timeout(20):
        assert await delete_old_matches(store, TimeNs(9), at_once=2) == ("a", "b")
    assert store.asked == 2


@pytest.mark.parametrize("at_once", [1, 2, 5, 6])
async def test_retention_deletes_what_is_old_whatever_is_deleted_at_once(at_once: int) -> None:
    store = MemoryStore()
    for number in range(5):
        await store.append(
            RoomId(f"{number}"), NOTHING, batch(b"1", time=number, summary=summary(ENDED, created=number, ended=number))
        )
    await store.append(RoomId("new"), NOTHING, batch(b"1", time=9, summary=summary(ENDED, created=0, ended=9)))
    assert sorted(await delete_old_matches(store, TimeNs(9), at_once)) == ["0", "1", "2", "3", "4"]
    assert await store.rooms(RoomId(""), 9) == ("new",)
