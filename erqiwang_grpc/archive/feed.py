"""The feed: the public events of a platform's rooms, from a place in the store on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from erqiwang_grpc.clocks import Monotonic, within
from erqiwang_grpc.events import Unreadable, read
from erqiwang_grpc.events.index import PublicEvent, is_public, public
from erqiwang_grpc.rooms.refusals import StoreUnavailable
from erqiwang_grpc.store import Damaged, Entry, Mark, Position, StoreReader, Unavailable, Version, Wakeup
from erqiwang_grpc.store.wakeup import Bell

_PAGE: Final = 100
_POLL_SECONDS: Final = 5.0
"""Seconds. A wakeup may be lost, so a waiting feed also reads the store this often."""
_BREATH_SECONDS: Final = 0.05
"""Seconds between a wakeup and the read. Every turn of every room wakes a watcher, and few have public events."""
_QUIET_SECONDS: Final = 20.0
"""How long a stream may be silent before an empty message says that the server is there."""

Place: TypeAlias = tuple[Position, int]
"""A batch, and how many of its public events were told."""


@final
@dataclass(frozen=True, slots=True)
class Happened:
    """One public event."""

    place: Place
    """Where a watcher goes on that has seen this event."""
    entry: Entry
    event: PublicEvent


async def feed(
    store: StoreReader,
    wakeup: Wakeup,
    platform: str,
    place: Place,
    bell: Bell,
    is_leaving: Callable[[], bool],
    monotonic: Monotonic,
    page: int = _PAGE,
) -> AsyncGenerator[tuple[Happened, ...] | StoreUnavailable, None]:
    """What has happened since a place, then what happens, until the server leaves. Empty when it was quiet for long.

    `bell` wakes the feed; whoever makes `is_leaving` true rings it.
    """
    position, heard = place
    # A place inside a batch begins with that batch again, without the events already told.
    after = Position(position - 1) if heard else position
    spoke = monotonic()
    with wakeup.listen(bell.ring):
        while not is_leaving():
            marks = await store.feed(after, page, public(platform))
            if isinstance(marks, Unavailable):
                yield StoreUnavailable()
                return
            for mark in marks:
                skip = heard if mark.position == position else 0
                found = (await _public(store, mark))[skip:]
                if found:
                    yield found
                    spoke = monotonic()
                after = mark.position
            if marks:
                continue
            with contextlib.suppress(TimeoutError):
                await within(monotonic, _POLL_SECONDS, bell.wait())
                await asyncio.sleep(_BREATH_SECONDS)
            if monotonic() - spoke >= _QUIET_SECONDS:
                yield ()
                spoke = monotonic()


async def _public(store: StoreReader, mark: Mark) -> tuple[Happened, ...]:
    """The public events of one batch. Empty if the room is damaged; reading the room reports the damage."""
    entries = await store.read(mark.room, Version(mark.first - 1))
    if isinstance(entries, Damaged):
        return ()
    found: list[Happened] = []
    for entry in entries[: mark.version - mark.first + 1]:
        event = read(entry.body, entry.rules_version)
        if isinstance(event, Unreadable):
            # Skip it: a quarantined room may still be ended, and a watcher must hear of that end.
            continue
        if is_public(event):
            found.append(Happened((mark.position, len(found) + 1), entry, event))
    return tuple(found)
