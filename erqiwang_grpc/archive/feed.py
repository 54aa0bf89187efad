"""The feed: the public events of a platform's rooms, from a given place in the store on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import Monotonic, within
from erqiwang_grpc.events import Unreadable, read
from erqiwang_grpc.events.index import PublicEvent, is_public
from erqiwang_grpc.rooms.refusals import InvalidCursor, StoreUnavailable, WrittenByNewer
from erqiwang_grpc.store import BadCursor, Cursor, Entry, Fed, StoreReader, Unavailable, Wakeup
from erqiwang_grpc.store.wakeup import Bell

_PAGE: Final = 25
"""Most batches that are read at once: what a watcher costs before it has paid."""
_POLL_SECONDS: Final = 5.0
"""Seconds between two reads of a waiting feed, because a wakeup may be lost."""
_BREATH_SECONDS: Final = 0.05
"""Seconds between a wakeup and the read. Every turn of every room wakes all watchers, and few have public events."""
QUIET_SECONDS: Final = 20.0
"""Seconds of silence after which an empty message shows that the server is alive."""


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Where a watcher goes on: in the batch after `cursor`, behind the first `told` of its public events."""

    cursor: Cursor
    told: int


@final
@dataclass(frozen=True, slots=True)
class Happened:
    """One public event."""

    place: Place
    """The place after this event, where its watcher goes on."""
    entry: Entry
    event: PublicEvent


async def feed(
    store: StoreReader,
    wakeup: Wakeup,
    platform: PlatformId,
    place: Place,
    bell: Bell,
    is_leaving: Callable[[], bool],
    monotonic: Monotonic,
    pay: Callable[[int], Awaitable[None]],
    page: int = _PAGE,
    has_more: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[tuple[Happened, ...] | InvalidCursor | StoreUnavailable | WrittenByNewer, None]:
    """The public events after `place`, and then new ones as they happen, until `is_leaving` gives true.

    A tuple is empty if nothing happened for a while, or if `has_more` gives true: the caller has something else to tell. A
    refusal ends the feed: `InvalidCursor`, `StoreUnavailable`, and `WrittenByNewer` before a batch with an event that this
    version does not know: it may be a public one.
    `bell` wakes the feed; ring it when `is_leaving` becomes true. `pay` is called with the number of events that were read,
    and returns when they may be told.
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
            if batches:
                await pay(sum(len(batch.entries) for batch in batches))
                if is_leaving():
                    return
            for batch in batches:
                # Events were told only of the very batch at `place`. If it was deleted, another batch comes first.
                if _is_newer(batch):
                    yield WrittenByNewer()
                    return
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
            is_quiet = monotonic() - spoke >= QUIET_SECONDS
            if is_quiet or has_more():
                yield ()
            if is_quiet:
                spoke = monotonic()


def _is_newer(batch: Fed) -> bool:
    events = (read(entry.body, entry.rules_version) for entry in batch.entries)
    return any(isinstance(event, Unreadable) and event.is_newer for event in events)


def _public(batch: Fed) -> tuple[Happened, ...]:
    """The public events of one batch. Unreadable ones are skipped.

    A room with an unreadable event is quarantined, but it may still be disbanded, and a watcher must be told of that.
    """
    read_ = ((entry, read(entry.body, entry.rules_version)) for entry in batch.entries)
    public = [(entry, event) for entry, event in read_ if not isinstance(event, Unreadable) and is_public(event)]
    places = (*(Place(batch.before, told) for told in range(1, len(public))), Place(batch.cursor, 0))
    return tuple(Happened(place, entry, event) for place, (entry, event) in zip(places, public, strict=False))
