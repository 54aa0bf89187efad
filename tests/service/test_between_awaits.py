"""Between two awaits: what a call has looked at may be another thing by the time it goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Event
from typing import Final

import grpc
import pytest
from erqiwang_core.bidding import Bid
from erqiwang_core.match import Player, Running, TakeSeat
from erqiwang_core.rules import RULES_VERSION
from erqiwang_core.units import Points, Seat

from erqiwang_grpc.client import Platform
from erqiwang_grpc.rooms.command import Accepted
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.store import NOTHING, Actor, AppendAnswer, Appended, Batch, RoomId, TimeNs, Version
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteStore, open_store
from erqiwang_grpc.v1 import bidding_pb2, seat_service_pb2 as pb
from tests.durability.played import (
    PLAYERS,
    Clock,
    act as act_in_memory,
    administer,
    node_on,
    opened,
    seated as seated_in_memory,
)
from tests.service.tables import PATIENCE, RawSeat, Service, act, eventually, seated, served
from tests.store.contract import PLAIN
from tests.store.holding import HoldingStore
from tests.store.passing_on import PassingOn

BID: Final = pb.Command(bid=bidding_pb2.Bid(points=70))
LONG_AGO: Final = float("-inf")
AT_ONCE: Final = Limits(commands_per_second=10_000, idle_minutes=0)


# A stream that is open and has not said `Attach` yet


async def taken_anew(platform: Platform, room_id: str) -> str:
    return (await platform.take_seat(room_id, "alice")).token


async def given_to_another(platform: Platform, room_id: str) -> str:
    await platform.leave_seat(room_id, 0)
    return (await platform.take_seat(room_id, "dora", 0)).token


@pytest.mark.parametrize("give", [taken_anew, given_to_another])
@pytest.mark.parametrize("is_put_away", [False, True])
async def test_a_seat_that_is_given_away_before_attach_is_not_attached_to(
    service: Service, give: Callable[[Platform, str], Awaitable[str]], is_put_away: bool
) -> None:
    platform = service.platform
    room_id = (await platform.create_room("alice")).room_id
    old = RawSeat(service, (await platform.take_seat(room_id, "alice", 0)).token)
    await eventually(lambda: service.server.seats.streams == 1)
    token = await give(platform, room_id)
    if is_put_away:
        service.room(room_id).touched = LONG_AGO
        assert service.kept.put_away() == 1
    new = RawSeat(service, token)
    await new.attach()
    await old.say(pb.PlayRequest(attach=pb.Attach()))
    assert await old.rest() == [], "it is told nothing of the room"
    assert old.refused is not None
    assert (old.refused.code, old.refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNSEATED")
    await platform.take_seat(room_id, "bob")
    assert (await new.hear("notice")).notice.seat_taken.player == "bob", "the new stream was not displaced"


async def test_a_room_that_is_put_away_before_attach_is_found_anew(service: Service) -> None:
    """Attached to the room that is no more in memory, a stream would hear of nothing."""
    table = await seated(service.platform)
    stream = RawSeat(service, table.tokens[1])
    await eventually(lambda: service.server.seats.streams == 1)
    service.room(table.room_id).touched = LONG_AGO
    assert service.kept.put_away() == 1
    await stream.attach()
    accepted = (await act(service, table, 0, BID)).accepted
    assert (await stream.hear("notice")).notice.version == accepted.first_version


# A room that is put away


async def test_a_room_with_an_append_under_way_is_not_put_away(tmp_path: Path) -> None:
    store = HoldingStore(MemoryStore())
    async with served(tmp_path, store=store) as service:
        table = await seated(service.platform)
        room = service.room(table.room_id)
        store.holds_appends = True
        acting = asyncio.create_task(act(service, table, 0, BID))
        await store.held.wait()
        room.touched = LONG_AGO
        assert service.kept.put_away() == 0
        assert service.room(table.room_id) is room
        store.go_on.set()
        assert (await acting).accepted.first_version == room.version
        room.touched = LONG_AGO
        assert service.kept.put_away() == 1, "nothing keeps it any longer"


class TellingStore(PassingOn):
    """A store that has something done right behind an append, before anything else that waits for it."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.behind: Callable[[], object] | None = None
        self.held = asyncio.Event()
        self.go_on = asyncio.Event()

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        behind, self.behind = self.behind, None
        if behind is not None:
            self.held.set()
            await self.go_on.wait()
            asyncio.get_running_loop().call_soon(behind)
        return await super().append(room, expected, batch)


