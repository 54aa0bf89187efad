"""A log that passes everything on to another: what the logs of tests that fail, wait or count have in common."""

from erqiwang_grpc.store import (
    NOTHING,
    Actor,
    AppendAnswer,
    Batch,
    CommandId,
    Damaged,
    Duplicate,
    Entry,
    Mark,
    Period,
    Position,
    RoomId,
    Store,
    StoreId,
    Tag,
    TimeNs,
    Unavailable,
    Version,
)


class PassingOn:
    """`Store` on another one."""

    def __init__(self, below: Store) -> None:
        self._below = below

    @property
    def shared(self) -> bool:
        return self._below.shared

    @property
    def identity(self) -> StoreId:
        return self._below.identity

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        return await self._below.append(room, expected, batch)

    async def head(self, room: RoomId) -> Version | Damaged:
        return await self._below.head(room)

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged:
        return await self._below.read(room, after)

    async def first(self, room: RoomId) -> Entry | Damaged | None:
        return await self._below.first(room)

    async def find(self, room: RoomId, actor: Actor, command: CommandId) -> Duplicate | Damaged | None:
        return await self._below.find(room, actor, command)

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...] | Unavailable:
        return await self._below.rooms(after, limit)

    async def feed(self, after: Position, limit: int, tag: Tag | None = None) -> tuple[Mark, ...] | Unavailable:
        return await self._below.feed(after, limit, tag)

    async def latest(self) -> Position | Unavailable:
        return await self._below.latest()

    async def listing(
        self, tag: Tag, period: Period, limit: int, before: Mark | None = None
    ) -> tuple[Mark, ...] | Unavailable:
        return await self._below.listing(tag, period, limit, before)

    async def delete_rooms(self, tag: Tag, before: TimeNs, limit: int) -> tuple[RoomId, ...] | Unavailable:
        return await self._below.delete_rooms(tag, before, limit)

    async def close(self) -> None:
        await self._below.close()
