"""A store that passes every call on to another one. Stores that fail, wait or count in tests inherit from it."""

from erqiwang_grpc.store import (
    NOTHING,
    START,
    AppendAnswer,
    BadCursor,
    Batch,
    Conflict,
    Cursor,
    Damaged,
    Entry,
    Fed,
    Listed,
    Page,
    Rewritten,
    RoomId,
    Search,
    Store,
    StoreId,
    Summary,
    Term,
    TimeNs,
    Unavailable,
    Version,
)


class PassingOn:
    """A store on another one, `below`."""

    def __init__(self, below: Store) -> None:
        self._below = below

    @property
    def shared(self) -> bool:
        return self._below.shared

    @property
    def outage(self) -> str | None:
        return self._below.outage

    @property
    def keeps_house(self) -> bool:
        return self._below.keeps_house

    @property
    def identity(self) -> StoreId:
        return self._below.identity

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        return await self._below.append(room, expected, batch)

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        return await self._below.read(room, after)

    async def first(self, room: RoomId) -> Entry | Damaged | Unavailable | None:
        return await self._below.first(room)

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...] | Unavailable:
        return await self._below.rooms(after, limit)

    async def feed(self, feed: str, after: Cursor, limit: int) -> tuple[Fed, ...] | BadCursor | Unavailable:
        return await self._below.feed(feed, after, limit)

    async def latest(self) -> Cursor | Unavailable:
        return await self._below.latest()

    async def summary(self, room: RoomId) -> Listed | Damaged | Unavailable | None:
        return await self._below.summary(room)

    async def summaries(self, search: Search, limit: int, after: Cursor = START) -> Page | BadCursor | Unavailable:
        return await self._below.summaries(search, limit, after)

    async def summarise(
        self, room: RoomId, expected: Version, summary: Summary
    ) -> Rewritten | Conflict | Damaged | Unavailable:
        return await self._below.summarise(room, expected, summary)

    async def delete_rooms(self, term: Term, before: TimeNs, limit: int) -> tuple[RoomId, ...] | Unavailable:
        return await self._below.delete_rooms(term, before, limit)

    async def close(self) -> None:
        await self._below.close()
