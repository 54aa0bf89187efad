"""The archive: matches as a log tells of them, read without opening a room."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import final

from erqiwang_grpc.archive.ownership import owner
from erqiwang_grpc.archive.records import MatchRecord, MatchSummary, has_ended, match_record, match_summary
from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.events.history import UnreadableEntry
from erqiwang_grpc.events.index import finished, played
from erqiwang_grpc.rooms.refusals import LogUnavailable, NoSuchRecord, RoomQuarantined
from erqiwang_grpc.store import Damaged, Entry, Mark, Period, RoomId, StoreReader, Tag, Unavailable, Version


@final
@dataclass(frozen=True, slots=True)
class Search:
    """Which matches of a platform are looked for."""

    platform: PlatformId
    player: str
    """Empty for all players."""
    period: Period
    """When they ended."""

    @property
    def tag(self) -> Tag:
        """Under what they are found."""
        return played(self.platform, self.player) if self.player else finished(self.platform)


@final
@dataclass(frozen=True, slots=True)
class Page:
    """Some of the matches that were looked for."""

    matches: tuple[MatchSummary, ...]
    """The last to end first."""
    last: Mark | None
    """Behind which the next page begins; None where there is none."""


@final
class Archive:
    """The matches of a log."""

    def __init__(self, events: StoreReader) -> None:
        self._events = events

    async def record(self, platform: PlatformId, room: RoomId) -> MatchRecord | NoSuchRecord | RoomQuarantined:
        """A match of that platform, with its deals that have ended.

        Refused: one that is not there, never began or is another platform's; one whose log is damaged or not readable to
        its end.
        """
        entries = await self._events.read(room)
        if isinstance(entries, Damaged):
            return await self._damaged(platform, room, entries.version)
        if not entries:
            return NoSuchRecord()
        # A long match takes some ten milliseconds to read: on the event loop every seat would wait for it.
        record = await asyncio.to_thread(match_record, entries)
        if isinstance(record, UnreadableEntry):
            return await self._damaged(platform, room, record.version)
        is_there = record.summary.opened.platform == platform and record.summary.started is not None
        return record if is_there else NoSuchRecord()

    async def _damaged(self, platform: PlatformId, room: RoomId, version: Version) -> NoSuchRecord | RoomQuarantined:
        """What is said of a room that cannot be believed from a version on: to its owner alone that there is one."""
        is_owner = await owner(self._events, room) == platform
        return RoomQuarantined(Version(version - 1)) if is_owner else NoSuchRecord()

    async def ended(self, room: RoomId) -> MatchSummary | None:
        """A match that has ended, found without following it; None for one that goes on or cannot be believed."""
        entries = await self._events.read(room)
        is_over = not isinstance(entries, Damaged) and bool(entries) and has_ended(entries)
        return _readable(entries) if is_over else None

    async def page(self, search: Search, size: int, before: Mark | None) -> Page | LogUnavailable:
        """At most `size` matches that have ended, older than the mark `before` if one is given."""
        marks = await self._events.listing(search.tag, search.period, size, before)
        if isinstance(marks, Unavailable):
            return LogUnavailable()
        matches = [summary async for summary in self._summaries(marks)]
        return Page(tuple(matches), marks[-1] if len(marks) == size else None)

    async def _summaries(self, marks: tuple[Mark, ...]) -> AsyncIterator[MatchSummary]:
        """The matches at those marks, but for any that cannot be believed: to ask for that one says why."""
        for mark in marks:
            summary = _readable(await self._events.read(mark.room))
            if summary is not None:
                yield summary


def _readable(entries: tuple[Entry, ...] | Damaged) -> MatchSummary | None:
    if isinstance(entries, Damaged) or not entries:
        return None
    summary = match_summary(entries)
    return None if isinstance(summary, UnreadableEntry) else summary