async def test_a_room_for_which_a_command_waits_is_not_put_away() -> None:
    """The one before it is done and the lock is free, but the next in line has not been woken yet."""
    store = TellingStore()
    rooms = Rooms(node_on(store, AT_ONCE))
    room = await seated_in_memory(rooms)
    put_away: list[int] = []
    store.behind = lambda: put_away.append(rooms.put_away())
    commands = [asyncio.create_task(act_in_memory(room, Seat(0), Bid(Points(70)))) for _ in range(2)]
    await store.held.wait()
    store.go_on.set()
    await asyncio.gather(*commands)
    assert put_away == [0]
    assert rooms.live == (room,)


# A room whose time is up


async def test_a_room_that_is_filled_while_its_end_waits_is_not_ended() -> None:
    store, clock = HoldingStore(MemoryStore()), Clock()
    rooms = Rooms(node_on(store, clock=clock))
    room = await opened(rooms)
    for seat in (0, 1):
        assert isinstance(await administer(room, TakeSeat(seat, Player(PLAYERS[seat]))), Accepted)
    store.holds_appends = True
    last = asyncio.create_task(administer(room, TakeSeat(2, Player(PLAYERS[2]))))
    await store.held.wait()
    clock.forward(rooms.deadline(TimeNs(0)))
    expiring = asyncio.create_task(Housekeeping(rooms).expire())
    await asyncio.sleep(0)  # one turn of the loop brings it to the room's lock
    store.go_on.set()
    assert isinstance(await last, Accepted)
    await expiring
    assert isinstance(room.match, Running)
    assert room.state.standing.ended is None


async def test_a_seat_is_taken_that_another_was_faster_to_take(tmp_path: Path) -> None:
    """Who asks for any seat gets the next free one, and is told that the room is full where there is none."""
    store = HoldingStore(MemoryStore())
    async with served(tmp_path, store=store) as service:
        platform = service.platform
        room_id = (await platform.create_room("alice")).room_id
        store.holds_appends = True
        taking = [asyncio.create_task(platform.take_seat(room_id, player)) for player in PLAYERS]
        await store.held.wait()
        store.go_on.set()
        outcomes = await asyncio.gather(*taking, return_exceptions=True)
        refused = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        seats = [outcome.seat for outcome in outcomes if not isinstance(outcome, BaseException)]
        assert sorted(seats) == [0, 1, 2]
        assert [getattr(error, "reason", None) for error in refused] == ["ROOM_FULL"]


# A read of a log


def batch(number: int) -> Batch:
    return Batch(TimeNs(number), Actor("platform"), None, RULES_VERSION, (b"body",), PLAIN)


async def test_a_commit_between_head_and_tail_of_a_read_is_seen_whole_or_not_at_all(tmp_path: Path) -> None:
    """Read one after the other without being of one moment, the two would not agree: the room would seem damaged."""
    room = RoomId("room")
    store = await open_store(tmp_path / STORE_FILE)
    assert isinstance(store, SqliteStore), store
    assert isinstance(await store.append(room, NOTHING, batch(1)), Appended)
    reading, go_on = Event(), Event()

    def hold(statement: str) -> None:
        if "FROM batches" in statement and "last_version > " in statement:
            reading.set()
            assert go_on.wait(PATIENCE)

    for db in store._connections:  # where else could a test come between the two statements
        db.set_trace_callback(hold)
    read = asyncio.create_task(store.read(room))
    assert await asyncio.to_thread(reading.wait, PATIENCE)
    assert isinstance(await store.append(room, Version(1), batch(2)), Appended)
    go_on.set()
    entries = await read
    assert isinstance(entries, tuple), entries
    assert [entry.version for entry in entries] == [1]
    again = await store.read(room)
    assert isinstance(again, tuple)
    assert [entry.version for entry in again] == [1, 2]
    await store.close()
