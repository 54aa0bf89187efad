"""The log in memory: for tests and for a server that may forget. Never damaged, never unavailable."""

from __future__ import annotations

import bisect
import secrets
from dataclasses import dataclass
from typing import final

from erqiwang_grpc.store.port import (
    NOTHING,
    START,
    Actor,
    AppendAnswer,
    Appended,
    Batch,
    CommandId,
    Conflict,
    Duplicate,
    Entry,
    Mark,
    Period,
    Position,
    RoomId,
    StoreId,
    Tag,
    TimeNs,
    Unavailable,
    Version,
)


@final
@dataclass(frozen=True, slots=True)
class _Placed:
    mark: Mark
    batch: Batch

    def entries(self) -> tuple[Entry, ...]:
        batch = self.batch
        return tuple(
            Entry(
                room=self.mark.room,
                version=Version(version),
                time=batch.time,
                actor=batch.actor,
                command=batch.command,
                rules_version=batch.rules_version,
                body=body,
            )
            for version, body in enumerate(batch.bodies, start=self.mark.first)
        )


@final
class MemoryStore:
    """`Store` in memory. Listings go through everything there is: it is not meant to hold much."""

    def __init__(self, *, shared: bool = False) -> None:
        """`shared` if several nodes of this process are to serve the same rooms."""
        self.shared = shared
        self._all: list[_Placed] = []
        self._rooms: dict[RoomId, list[_Placed]] = {}
        self._known: dict[tuple[RoomId, Actor, CommandId], Duplicate] = {}
        self._last = Position(0)
        self._closed = False
        self._identity = StoreId(secrets.token_hex(8))

    @property
    def identity(self) -> StoreId:
        """Another one each time: what was in another memory is gone."""
        return self._identity

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        """Put `batch` behind version `expected` of the room. See `Store.append`."""
        if self._closed:
            return Unavailable("this log is closed: open it again")
        known = None if batch.command is None else self._find(room, batch.actor, batch.command.id)
        if known is not None:
            return known
        head = self._head(room)
        if head != expected:
            return Conflict(head)
        return Appended(self._place(room, head, batch))

    async def head(self, room: RoomId) -> Version:
        """The version of the room's last payload; `NOTHING` for a room that is not there."""
        return self._head(room)

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...]:
        """Every payload of the room with a version above `after`."""
        return tuple(
            entry
            for placed in self._rooms.get(room, ())
            if placed.mark.version > after
            for entry in placed.entries()
            if entry.version > after
        )

    async def first(self, room: RoomId) -> Entry | None:
        """The first payload of the room; None for a room that is not there."""
        placed = self._rooms.get(room)
        return placed[0].entries()[0] if placed else None

    async def find(self, room: RoomId, actor: Actor, command: CommandId) -> Duplicate | None:
        """Which payloads the command brought about, if it is in the log."""
        return self._find(room, actor, command)

    async def rooms(self, after: RoomId, limit: int) -> tuple[RoomId, ...]:
        """The next at most `limit` rooms in the order of their ids."""
        return tuple(sorted(room for room in self._rooms if room > after)[:limit])

    async def feed(self, after: Position, limit: int, tag: Tag | None = None) -> tuple[Mark, ...]:
        """The next at most `limit` batches in commit order. See `StoreReader.feed`."""
        start = bisect.bisect_right(self._all, after, key=lambda placed: placed.mark.position)
        later = (p.mark for p in self._all[start:] if tag is None or tag in p.batch.tags)
        return tuple(mark for mark, _ in zip(later, range(limit), strict=False))

    async def latest(self) -> Position:
        """The position of the last batch. See `StoreReader.latest`."""
        return self._all[-1].mark.position if self._all else START

    async def listing(self, tag: Tag, period: Period, limit: int, before: Mark | None = None) -> tuple[Mark, ...]:
        """At most `limit` batches that carry `tag`, newest first. See `StoreReader.listing`."""
        found = [
            placed.mark
            for placed in self._all
            if tag in placed.batch.tags
            and period.since <= placed.mark.time < period.until
            and (before is None or _age(placed.mark) < _age(before))
        ]
        return tuple(sorted(found, key=_age, reverse=True)[:limit])

    async def delete_rooms(self, tag: Tag, before: TimeNs, limit: int) -> tuple[RoomId, ...]:
        """Delete at most `limit` rooms. See `Store.delete_rooms`."""
        old = sorted(
            (placed.mark for placed in self._all if tag in placed.batch.tags and placed.mark.time < before),
            key=_age,
        )
        doomed = tuple(dict.fromkeys(mark.room for mark in old))[:limit]
        for room in doomed:
            del self._rooms[room]
        gone = set(doomed)
        self._all = [placed for placed in self._all if placed.mark.room not in gone]
        self._known = {key: known for key, known in self._known.items() if key[0] not in gone}
        return doomed

    async def close(self) -> None:
        """Appends after it are `Unavailable`."""
        self._closed = True

    def _head(self, room: RoomId) -> Version:
        placed = self._rooms.get(room)
        return placed[-1].mark.version if placed else NOTHING

    def _find(self, room: RoomId, actor: Actor, command: CommandId) -> Duplicate | None:
        return self._known.get((room, actor, command))

    def _place(self, room: RoomId, head: Version, batch: Batch) -> Version:
        self._last = Position(self._last + 1)
        last = Version(head + len(batch.bodies))
        placed = _Placed(Mark(self._last, room, Version(head + 1), last, batch.time), batch)
        self._all.append(placed)
        self._rooms.setdefault(room, []).append(placed)
        if batch.command is not None:
            known = Duplicate(Version(head + 1), last, batch.command.fingerprint)
            self._known[room, batch.actor, batch.command.id] = known
        return last


def _age(mark: Mark) -> tuple[TimeNs, Position]:
    """Newer marks are greater; the position decides between equal times."""
    return mark.time, mark.position
