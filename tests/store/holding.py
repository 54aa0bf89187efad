"""A log that holds an append or a read until the test lets it go on."""

import asyncio
from typing import final

from erqiwang_grpc.store import NOTHING, AppendAnswer, Batch, Damaged, Entry, RoomId, Store, Unavailable, Version
from tests.store.passing_on import PassingOn


@final
class HoldingLog(PassingOn):
    """`Store` on another one. What is held has been carried out below and is not answered yet."""

    def __init__(self, below: Store) -> None:
        super().__init__(below)
        self.holds_appends = False
        self.holds_reads = False
        self.reads = 0
        self.held = asyncio.Event()
        """Set once something is held."""
        self.go_on = asyncio.Event()

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        answer = await super().append(room, expected, batch)
        if self.holds_appends:
            self.held.set()
            await self.go_on.wait()
        return answer

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        self.reads += 1
        entries = await super().read(room, after)
        if self.holds_reads:
            self.held.set()
            await self.go_on.wait()
        return entries
