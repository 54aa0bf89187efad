"""Group commit: what is asked for while one flush runs shares the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, final

from erqiwang_grpc.store.port import NOTHING, AppendAnswer, Damaged, Unavailable
from erqiwang_grpc.store.sqlite import schema, statements
from erqiwang_grpc.store.sqlite.schema import FileError
from erqiwang_grpc.store.sqlite.statements import Prepared

T = TypeVar("T")

# After a failed flush the system may drop what it could not write and call the next flush a success.
_FLUSH_FAILED: Final = frozenset({sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC})


@final
class Committer:
    """The one writer of a file. Its methods are called one at a time, by the thread that writes."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._is_lost = False

    def commit(self, group: Sequence[Prepared]) -> list[AppendAnswer]:
        """Answer every append of the group, with one flush for all that are written."""
        try:
            return self._together(group)
        except schema.FILE_ERRORS as error:
            if len(group) == 1:
                return [self._refusal(group[0], error)]
        # One of them cannot be written. The transaction is gone for all, so each gets its own.
        return [answer for one in group for answer in self.commit([one])]

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T | Unavailable:
        """Do `work` in a transaction of its own."""
        if self._is_lost:
            return _LOST
        try:
            return self._in_transaction(work)
        except schema.FILE_ERRORS as error:
            return self._unavailable(error)

    def outside(self, work: Callable[[sqlite3.Connection], T]) -> T | Unavailable:
        """Do `work` without a transaction, which some statements demand."""
        try:
            return work(self._db)
        except schema.FILE_ERRORS as error:
            return self._unavailable(error)

    def _together(self, group: Sequence[Prepared]) -> list[AppendAnswer]:
        if self._is_lost:
            return [_LOST] * len(group)
        return self._in_transaction(lambda db: [statements.append(db, one) for one in group])

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            result = work(self._db)
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:  # SQLite has rolled back by itself after some errors
                self._db.execute("ROLLBACK")
        return result

    def _refusal(self, wanted: Prepared, error: FileError) -> Damaged | Unavailable:
        if schema.primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            return Damaged(wanted.room, NOTHING, f"{error}: restore the file from a backup")
        return self._unavailable(error)

    def _unavailable(self, error: FileError) -> Unavailable:
        if schema.extended_code(error) in _FLUSH_FAILED:
            self._is_lost = True
            return _LOST
        if schema.primary_code(error) == sqlite3.SQLITE_FULL:
            return Unavailable("no space is left for the log: make room on its disk, or delete old rooms")
        return Unavailable(f"the log cannot be written ({error}): see to its disk and permissions")


_LOST: Final = Unavailable("the disk failed to flush the log: see to the disk, then restart the server")
