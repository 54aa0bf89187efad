"""Watching: the public events of a platform's rooms, from a cursor on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Final

from erqiwang_core.match import DealStarted, MatchEnded, SeatLeft, SeatTaken
from erqiwang_core.settled import DealSettled

from erqiwang_grpc.clocks import Monotonic, within
from erqiwang_grpc.events import Unreadable, read
from erqiwang_grpc.events.actor import HOUSE, stored
from erqiwang_grpc.events.index import is_public, public
from erqiwang_grpc.events.model import RoomOpened, StoredEvent
from erqiwang_grpc.rooms.refusals import LogUnavailable
from erqiwang_grpc.rpc.cursors import cursor
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.store import Damaged, Entry, Mark, Position, StoreReader, Unavailable, Version, Wakeup
from erqiwang_grpc.store.wakeup import Bell
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb

_PAGE: Final = 100
_POLL_SECONDS: Final = 5.0
"""Seconds. A wakeup may be lost, so a waiting feed also reads the store this often."""
_BREATH_SECONDS: Final = 0.05
"""Seconds between a wakeup and the read. Every turn of every room wakes a watcher, and few have public events."""
_QUIET_SECONDS: Final = 20.0
"""How long a stream may be silent before an empty message says that the server is there."""


async def feed(
    events: StoreReader,
    wakeup: Wakeup,
    platform: str,
    place: tuple[Position, int],
    is_leaving: Callable[[], bool],
    monotonic: Monotonic,
    page: int = _PAGE,
) -> AsyncGenerator[pb.WatchRoomsResponse | LogUnavailable, None]:
    """What has happened since a cursor's place, then what happens, until the server leaves; an empty message when it is quiet."""
    position, heard = place
    # A cursor inside a batch begins with that batch again, without the events already told.
    after = Position(position - 1) if heard else position
    spoke = monotonic()
    bell = Bell()
    with wakeup.listen(bell.ring):
        while not is_leaving():
            marks = await events.feed(after, page, public(platform))
            if isinstance(marks, Unavailable):
                yield LogUnavailable()
                return
            for mark in marks:
                skip = heard if mark.position == position else 0
                found = (await _events_of(events, mark))[skip:]
                if found:
                    yield pb.WatchRoomsResponse(events=found)
                    spoke = monotonic()
                after = mark.position
            if marks:
                continue
            with contextlib.suppress(TimeoutError):
                await within(monotonic, _POLL_SECONDS, bell.wait())
                await asyncio.sleep(_BREATH_SECONDS)
            if monotonic() - spoke >= _QUIET_SECONDS:
                yield pb.WatchRoomsResponse()
                spoke = monotonic()


async def _events_of(events: StoreReader, mark: Mark) -> list[pb.RoomEvent]:
    """The public events of one batch; empty if the room is damaged, which reading the room reports."""
    entries = await events.read(mark.room, Version(mark.first - 1))
    if isinstance(entries, Damaged):
        return []
    found: list[pb.RoomEvent] = []
    for entry in entries[: mark.version - mark.first + 1]:
        event = read(entry.body, entry.rules_version)
        if isinstance(event, Unreadable):
            # Skip it: a quarantined room may still be ended, and a watcher must hear of that end.
            continue
        if is_public(event):
            found.append(told(entry, event, cursor(events.identity, mark.position, len(found) + 1)))
    return found


def told(entry: Entry, event: StoredEvent, place: str) -> pb.RoomEvent:
    """A public event, as a platform is told of it."""
    message = pb.RoomEvent(cursor=place, room_id=entry.room, version=entry.version, time=timestamp(entry.time))
    if isinstance(event, RoomOpened):
        message.created.CopyFrom(pb.RoomCreated(owner=event.owner, options=encode.room_options(event.options)))
    elif isinstance(event, SeatTaken):
        message.seat_taken.CopyFrom(room_pb2.SeatTaken(seat=event.seat, player=event.player))
    elif isinstance(event, SeatLeft):
        message.seat_left.CopyFrom(room_pb2.SeatLeft(seat=event.seat))
    elif isinstance(event, DealStarted):
        message.deal_started.CopyFrom(
            room_pb2.DealStarted(
                deal=event.number, first_bidder=event.first_bidder, commitment=event.shuffled.commitment
            )
        )
    elif isinstance(event, DealSettled):
        message.deal_settled.CopyFrom(pb.DealSettled(deal=event.number, settlement=encode.settlement(event.settlement)))
    elif isinstance(event, MatchEnded):
        settled = pb.MatchSettled(account=encode.account(event.account), expired=entry.actor == stored(HOUSE))
        message.match_settled.CopyFrom(settled)
    return message
