"""The feed: the public events of a platform's rooms, from a place in the store on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.clocks import Monotonic, within
from erqiwang_grpc.events import Unreadable, read
from erqiwang_grpc.events.index import PublicEvent, is_public
from erqiwang_grpc.rooms.refusals import InvalidCursor, StoreUnavailable
from erqiwang_grpc.store import BadCursor, Cursor, Entry, Fed, StoreReader, Unavailable, Wakeup
from erqiwang_grpc.store.wakeup import Bell

_PAGE: Final = 100
_POLL_SECONDS: Final = 5.0
"""Seconds. A wakeup may be lost, so a waiting feed also reads the store this often."""
_BREATH_SECONDS: Final = 0.05
"""Seconds between a wakeup and the read. Every turn of every room wakes a watcher, and few have public events."""
_QUIET_SECONDS: Final = 20.0
"""How long a stream may be silent before an empty message says that the server is there."""


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where a watcher goes on: at a cursor of the store, without the first `told` public events of the batch there."""

    cursor: Cursor
    told: int


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
) -> AsyncGenerator[tuple[Happened, ...] | InvalidCursor | StoreUnavailable, None]:
    """What has happened since a place, then what happens, until the server leaves. Empty when it was quiet for long.

    `bell` wakes the feed; whoever makes `is_leaving` true rings it. A refusal ends it.
    """
    after = place.cursor
    spoke = monotonic()
    with wakeup.listen(bell.ring):
        while not is_leaving():
            batches = await store.feed(platform, after, page)
            if isinstance(batches, BadCursor):
                yield InvalidCursor("cursor")
                return
            if isinstance(batches, Unavailable):
                yield StoreUnavailable()
                return
            for batch in batches:
                # The batch at the place may have been deleted: then another stands there, of which nothing was told.
                found = _public(batch)[place.told if batch.before == place.cursor else 0 :]
                if found:
                    yield found
                    spoke = monotonic()
                after = batch.cursor
            if batches:
                continue
            with contextlib.suppress(TimeoutError):
                await within(monotonic, _POLL_SECONDS, bell.wait())
                await asyncio.sleep(_BREATH_SECONDS)
            if monotonic() - spoke >= _QUIET_SECONDS:
                yield ()
                spoke = monotonic()


def _public(batch: Fed) -> tuple[Happened, ...]:
    """The public events of one batch.

    What is unreadable is skipped: a quarantined room may still be ended, and a watcher must hear of that end.
    """
    read_ = ((entry, read(entry.body, entry.rules_version)) for entry in batch.entries)
    public = [(entry, event) for entry, event in read_ if not isinstance(event, Unreadable) and is_public(event)]
    places = (*(Place(batch.before, told) for told in range(1, len(public))), Place(batch.cursor, 0))
    return tuple(Happened(place, entry, event) for place, (entry, event) in zip(places, public, strict=False))
