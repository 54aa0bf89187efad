"""The store of rooms: two ports, `Store` and `Wakeup`, and their implementations.

Read the modules in this order:

1. `port`: both ports, and the values that pass through them.
2. `memory`, `wakeup`: the simplest implementation of each.
3. `chain`: the checksums of batches and the seals of summaries. `batches`: batches as engines on disk keep them.
4. `keyset`, `pages`: cursors, and pages of lists that are checked as they are read.
5. `sqlite`, `postgres`: the engines on disk. `address`: the address of a database.
"""

from erqiwang_grpc.store.port import (
    NOTHING,
    START,
    Actor,
    AppendAnswer,
    Appended,
    BadCursor,
    Batch,
    CommandId,
    CommandKey,
    Conflict,
    Cursor,
    Damaged,
    Duplicate,
    Entry,
    Fed,
    Listed,
    Moment,
    Page,
    Period,
    Rewritten,
    RoomId,
    Search,
    Store,
    StoreId,
    StoreReader,
    Summary,
    Term,
    TimeNs,
    Unavailable,
    Unsure,
    Version,
    Wakeup,
)

__all__ = [
    "NOTHING",
    "START",
    "Actor",
    "AppendAnswer",
    "Appended",
    "BadCursor",
    "Batch",
    "CommandId",
    "CommandKey",
    "Conflict",
    "Cursor",
    "Damaged",
    "Duplicate",
    "Entry",
    "Fed",
    "Listed",
    "Moment",
    "Page",
    "Period",
    "Rewritten",
    "RoomId",
    "Search",
    "Store",
    "StoreId",
    "StoreReader",
    "Summary",
    "Term",
    "TimeNs",
    "Unavailable",
    "Unsure",
    "Version",
    "Wakeup",
]
