"""Whatever column of whatever table says something else than was written, it is noticed, and never told as the truth."""

import sqlite3
from pathlib import Path
from typing import Final

import pytest

from erqiwang_grpc.store import Damaged, RoomId, Term, Unavailable, Version
from erqiwang_grpc.store.sqlite import SqliteReader, SqliteStore, open_reader, open_store
from tests.store.contract import FEED, FINISHED, OTHER, ROOM, batch, key, summary

COLUMNS: Final = {
    "batches": (
        "position room first_version last_version time_ns actor command fingerprint rules_version bodies feed chain"
    ),
    "rooms": "room version chain terms created_ns ended_ns body seal",
    "found": "key value created_ns room ended_ns",
    "store": "identity",
}
ROWS: Final = {
    "batches": "room = 'room-1' AND last_version = 4",
    "rooms": "room = 'room-1'",
    "found": "room = 'room-1' AND key = 'finished'",
    "store": "true",
}
OTHERWISE: Final = {
    "INTEGER": "{0} + 1000",
    "TEXT": "{0} || 'x'",
    "BLOB": "CAST(substr({0}, 1, length({0}) - 1) || x'07' AS BLOB)",
}
UNDER_THE_CHECKSUM: Final = frozenset(COLUMNS["batches"].split()) - {"position"}


async def filled(path: Path) -> None:
    store = await open_store(path)
    assert isinstance(store, SqliteStore), store
    for room in (ROOM, OTHER):
        for version in range(5):
            of_room = summary(FINISHED, Term("other", "term"), ended=5)
            written = batch(b"body", b"more", command=key(f"c{version}"), summary=of_room, feed=FEED)
            await store.append(room, Version(2 * version), written)
    await store.close()


def types(path: Path) -> dict[tuple[str, str], str]:
    """Every column of every table that is ours, and its type."""
    db = sqlite3.connect(path)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = {
        (table, row[1]): row[2]
        for table in tables
        if not table.startswith("sqlite_")
        for row in db.execute(f"PRAGMA table_info({table})")
    }
    db.close()
    return found


async def test_the_list_below_leaves_no_column_out(tmp_path: Path) -> None:
    await filled(tmp_path / "rooms.db")
    known = {(table, column) for table, columns in COLUMNS.items() for column in columns.split()}
    assert set(types(tmp_path / "rooms.db")) == known


async def faults(reader: SqliteReader) -> list[object]:
    """Everything that an auditor finds who reads all there is."""
    rooms = await reader.rooms(RoomId(""), 100)
    assert isinstance(rooms, tuple)
    read = [await reader.read(room) for room in rooms]
    found = await reader.faults()
    return [
        *(each for each in read if isinstance(each, Damaged)),
        *([found] if isinstance(found, Unavailable) else found),
    ]


async def test_nothing_is_wrong_with_what_was_written(tmp_path: Path) -> None:
    await filled(tmp_path / "rooms.db")
    reader = await open_reader(tmp_path / "rooms.db")
    assert isinstance(reader, SqliteReader)
    assert await faults(reader) == []
    await reader.close()


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, columns in COLUMNS.items() for column in columns.split()]
)
async def test_a_column_that_says_something_else_is_noticed(tmp_path: Path, table: str, column: str) -> None:
    path = tmp_path / "rooms.db"
    await filled(path)
    otherwise = OTHERWISE[types(path)[table, column]].format(column)
    db = sqlite3.connect(path, isolation_level=None)
    changed = db.execute(f"UPDATE {table} SET {column} = {otherwise} WHERE {ROWS[table]}").rowcount
    db.close()
    assert changed > 0
    reader = await open_reader(path)
    if not isinstance(reader, SqliteReader):
        assert table == "store", reader
        return
    assert await faults(reader)
    if table == "batches" and column in UNDER_THE_CHECKSUM:
        assert isinstance(await reader.read(ROOM), Damaged)
    await reader.close()
