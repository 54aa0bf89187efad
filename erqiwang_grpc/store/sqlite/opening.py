"""Opening the file: whether it is one of ours, whether it may be written, and what to do if not."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, final

from erqiwang_grpc import file_owners
from erqiwang_grpc.store.sqlite import schema
from erqiwang_grpc.store.sqlite.schema import FileError


@final
@dataclass(frozen=True, slots=True)
class AlreadyServed:
    """Another process has this file open for writing. `holder` is what it wrote about itself."""

    path: Path
    holder: str


@final
@dataclass(frozen=True, slots=True)
class ReadOnly:
    """The file or its folder is not writable."""

    path: Path


@final
@dataclass(frozen=True, slots=True)
class NewerFile:
    """The file has schema `found`, but this program knows schemas only up to `known`."""

    path: Path
    found: int
    known: int


@final
@dataclass(frozen=True, slots=True)
class OlderFile:
    """The file has schema `found`, from before the first release; this program knows only schema `known`."""

    path: Path
    found: int
    known: int


@final
@dataclass(frozen=True, slots=True)
class NotAStore:
    """The file exists, but it is not one of this program's."""

    path: Path


@final
@dataclass(frozen=True, slots=True)
class DamagedFile:
    """The file is one of this program's, but so damaged that no room can be looked up."""

    path: Path
    why: str


@final
@dataclass(frozen=True, slots=True)
class OutOfReach:
    """The operating system does not allow access to the file."""

    path: Path
    why: str


_SMALLEST: Final = 512
"""Bytes of SQLite's smallest page. It takes any shorter file for an empty one and writes over it."""
_HOLDER: Final = 20
"""Most bytes at the beginning of the lock file, which name the process that holds the lock."""
_SERVED: Final = b"served"
_ANY_WRITE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

OpenRefused: TypeAlias = AlreadyServed | ReadOnly | NewerFile | OlderFile | NotAStore | DamagedFile | OutOfReach


def advice(refused: OpenRefused) -> str:
    """One line for the operator: what is wrong, and what to do."""
    match refused:
        case AlreadyServed(path, holder):
            return f"{path} is served by process {holder} already: stop that one, or give this one another folder"
        case ReadOnly(path):
            return f"{path} may not be written: give write permission to it and its folder, or serve a copy"
        case NewerFile(path, found, known):
            return f"{path} has schema {found}, this program knows up to {known}: use a newer version of erqiwang"
        case OlderFile(path, found, known):
            return f"{path} has schema {found}, which was never released, this program knows {known}: use the version that wrote it"
        case NotAStore(path):
            return f"{path} is not an erqiwang store and was left alone: move it away, or name another file"
        case DamagedFile(path, why):
            return f"{path} is damaged ({why}) and was left alone: restore a backup beside it, and keep this one"
        case OutOfReach(path, why):
            return f"{path} cannot be opened ({why}): see that its folder exists and this user may write in it"


@final
@dataclass(frozen=True, slots=True)
class ServerLock:
    """The right to write one file. The system releases it when the process ends, in whatever way."""

    descriptor: int

    def sign(self) -> None:
        """Note for good that there was a file here, so that a later start notices if it is lost."""
        os.pwrite(self.descriptor, _SERVED, _HOLDER)

    def release(self) -> None:
        """Release the lock. The lock file stays, because deleting it would race with the next opener."""
        os.close(self.descriptor)


@final
@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that only this process writes, with the connection for that."""

    path: Path
    lock: ServerLock
    db: sqlite3.Connection

    def close(self) -> None:
        """Copy the write-ahead log into the file, close it, and release the lock."""
        self.db.close()
        self.lock.release()


def open_for_writing(path: Path, page_limit: int | None) -> OpenFile | OpenRefused:
    """Lock the file, create it if necessary, and check that it is ours and that rooms can be looked up in it."""
    lock = locked(path)
    if not isinstance(lock, ServerLock):
        return lock
    opened = _refused_or(path, lambda: _writing_connection(path, page_limit))
    if isinstance(opened, sqlite3.Connection):
        lock.sign()
        return OpenFile(path, lock, opened)
    lock.release()
    return opened


def open_for_reading(path: Path) -> sqlite3.Connection | OpenRefused:
    """A connection that only reads. A server may have the file open at the same time."""
    return _refused_or(path, lambda: _reading_connection(path))


def sync_folder(folder: Path) -> None:
    """Make a new file name in the folder durable. Syncing only the file does not do that."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def was_served(path: Path) -> bool:
    """Whether a server once had a file here. The lock file still tells so if the file itself is lost."""
    try:
        return _lock_file(path).read_bytes().endswith(_SERVED)
    except OSError:
        return False


