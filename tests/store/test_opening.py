"""Which files are opened: those that are foreign, newer, cut, taken or not to be written are refused with advice."""

# ruff: noqa: ASYNC240 - nothing else runs in the loops of these tests

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from erqiwang_grpc.store import NOTHING, Appended, Damaged, Version
from erqiwang_grpc.store.sqlite import (
    AlreadyServed,
    DamagedFile,
    NewerFile,
    NotAStore,
    OlderFile,
    OpenRefused,
    OutOfReach,
    ReadOnly,
    SqliteStore,
    advice,
    new_identity,
    open_reader,
    open_store,
)
from tests.store.contract import OTHER, ROOM, batch, bodies, head
from tests.store.files import edit, fill, opened, reader_of, whole


async def test_a_second_server_is_refused_and_told_of_the_first(store: SqliteStore, path: Path) -> None:
    refused = await open_store(path)
    assert refused == AlreadyServed(path, str(os.getpid()))
    assert await store.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))


async def test_a_second_server_in_another_process_is_refused(store: SqliteStore, path: Path) -> None:
    program = (
        "import asyncio, pathlib, sys\n"
        "from erqiwang_grpc.store.sqlite import open_store\n"
        "print(type(asyncio.run(open_store(pathlib.Path(sys.argv[1])))).__name__)"
    )
    told = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this loop
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "AlreadyServed"
    assert await head(store, ROOM) == NOTHING


async def test_a_closed_file_can_be_served_again(path: Path) -> None:
    for version in range(3):
        store = await opened(path)
        assert await store.append(ROOM, Version(version), batch(b"1")) == Appended(Version(version + 1))
        await store.close()


async def test_a_reader_beside_the_server_sees_what_is_committed(store: SqliteStore, path: Path) -> None:
    reader = await reader_of(path)
    assert await store.append(ROOM, NOTHING, batch(b"1")) == Appended(Version(1))
    assert await reader.read(ROOM) == await store.read(ROOM)
    await reader.close()


async def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    await fill(path)
    edit(path, "PRAGMA user_version = 4")
    before = path.read_bytes()
    assert await open_store(path) == await open_reader(path) == NewerFile(path, found=4, known=3)
    assert path.read_bytes() == before


async def test_a_file_of_a_program_before_the_first_release_is_left_alone(path: Path) -> None:
    await fill(path)
    edit(path, "PRAGMA user_version = 1")
    before = path.read_bytes()
    assert await open_store(path) == await open_reader(path) == OlderFile(path, found=1, known=3)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "way", ["DELETE FROM store", "UPDATE store SET identity = 'x'", "INSERT INTO store VALUES ('a')"]
)
async def test_a_file_without_an_identity_is_refused_until_it_has_a_new_one(path: Path, way: str) -> None:
    await fill(path)
    edit(path, way)
    refused = await open_store(path)
    assert isinstance(refused, DamagedFile)
    assert "erqiwang store new-identity" in advice(refused)
    fresh = await new_identity(path)
    store = await opened(path)
    assert store.identity == fresh
    assert len(await bodies(store, ROOM)) == 5
    await store.close()


async def test_a_new_identity_is_not_given_under_a_running_server(store: SqliteStore, path: Path) -> None:
    assert isinstance(await new_identity(path), AlreadyServed)
    assert (await reader_of(path)).identity == store.identity


def foreign_text(path: Path) -> None:
    path.write_bytes(b"no database at all, but a long enough text " * 100)


def foreign_database(path: Path) -> None:
    edit(path, "CREATE TABLE holiday (photo BLOB)")


@pytest.mark.parametrize("make", [foreign_text, foreign_database])
async def test_a_file_that_is_not_ours_is_left_alone(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    before = path.read_bytes()
    assert await open_store(path) == await open_reader(path) == NotAStore(path)
    assert path.read_bytes() == before


async def test_a_file_without_its_tables_is_refused(path: Path) -> None:
    await fill(path)
    edit(path, "DROP TABLE rooms")
    refused = await open_store(path)
    assert isinstance(refused, DamagedFile)
    assert "backup" in advice(refused)


async def test_wherever_a_file_is_cut_nothing_wrong_is_ever_told(path: Path) -> None:
    await fill(path)
    truth = await whole(path)
    raw = path.read_bytes()
    for size in range(1, len(raw), 500):
        path.write_bytes(raw[:size])
        store = await open_store(path)
        if isinstance(store, SqliteStore):
            for room in (ROOM, OTHER):
                entries = await store.read(room)
                assert isinstance(entries, Damaged) or entries == truth[room]
            await store.close()


async def test_a_write_protected_file_is_refused_for_root_too(path: Path) -> None:
    await fill(path)
    path.chmod(0o444)
    assert await open_store(path) == ReadOnly(path)
    assert len(await bodies(await reader_of(path), ROOM)) == 5


async def test_a_file_that_sqlite_will_not_write_is_refused(path: Path) -> None:
    await fill(path)
    raw = bytearray(path.read_bytes())
    raw[18] = 3  # the write version in SQLite's header: a real SQLITE_READONLY, which as root no permission gives
    path.write_bytes(raw)
    assert await open_store(path) == ReadOnly(path)


async def test_a_folder_that_is_not_there_is_out_of_reach(tmp_path: Path) -> None:
    path = tmp_path / "none" / "rooms.db"
    assert await open_store(path) == OutOfReach(path, os.strerror(errno.ENOENT))
    assert isinstance(await open_reader(path), OutOfReach)


@pytest.mark.parametrize(
    "refused",
    [
        AlreadyServed(Path("f"), "7"),
        ReadOnly(Path("f")),
        NewerFile(Path("f"), 3, 2),
        OlderFile(Path("f"), 1, 2),
        NotAStore(Path("f")),
        DamagedFile(Path("f"), "torn"),
        OutOfReach(Path("f"), "gone"),
    ],
)
def test_every_refusal_names_the_file_and_what_to_do(refused: OpenRefused) -> None:
    problem, _, remedy = advice(refused).rpartition(": ")
    assert problem.startswith("f ")
    assert remedy
