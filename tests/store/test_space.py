"""Space, flushes and backups: a commit is on the disk before it is answered, and what a full or failing disk refuses is said."""

# ruff: noqa: ASYNC240 - nothing else runs in the loops of these tests

import asyncio
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from erqiwang_grpc.store import NOTHING, Appended, Conflict, Listed, RoomId, TimeNs, Unavailable, Unsure, Version
from erqiwang_grpc.store.batches import prepare
from erqiwang_grpc.store.sqlite import Compacted, SqliteStore
from erqiwang_grpc.store.sqlite.committing import Committer
from erqiwang_grpc.store.sqlite.opening import OpenFile, open_for_writing
from tests.store.contract import FEED, FINISHED, OTHER, ROOM, batch, bodies, ended, fed, head, key, summary
from tests.store.files import opened, reader_of


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

    def executemany(self, statement: str, values: Iterable[Sequence[object]]) -> sqlite3.Cursor:  # type: ignore[override]  # narrower than sqlite3's
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