def _lock_file(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def locked(path: Path) -> ServerLock | OpenRefused:
    """The right to write the file, if no other process has it."""
    try:
        descriptor = _opened_lock(_lock_file(path))
    except PermissionError:
        return ReadOnly(path)
    except OSError as error:
        return ReadOnly(path) if error.errno == errno.EROFS else OutOfReach(path, str(error.strerror))
    try:
        # flock, not lockf, because lockf would let a second opener in the same process pass.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, _HOLDER, 0).decode(errors="replace").strip()
        os.close(descriptor)
        return AlreadyServed(path, holder)
    os.pwrite(descriptor, str(os.getpid()).ljust(_HOLDER).encode(), 0)
    return ServerLock(descriptor)


def _opened_lock(path: Path) -> int:
    """The lock file, made if there is none. Raises `OSError`."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.open(path, os.O_RDWR)
    file_owners.give_to_owner(descriptor, path.parent.stat())
    return descriptor


def make_private(path: Path, *, for_the_owner_of_its_folder: bool = False) -> None:
    """Create an empty file that only its owner can read. The umask does not matter. SQLite's other files get the same mode.

    If root makes it `for_the_owner_of_its_folder`, it belongs to that user, and so do SQLite's other files.

    Raises `FileExistsError` if the file exists, so that the mode of an existing file is never changed.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        if for_the_owner_of_its_folder:
            file_owners.give_to_owner(descriptor, path.parent.stat())
    finally:
        os.close(descriptor)


def _writing_connection(path: Path, page_limit: int | None) -> sqlite3.Connection | OpenRefused:
    if (
        path.exists() and not path.stat().st_mode & _ANY_WRITE
    ):  # root could write it, but not if the operator made it read-only
        return ReadOnly(path)
    if path.exists() and 0 < path.stat().st_size < _SMALLEST:
        return NotAStore(path)
    if not path.exists():
        make_private(path, for_the_owner_of_its_folder=True)
    db = _connect(path, "rw")
    if schema.is_empty(db):
        _make(path, db)
    refused = _foreign(path, db)
    if refused is None:
        _prepare(db, page_limit)
        return db
    db.close()
    return refused


def _reading_connection(path: Path) -> sqlite3.Connection | OpenRefused:
    db = _connect(path, "ro")
    refused = _foreign(path, db)
    if refused is None:
        return db
    db.close()
    return refused


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # The connection moves from thread to thread, but two threads never use it at once.
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
    )
    db.text_factory = _text
    return db


def _text(raw: bytes) -> str | bytes:
    """The stored text, or its bytes if they are not UTF-8. Then only that row is damaged, not the whole list."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _make(path: Path, db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    schema.create(db)
    sync_folder(path.parent)


def _foreign(path: Path, db: sqlite3.Connection) -> OpenRefused | None:
    """Why the file cannot be used; None if it can. It reads only a page or two of the file."""
    if schema.application(db) != schema.APPLICATION:
        return NotAStore(path)
    found = schema.version(db)
    if found > schema.VERSION:
        return NewerFile(path, found, schema.VERSION)
    if found < schema.VERSION:
        return OlderFile(path, found, schema.VERSION)
    if not schema.is_whole(db):
        return DamagedFile(path, "its tables are not those of its schema")
    return None


def _prepare(db: sqlite3.Connection, page_limit: int | None) -> None:
    schema.touch(db)  # notice a read-only file now, not at the first command
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    # Data that an earlier server wrote but failed to flush is read from the system's cache, as if it were on the disk.
    # Writing it into the file and flushing again puts it there.
    db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    if page_limit is not None:
        db.execute(f"PRAGMA max_page_count = {page_limit:d}")


def _refused_or(
    path: Path, connect: Callable[[], sqlite3.Connection | OpenRefused]
) -> sqlite3.Connection | OpenRefused:
    try:
        return connect()
    except schema.FILE_ERRORS as error:
        return _why(path, error)
    except OSError as error:
        return OutOfReach(path, str(error.strerror))


def _why(path: Path, error: FileError) -> OpenRefused:
    code = schema.primary_code(error)
    if code == sqlite3.SQLITE_READONLY:
        return ReadOnly(path)
    if code == sqlite3.SQLITE_NOTADB:
        return NotAStore(path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return DamagedFile(path, str(error))
    return OutOfReach(path, str(error))
