"""A file that is damaged, foreign, full, taken or not to be written: refused with advice, never believed."""

# ruff: noqa: ASYNC240 - nothing else runs in the loops of these tests

import asyncio
import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

import pytest

from erqiwang_grpc.store import (
    NOTHING,
    START,
    Appended,
    BadCursor,
    Conflict,
    Damaged,
    Entry,
    Fed,
    Listed,
    Moment,
    Page,
    Rewritten,
    RoomId,
    Search,
    TimeNs,
    Unavailable,
    Unsure,
    Version,
)
from erqiwang_grpc.store.batches import prepare
from erqiwang_grpc.store.sqlite import (
    AlreadyServed,
    Compacted,
    DamagedFile,
    NewerFile,
    NotAStore,
    OlderFile,
    OpenRefused,
    OutOfReach,
    ReadOnly,
    SqliteReader,
    SqliteStore,
    advice,
    new_identity,
    open_reader,
    open_store,
)
from erqiwang_grpc.store.sqlite.committing import Committer
from erqiwang_grpc.store.sqlite.opening import OpenFile, open_for_writing
from tests.store.contract import (
    EVER,
    FEED,
    FINISHED,
    OTHER,
    PLAYED,
    ROOM,
    batch,
    bodies,
    ended,
    fed,
    head,
    key,
    listed,
    summary,
)

MARKER = b"the ace of spades"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rooms.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = await opened(path)
    yield store
    await store.close()


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


# The whole file.


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


# Space.


async def test_a_full_file_refuses_whole_batches_until_space_returns(path: Path) -> None:
    store = await opened(path, page_limit=40)
    await store.append(OTHER, NOTHING, ended(b"old"))
    await store.append(OTHER, Version(1), ended(b"x" * 50_000))
    answers = [await store.append(RoomId(f"r{i}"), NOTHING, batch(b"y" * 9_000, b"z" * 9_000)) for i in range(10)]
    written = [i for i, answer in enumerate(answers) if answer == Appended(Version(2))]
    refused = [i for i, answer in enumerate(answers) if isinstance(answer, Unavailable)]
    assert written
    assert refused
    assert sorted(written + refused) == list(range(10))
    assert [await head(store, RoomId(f"r{i}")) for i in refused] == [NOTHING] * len(refused)
    assert await store.delete_rooms(FINISHED, TimeNs(2), 10) == (OTHER,)
    for i in refused[:2]:
        assert await store.append(RoomId(f"r{i}"), NOTHING, batch(b"y" * 9_000)) == Appended(Version(1))
    await store.close()


async def test_what_fits_is_written_though_its_group_does_not(path: Path) -> None:
    store = await opened(path, page_limit=40)
    answers = await asyncio.gather(
        store.append(ROOM, NOTHING, batch(b"small")),
        store.append(OTHER, NOTHING, batch(b"x" * 500_000)),
        store.append(RoomId("stale"), Version(3), batch(b"small")),
    )
    assert answers[0] == Appended(Version(1))
    assert isinstance(answers[1], Unavailable)
    assert answers[2] == Conflict(NOTHING)
    await store.close()


async def test_a_commit_reaches_the_disk_before_it_is_answered(path: Path) -> None:
    """FULL: in WAL mode nothing less flushes each commit."""
    file = open_for_writing(path, page_limit=None)
    assert isinstance(file, OpenFile)
    assert file.db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert file.db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    file.close()


@pytest.mark.parametrize(
    ("code", "is_unsure", "is_lost"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, True, True),
        (sqlite3.SQLITE_IOERR_DIR_FSYNC, True, True),
        (sqlite3.SQLITE_IOERR, True, True),
        (sqlite3.SQLITE_IOERR_SHMSIZE, True, False),
        (sqlite3.SQLITE_IOERR_WRITE, False, False),
        (sqlite3.SQLITE_FULL, False, False),
    ],
)
def test_what_is_said_of_a_commit_that_failed(path: Path, code: int, *, is_unsure: bool, is_lost: bool) -> None:
    file = open_for_writing(path, page_limit=None)
    assert isinstance(file, OpenFile)
    committer = Committer(FailingAtCommit(file.db, code))
    wanted = [prepare(ROOM, NOTHING, batch(b"1")), prepare(OTHER, NOTHING, batch(b"1"))]
    assert [isinstance(answer, Unsure) for answer in committer.commit(wanted)] == [is_unsure] * 2
    assert committer.is_lost == is_lost
    file.close()


