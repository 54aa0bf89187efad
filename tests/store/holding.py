"""A store that holds the answers to appends or reads until the test lets them go."""

import asyncio
from typing import final

from erqiwang_grpc.store import NOTHING, AppendAnswer, Batch, Damaged, Entry, RoomId, Store, Unavailable, Version
from tests.store.passing_on import PassingOn


@final
class HoldingStore(PassingOn):
    """A store on another one. A call that is held was carried out by the other store, and is not answered yet."""

    def __init__(self, below: Store) -> None:
        super().__init__(below)
        self.holds_appends = False
        self.holds_reads = False
        self.reads = 0
        self.held = asyncio.Event()
        """Set when a call is held."""
        self.go_on = asyncio.Event()
        """Set it to answer the calls that are held."""

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
