"""Watching: the public events of a platform's rooms, from a cursor on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from time import monotonic
from typing import Final

from erqiwang_core.match import DealStarted, MatchEnded, SeatLeft, SeatTaken
from erqiwang_core.settlement import DealSettled

from erqiwang_grpc import events as stored
from erqiwang_grpc.events import Unreadable
from erqiwang_grpc.events.index import PublicEvent, is_public, public
from erqiwang_grpc.events.model import HOUSE, RoomOpened
from erqiwang_grpc.rooms.refusals import LogUnavailable
from erqiwang_grpc.rpc.cursors import cursor
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode.parts import timestamp
from erqiwang_grpc.store import Damaged, Entry, Mark, Position, StoreReader, Unavailable, Version, Wakeup
from erqiwang_grpc.v1 import room_pb2, room_service_pb2 as pb

_PAGE: Final = 100
_POLL_SECONDS: Final = 5.0
"""A wakeup may be lost: whoever waits also looks this often."""
_BREATH_SECONDS: Final = 0.05
"""How long a watcher waits behind a ring before it looks: every turn of every room rings, and few of them are told."""
_QUIET_SECONDS: Final = 20.0
"""How long a stream may be silent before an empty message says that the server is there."""


async def feed(
    events: StoreReader,
    wakeup: Wakeup,
    platform: str,
    place: tuple[Position, int],
    is_leaving: Callable[[], bool],
) -> AsyncGenerator[pb.WatchRoomsResponse | LogUnavailable, None]:
    """What has happened since a cursor's place, then what happens, until the server leaves; an empty message when it is quiet."""
    position, told = place
    # A cursor inside a batch begins with that batch again, without the events already told.
    after = Position(position - 1) if told else position
    spoke = monotonic()
    with wakeup.subscribe(None) as bell:
        while not is_leaving():
            marks = await events.feed(after, _PAGE, public(platform))
            if isinstance(marks, Unavailable):
                yield LogUnavailable()
                return
            for mark in marks:
                skip = told if mark.position == position else 0
                found = (await _events_of(events, mark))[skip:]
                if found:
                    yield pb.WatchRoomsResponse(events=found)
                    spoke = monotonic()
                after = mark.position
            if marks:
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(bell.wait(), _POLL_SECONDS)
                await asyncio.sleep(_BREATH_SECONDS)
            if monotonic() - spoke >= _QUIET_SECONDS:
                yield pb.WatchRoomsResponse()
                spoke = monotonic()


async def _events_of(events: StoreReader, mark: Mark) -> list[pb.RoomEvent]:
    """The public events of one batch; none where the room cannot be believed, which reading the room tells."""
    entries = await events.read(mark.room, Version(mark.first - 1))
    if isinstance(entries, Damaged):
        return []
    found: list[pb.RoomEvent] = []
    for entry in entries[: mark.version - mark.first + 1]:
        event = stored.read(entry.body, entry.rules_version)
        if isinstance(event, Unreadable):
            # Set apart, the room may still be ended, and no end goes untold.
            continue
        if is_public(event):
            found.append(_public(entry, event, cursor(mark.position, len(found) + 1)))
    return found


def _public(entry: Entry, event: PublicEvent, place: str) -> pb.RoomEvent:
    message = pb.RoomEvent(cursor=place, room_id=entry.room, version=entry.version, time=timestamp(entry.time))
    match event:
        case RoomOpened(owner=owner, options=options):
            message.created.CopyFrom(pb.RoomCreated(owner=owner, options=encode.room_options(options)))
        case SeatTaken(seat, player):
            message.seat_taken.CopyFrom(room_pb2.SeatTaken(seat=seat, player=player))
        case SeatLeft(seat):
            message.seat_left.CopyFrom(room_pb2.SeatLeft(seat=seat))
        case DealStarted(number, first_bidder, shuffled=shuffled):
            message.deal_started.CopyFrom(
                room_pb2.DealStarted(deal=number, first_bidder=first_bidder, commitment=shuffled.commitment)
            )
        case DealSettled(number, settlement):
            message.deal_settled.CopyFrom(pb.DealSettled(deal=number, settlement=encode.settlement(settlement)))
        case MatchEnded(account):
            settled = pb.MatchSettled(account=encode.account(account), expired=entry.actor == HOUSE)
            message.match_settled.CopyFrom(settled)
    return message
