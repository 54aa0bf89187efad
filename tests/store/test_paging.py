"""Pages: whatever is damaged, a loop over them ends; what is not damaged is in them, once and in order."""

import asyncio
import random
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import pytest

from erqiwang_grpc.archive.retention import delete_old_matches
from erqiwang_grpc.events.index import ENDED, OPENED
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    Mark,
    RoomId,
    Store,
    TimeNs,
    Unavailable,
    Version,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import SqliteStore, open_store
from tests.durability.played import node_on
from tests.store.contract import EVER, FINISHED, batch
from tests.store.passing_on import PassingOn

T = TypeVar("T")
Loop: TypeAlias = Callable[[Store, int], Awaitable[list[str]]]

ROOMS: Final = 7
FIRST_TIME: Final = 0x11223344_55667701
"""A number whose eight bytes stand nowhere else in the file."""


async def filled(path: Path) -> SqliteStore:
    log = await open_store(path)
    assert isinstance(log, SqliteStore), log
    for number in range(ROOMS):
        written = batch(b"1", time=FIRST_TIME + number, tags=(FINISHED, OPENED))
        assert await log.append(RoomId(f"room {number}"), NOTHING, written) == Appended(Version(1))
    return log


async def by_listing(log: Store, page: int) -> list[str]:
    seen: list[Mark] = []
    while found := await log.listing(FINISHED, EVER, page, seen[-1] if seen else None):
        if isinstance(found, Unavailable):
            break
        seen += found
        assert len(seen) <= ROOMS, "a loop that does not end"
        if len(found) < page:
            break
    return [mark.room for mark in reversed(seen)]


async def by_feed(log: Store, page: int) -> list[str]:
    return await _fed(log, page, tagged=False)


async def by_tagged_feed(log: Store, page: int) -> list[str]:
    return await _fed(log, page, tagged=True)


async def _fed(log: Store, page: int, *, tagged: bool) -> list[str]:
    seen: list[Mark] = []
    while found := await log.feed(seen[-1].position if seen else START, page, FINISHED if tagged else None):
        if isinstance(found, Unavailable):
            break
        seen += found
        assert len(seen) <= ROOMS, "a loop that does not end"
        if len(found) < page:
            break
    return [mark.room for mark in seen]


async def by_id(log: Store, page: int) -> list[str]:
    seen: list[RoomId] = []
    while found := await log.rooms(seen[-1] if seen else RoomId(""), page):
        if isinstance(found, Unavailable):
            break
        seen += found
        assert len(seen) <= 2 * ROOMS, "a loop that does not end"
        if len(found) < page:
            break
    return list(seen)


LOOPS: Final = [by_listing, by_feed, by_tagged_feed, by_id]


@pytest.mark.parametrize("page", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("loop", LOOPS)
async def test_rows_that_cannot_be_read_end_no_list(tmp_path: Path, loop: Loop, page: int) -> None:
    """One at the border of a page of two, one within, and the last one."""
    log = await filled(tmp_path / "rooms.db")
    spoilt = (1, 2, 6)
    db = sqlite3.connect(tmp_path / "rooms.db", isolation_level=None)
    for number, value in zip(spoilt, ("x'ff'", "CAST(x'ff' AS TEXT)", "CAST(x'80' AS TEXT)"), strict=True):
        db.execute(f"UPDATE batches SET room = {value} WHERE room = 'room {number}'")
        db.execute(f"UPDATE heads SET room = {value} WHERE room = 'room {number}'")
    db.close()
    assert await loop(log, page) == [f"room {number}" for number in range(ROOMS) if number not in spoilt]
    await log.close()


@pytest.mark.parametrize("loop", LOOPS)
async def test_a_bit_that_flips_in_a_time_lets_no_loop_run_for_ever(tmp_path: Path, loop: Loop) -> None:
    """Each of the places at which a time is stored: the batch, its tags, and the index that lists are read by."""
    path = tmp_path / "rooms.db"
    await (await filled(path)).close()
    raw = path.read_bytes()
    places = [at for number in range(ROOMS) for at in occurrences(raw, (FIRST_TIME + number).to_bytes(8, "big"))]
    assert len(places) == ROOMS * 5, "once in the batch, twice for each of two tags"
    for at in places[:: 2 if loop is by_listing else 9]:
        for bit in (0, 1, 2, 7):
            path.write_bytes(raw[: at + 7] + bytes([raw[at + 7] ^ 1 << bit]) + raw[at + 8 :])
            log = await open_store(path)
            assert isinstance(log, SqliteStore), log
            for page in (1, 2):
                await loop(log, page)
            await log.close()


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
        log = await open_store(path)
        if isinstance(log, SqliteStore):
            for loop in LOOPS:
                await loop(log, 1)
            await log.close()


async def test_a_starting_server_is_not_held_up_by_a_damaged_index(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    await (await filled(path)).close()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("UPDATE tagged SET time_ns = time_ns - 2 WHERE position = 5")
    db.close()
    log = await open_store(path)
    assert isinstance(log, SqliteStore), log
    node = node_on(log)
    clock = TimeNs(FIRST_TIME + 10_000_000_000)
    rooms = Rooms(type(node)(log, node.wakeup, lambda: clock, node.shuffle, node.limits))
    async with asyncio.timeout(60):
        await Housekeeping(rooms).watch_stored(page=1)
    await log.close()


class Undeletable(PassingOn):
    """A log that says of the same rooms again and again that they were deleted."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.asked = 0

    async def delete_rooms(self, *_: object) -> tuple[RoomId, ...]:
        self.asked += 1
        return RoomId("a"), RoomId("b")


async def test_retention_ends_where_deleting_changes_nothing() -> None:
    log = Undeletable()
    async with asyncio.timeout(20):
        assert await delete_old_matches(log, TimeNs(9), at_once=2) == ("a", "b")
    assert log.asked == 2


@pytest.mark.parametrize("at_once", [1, 2, 5, 6])
async def test_retention_deletes_what_is_old_whatever_is_deleted_at_once(at_once: int) -> None:
    log = MemoryStore()
    for number in range(5):
        await log.append(RoomId(f"{number}"), NOTHING, batch(b"1", time=number, tags=(ENDED,)))
    await log.append(RoomId("new"), NOTHING, batch(b"1", time=9, tags=(ENDED,)))
    assert sorted(await delete_old_matches(log, TimeNs(9), at_once)) == ["0", "1", "2", "3", "4"]
    assert await log.rooms(RoomId(""), 9) == ("new",)
