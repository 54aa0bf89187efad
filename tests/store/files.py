"""Files of the SQLite engine, for tests that fill them, spoil them and read them."""

import sqlite3
from pathlib import Path

from erqiwang_grpc.store import Appended, BadCursor, Entry, Fed, Listed, Page, RoomId, Version
from erqiwang_grpc.store.sqlite import SqliteReader, SqliteStore, open_reader, open_store
from tests.store.contract import FEED, FINISHED, OTHER, ROOM, batch, key, summary

MARKER = b"the ace of spades"


async def opened(path: Path, page_limit: int | None = None) -> SqliteStore:
    store = await open_store(path, page_limit)
    assert isinstance(store, SqliteStore), store
    return store


async def reader_of(path: Path) -> SqliteReader:
    reader = await open_reader(path)
    assert isinstance(reader, SqliteReader), reader
    return reader


async def fill(path: Path) -> None:
    store = await opened(path)
    for room in (ROOM, OTHER):
        for version in range(5):
            body = MARKER if (room, version) == (ROOM, 2) else b"%d" % version
            written = batch(body, command=key(f"c{version}"), summary=summary(FINISHED), feed=FEED)
            assert await store.append(room, Version(version), written) == Appended(Version(version + 1))
    await store.close()


def edit(path: Path, statement: str) -> None:
    """What a disk, a cosmic ray, or somebody with a shell might do."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(statement)
    db.close()


async def whole(path: Path) -> dict[RoomId, tuple[Entry, ...]]:
    store = await opened(path)
    rooms = {}
    for room in (ROOM, OTHER):
        entries = await store.read(room)
        assert isinstance(entries, tuple)
        rooms[room] = entries
    await store.close()
    return rooms


def listed_in(page: Page | BadCursor) -> tuple[Listed, ...]:
    assert isinstance(page, Page)
    return page.rooms


def told_in(told: tuple[Fed, ...] | BadCursor) -> tuple[Fed, ...]:
    assert isinstance(told, tuple)
    return told


def entries_of(rooms: dict[RoomId, tuple[Entry, ...]]) -> list[Entry]:
    return [entry for entries in rooms.values() for entry in entries]
