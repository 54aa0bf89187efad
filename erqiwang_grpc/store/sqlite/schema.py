"""The tables of a file, and the marks that say that it is one of this program's and which schema it has."""

from __future__ import annotations

import re
import secrets
import sqlite3
from typing import Final, TypeAlias

from erqiwang_grpc.store.pages import OutOfOrderError
from erqiwang_grpc.store.port import StoreId

APPLICATION: Final = 0x45525157
"""SQLite's application_id: "ERQW"."""
VERSION: Final = 3
"""SQLite's user_version: the version of the schema below. Raise it with every change, and from the first release on add
a migration. `make store` makes a new stored example."""

# One row is one batch, so half a batch cannot be stored. `feed` names the feed that the batch appears in.
# AUTOINCREMENT: a position is never used again, not even after the newest room is deleted. Readers' cursors rely on it.
_BATCHES: Final = """CREATE TABLE batches (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  room TEXT NOT NULL,
  first_version INTEGER NOT NULL,
  last_version INTEGER NOT NULL,
  time_ns INTEGER NOT NULL,
  actor TEXT NOT NULL,
  command TEXT,
  fingerprint BLOB,
  rules_version INTEGER NOT NULL,
  bodies BLOB NOT NULL,
  feed TEXT,
  chain BLOB NOT NULL
)"""
_BY_VERSION: Final = "CREATE UNIQUE INDEX batches_by_version ON batches (room, last_version)"
_BY_COMMAND: Final = (
    "CREATE UNIQUE INDEX batches_by_command ON batches (room, actor, command) WHERE command IS NOT NULL"
)
_BY_FEED: Final = "CREATE INDEX batches_by_feed ON batches (feed, position) WHERE feed IS NOT NULL"
# A room's head is stored apart from its batches, so that a lost batch is noticed. `seal` binds the summary to the head.
_ROOMS: Final = """CREATE TABLE rooms (
  room TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  chain BLOB NOT NULL,
  terms BLOB NOT NULL,
  created_ns INTEGER NOT NULL,
  ended_ns INTEGER,
  body BLOB NOT NULL,
  seal BLOB NOT NULL
) WITHOUT ROWID"""
# The terms by which lists find rooms. They are made from the summaries, and made again from them after damage.
_FOUND: Final = """CREATE TABLE found (
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  created_ns INTEGER NOT NULL,
  room TEXT NOT NULL,
  ended_ns INTEGER,
  PRIMARY KEY (key, value, created_ns, room)
) WITHOUT ROWID"""
_FOUND_BY_END: Final = "CREATE INDEX found_by_end ON found (key, value, ended_ns, room) WHERE ended_ns IS NOT NULL"
_FOUND_BY_ROOM: Final = "CREATE INDEX found_by_room ON found (room)"

# One row: the identity of the store. Cursors name it, so that a cursor of a copy or of the original is refused here.
_STORE: Final = "CREATE TABLE store (identity TEXT NOT NULL)"

_ALL: Final = (_BATCHES, _BY_VERSION, _BY_COMMAND, _BY_FEED, _ROOMS, _FOUND, _FOUND_BY_END, _FOUND_BY_ROOM, _STORE)
_IDENTITY_BYTES: Final = 8
_IDENTITY: Final = re.compile(r"[0-9a-f]{16}")


FileError: TypeAlias = sqlite3.DatabaseError | UnicodeDecodeError | OutOfOrderError
FILE_ERRORS: Final = (sqlite3.DatabaseError, UnicodeDecodeError, OutOfOrderError)
"""The errors of a file that cannot be read or written. The second comes if SQLite's message quotes damaged text."""


def create(db: sqlite3.Connection) -> None:
    """Create the tables and mark the file, all or nothing."""
    db.execute("BEGIN IMMEDIATE")
    for statement in _ALL:
        db.execute(statement)
    db.execute("INSERT INTO store (identity) VALUES (?)", (_fresh_identity(),))
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def identity(db: sqlite3.Connection) -> StoreId | None:
    """The identity of the store; None if it cannot be read."""
    match db.execute("SELECT identity FROM store").fetchall():
        case [(str(found),)] if _IDENTITY.fullmatch(found):
            return StoreId(found)
        case _:
            return None


def stamp(db: sqlite3.Connection) -> StoreId:
    """Give the store a new identity, so that every earlier cursor is refused; gives the identity."""
    fresh = _fresh_identity()
    db.execute("BEGIN IMMEDIATE")
    db.execute("DELETE FROM store")
    db.execute("INSERT INTO store (identity) VALUES (?)", (fresh,))
    db.execute("COMMIT")
    return fresh


def _fresh_identity() -> StoreId:
    return StoreId(secrets.token_hex(_IDENTITY_BYTES))


def touch(db: sqlite3.Connection) -> None:
    """Write and roll back. Raises `FileError` if the file is not writable: BEGIN IMMEDIATE alone would not notice."""
    db.execute("BEGIN IMMEDIATE")
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("ROLLBACK")


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether the file has no tables and no marks yet."""
    return application(db) == 0 and version(db) == 0 and not _definitions(db)


def is_whole(db: sqlite3.Connection) -> bool:
    """Whether the tables of the file are exactly those of the schema."""
    return _definitions(db) == set(_ALL)


def application(db: sqlite3.Connection) -> int:
    """The application id in the file."""
    return _number(db, "PRAGMA application_id")


def version(db: sqlite3.Connection) -> int:
    """The version of the schema in the file."""
    return _number(db, "PRAGMA user_version")


def primary_code(error: FileError) -> int:
    """SQLite's primary result code. SQLITE_ERROR if Python found the fault itself, such as text that is not UTF-8."""
    return extended_code(error) & 0xFF


def extended_code(error: FileError) -> int:
    """SQLite's extended result code. SQLITE_ERROR if Python found the fault itself."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code


def _number(db: sqlite3.Connection, pragma: str) -> int:
    value: int = db.execute(pragma).fetchone()[0]
    return value


def _definitions(db: sqlite3.Connection) -> set[str]:
    rows: list[tuple[str]] = db.execute(
        "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    ).fetchall()
    return {sql for (sql,) in rows}
