"""Group commit: the appends that arrive during one flush share the next flush."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, final

from erqiwang_grpc.store.batches import Prepared
from erqiwang_grpc.store.port import NOTHING, AppendAnswer, Damaged, Unavailable, Unsure
from erqiwang_grpc.store.sqlite import schema, statements
from erqiwang_grpc.store.sqlite.schema import FileError

T = TypeVar("T")

# After these I/O errors, the file holds nothing that the next opening could take for a complete transaction.
_NOTHING_WRITTEN: Final = frozenset(
    {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}
)
# These errors may come after the flush. Then the transaction is in the file, and the next opening finds it.
_AFTER_THE_FLUSH: Final = frozenset(
    {
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
        sqlite3.SQLITE_IOERR_SHMLOCK,
    }
)


@final
class Committer:
    """The one writer of a file. Only the writing thread calls its methods, one at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.is_lost = False
        """Whether a flush has failed. The system may have dropped the data and may report the next flush as a success.
        So nothing more is written, and the process must end."""

    def commit(self, group: Sequence[Prepared]) -> list[AppendAnswer]:
        """Write the appends of the group with a single flush, and give the answer to each."""
        try:
            return self._together(group)
        except schema.FILE_ERRORS as error:
            if self._is_unsure(error):
                return [_UNSURE] * len(group)
            if len(group) == 1:
                return [self._refusal(group[0], error)]
        # One of them cannot be written, and the transaction failed for all. So try each in its own transaction.
        return [answer for one in group for answer in self.commit([one])]

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T | Unavailable:
        """Do `work` in one transaction."""
        if self.is_lost:
            return _LOST
        try:
            return self._in_transaction(work)
        except schema.FILE_ERRORS as error:
            return self._unavailable(error)

    def outside(self, work: Callable[[sqlite3.Connection], T]) -> T | Unavailable:
        """Do `work` without a transaction, as some statements require."""
        try:
            return work(self._db)
        except schema.FILE_ERRORS as error:
            return self._unavailable(error)

    def _together(self, group: Sequence[Prepared]) -> list[AppendAnswer]:
        if self.is_lost:
            return [_UNSURE] * len(group)  # one of them may repeat a command that was stored before the failure
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

    def _is_unsure(self, error: FileError) -> bool:
        """Whether the transaction may be in the file at the next opening, although its commit failed."""
        code = schema.extended_code(error)
        if schema.primary_code(error) != sqlite3.SQLITE_IOERR or code in _NOTHING_WRITTEN:
            return False
        self.is_lost = self.is_lost or code not in _AFTER_THE_FLUSH
        return True

    def _unavailable(self, error: FileError) -> Unavailable:
        if self._is_unsure(error) and self.is_lost:
            return _LOST
        if schema.primary_code(error) == sqlite3.SQLITE_FULL:
            return Unavailable("no space is left for the store: make room on its disk, or delete old rooms")
        return Unavailable(f"the store cannot be written ({error}): see to its disk and permissions")


_LOST: Final = Unavailable("the disk failed to flush the store: see to the disk, then restart the server")
_UNSURE: Final = Unsure("the disk failed while the store was flushed: only the next opening shows what is stored")
