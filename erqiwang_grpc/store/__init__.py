"""The store of rooms: three ports, `Store`, `Wakeup` and `SideMessages`, and their implementations.

Read the modules in this order:

1. `port`: the first two ports, and the values that pass through them. `side_messages`: the third.
2. `memory`, `wakeup`, `side_messages`: the simplest implementation of each.
3. `chain`: the checksums of batches and the seals of summaries. `batches`: batches as engines on disk keep them.
4. `keyset`, `pages`: cursors, and pages of lists that are checked as they are read.
5. `sqlite`, `postgres`: the engines on disk. `address`: the address of a database.
6. `rows`, `comparing`: moving a store from one engine to another. `figures`: what an engine measures of itself.
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
from erqiwang_grpc.store.side_messages import (
    NodeId,
    NodeLeft,
    Roster,
    SeatHere,
    SideMessage,
    SideMessages,
    SignalGiven,
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
    "NodeId",
    "NodeLeft",
    "Page",
    "Period",
    "Rewritten",
    "RoomId",
    "Roster",
    "Search",
    "SeatHere",
    "SideMessage",
    "SideMessages",
    "SignalGiven",
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