class FailingAtCommit(sqlite3.Connection):
    """The file's connection, but that each COMMIT fails with one error."""

    def __init__(self, below: sqlite3.Connection, code: int) -> None:
        super().__init__(":memory:")
        self._below = below
        self._code = code

    @property
    def in_transaction(self) -> bool:
        return self._below.in_transaction

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:  # type: ignore[override]  # narrower than sqlite3's
        if statement == "COMMIT":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = self._code
            raise error
        return self._below.execute(statement, tuple(values))

    def executemany(self, statement: str, values: Iterable[Sequence[object]]) -> sqlite3.Cursor:  # type: ignore[override]  # likewise
        return self._below.executemany(statement, values)


def test_after_a_failed_flush_nothing_is_written_until_the_restart(path: Path) -> None:
    file = open_for_writing(path, page_limit=None)
    assert isinstance(file, OpenFile)
    committer = Committer(file.db)

    def flush_that_fails(db: sqlite3.Connection) -> None:
        assert db.in_transaction
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise error

    lost = committer.transact(flush_that_fails)
    assert isinstance(lost, Unavailable)
    assert "restart" in lost.why
    (answer,) = committer.commit([prepare(ROOM, NOTHING, batch(b"1"))])
    assert isinstance(answer, Unsure), "it may have been sent before, and stand since then"
    assert committer.transact(lambda _: pytest.fail("a transaction after a failed flush")) == lost
    file.close()


async def test_compacting_gives_the_space_of_deleted_rooms_back(store: SqliteStore, path: Path) -> None:
    await store.append(ROOM, NOTHING, ended(b"x" * 1_000_000))
    await store.append(OTHER, NOTHING, batch(b"kept"))
    await store.delete_rooms(FINISHED, TimeNs(2), 10)
    compacted = await store.compact()
    assert isinstance(compacted, Compacted)
    assert compacted.after < 100_000 < compacted.before
    assert path.stat().st_size == compacted.after
    assert await bodies(store, OTHER) == [b"kept"]


# Backups.


async def test_a_backup_beside_a_busy_server_is_a_store_of_one_moment(store: SqliteStore, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    for version in range(50):
        await store.append(ROOM, Version(version), batch(b"x" * 1_000))
    going_on = [store.append(RoomId(f"r{i}"), NOTHING, batch(b"x", feed=FEED)) for i in range(200)]
    answers = await asyncio.gather(store.backup(target), *going_on)
    assert answers == [None, *[Appended(Version(1))] * 200]
    copy = await opened(target)
    assert len(await bodies(copy, ROOM)) == 50
    assert copy.identity != store.identity
    copied = await fed(copy, limit=1_000)
    assert copied == (await fed(store, limit=1_000))[: len(copied)]
    assert await copy.faults() == ()
    await copy.close()


async def test_a_backup_overwrites_nothing(store: SqliteStore, tmp_path: Path) -> None:
    target = tmp_path / "kept"
    target.write_text("kept")
    assert isinstance(await store.backup(target), Unavailable)
    assert target.read_text() == "kept"
    assert isinstance(await store.backup(tmp_path / "none" / "b.db"), Unavailable)


async def test_a_file_left_by_a_killed_server_is_read_without_one(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    await store.append(ROOM, NOTHING, batch(b"1", command=key("c")))
    left = tmp_path / "left.db"
    shutil.copy(path, left)
    shutil.copy(f"{path}-wal", f"{left}-wal")
    reader = await reader_of(left)
    assert await bodies(reader, ROOM) == [b"1"]
    assert await reader.summary(ROOM) == Listed(ROOM, Version(1), summary())
    await reader.close()
