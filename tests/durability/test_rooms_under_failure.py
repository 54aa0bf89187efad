"""A room whose log fails, whose caller is cancelled, or whose log another node writes: it ends up at what is logged."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest
from erqiwang_core import match as matches
from erqiwang_core.bidding import Bid
from erqiwang_core.match import Command, Disband, HouseCommand, LeaveSeat, Over, Player, TakeSeat
from erqiwang_core.playing import ShowTrumps, Signal
from erqiwang_core.refusals import Phase, SeatFree, SeatOccupied
from erqiwang_core.units import Points, Seat

from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import Accepted, SeatCommand
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import MINUTE
from erqiwang_grpc.rooms.refusals import OutcomeUnknown, RoomQuarantined, StaleVersion, StoreUnavailable
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Room
from erqiwang_grpc.rooms.state import State, replay
from erqiwang_grpc.store import (
    NOTHING,
    AppendAnswer,
    Batch,
    Damaged,
    Entry,
    RoomId,
    Store,
    TimeNs,
    Unavailable,
    Unsure,
    Version,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.port import Actor
from tests.durability.played import PLAYERS, Clock, Ear, act, administer, next_command, node_on, opened, play, seated
from tests.service.clocks import HandMonotonic
from tests.store.contract import PLAIN, head
from tests.store.passing_on import PassingOn


class FailingStore(PassingOn):
    """A store that, when told to, says of an append that it does not know whether it was carried out."""

    def __init__(self, below: Store) -> None:
        super().__init__(below)
        self.fails_before = False
        """Whether nothing is written."""
        self.fails_after = False
        """Whether the batch is written all the same."""

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        if self.fails_before:
            return Unavailable("the disk is full")
        answer = await super().append(room, expected, batch)
        return Unsure("the flush failed") if self.fails_after else answer


class SlowStore(FailingStore):
    """A store whose appends wait until the test lets them go on."""

    def __init__(self, below: Store) -> None:
        super().__init__(below)
        self.waits = False
        self.waiting = asyncio.Event()
        self.go_on = asyncio.Event()

    async def append(self, room: RoomId, expected: Version, batch: Batch) -> AppendAnswer:
        if not self.waits:
            return await super().append(room, expected, batch)
        written = asyncio.create_task(super().append(room, expected, batch))
        self.waiting.set()
        await self.go_on.wait()
        return await written


async def stored(store: Store, room: Room) -> State:
    entries = await store.read(room.id)
    assert isinstance(entries, tuple)
    state = replay(entries)
    assert isinstance(state, State)
    return state


async def is_as_stored(store: Store, room: Room) -> None:
    """The law of this file: what is in memory is what is in the log, to the last field."""
    assert room.state == await stored(store, room)


def asked_for(room: Room) -> tuple[Seat, Command, str]:
    """The next command of the match, with an id."""
    seat, command = next_command(room.match, Random(5))
    return seat, command, f"once {room.version}"


@pytest.mark.parametrize("fails", ["fails_before", "fails_after"])
async def test_a_command_whose_fate_is_unknown_is_told_from_the_log_when_it_is_sent_again(fails: str) -> None:
    store = FailingStore(MemoryStore())
    room = await seated(Rooms(node_on(store)))
    await play(room, 20)
    asked = asked_for(room)
    setattr(store, fails, True)
    version = room.version
    refused = StoreUnavailable() if fails == "fails_before" else OutcomeUnknown()
    assert await act(room, *asked) == refused
    assert room.version == version
    setattr(store, fails, False)
    again = await act(room, *asked)
    assert isinstance(again, Accepted)
    assert again.first == version + 1
    assert again.repeated == (fails == "fails_after")
    await is_as_stored(store, room)
    await play(room, 10_000)
    assert isinstance(room.match, Over)
    await is_as_stored(store, room)


async def test_a_command_of_another_seat_too_is_decided_on_what_was_stored_after_all() -> None:
    store = FailingStore(MemoryStore())
    room = await seated(Rooms(node_on(store)))
    asked = asked_for(room)
    store.fails_after = True
    assert await act(room, *asked) == OutcomeUnknown()
    store.fails_after = False
    ear = Ear()
    room.attach(Seat(2), ear, None)
    version = room.version
    other, command = next_command((await stored(store, room)).match, Random(5))
    assert isinstance(await act(room, other, command), Accepted)
    assert [told.version for told in ear.told] == [version + 1, version + 2], "of both it is told as of any event"
    await is_as_stored(store, room)


async def test_a_cancelled_caller_leaves_no_command_half_taken_in() -> None:
    store = SlowStore(MemoryStore())
    room = await seated(Rooms(node_on(store)))
    asked = asked_for(room)
    store.waits = True
    caller = asyncio.create_task(act(room, *asked))
    await store.waiting.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    store.waits = False
    again = await act(room, *asked)
    assert isinstance(again, Accepted)
    assert again.repeated
    await is_as_stored(store, room)
    await play(room, 30)
    await is_as_stored(store, room)


@pytest.mark.parametrize("next_player", [PLAYERS[3], None])
async def test_a_command_that_waited_while_its_seat_was_given_away_is_nobodys(next_player: str | None) -> None:
    """Its token was good when it was looked at; by the time the room listens, another sits there, with other cards."""
    store = SlowStore(MemoryStore())
    room = await opened(Rooms(node_on(store)))
    for seat in (0, 1):
        assert isinstance(await administer(room, TakeSeat(seat, Player(PLAYERS[seat]))), Accepted)
    store.waits = True
    house: list[HouseCommand] = [LeaveSeat(0)]
    if next_player is not None:
        house += [TakeSeat(0, Player(next_player)), TakeSeat(2, Player(PLAYERS[2]))]
    administered = [asyncio.create_task(administer(room, command)) for command in house]
    await store.waiting.wait()
    commands: list[SeatCommand] = [Bid(Points(70)), Signal(1), ShowTrumps()]
    late = [asyncio.create_task(act(room, Seat(0), command)) for command in commands]
    store.go_on.set()
    assert all(isinstance(answer, Accepted) for answer in await asyncio.gather(*administered))
    lost = SeatFree(Seat(0)) if next_player is None else SeatOccupied(Seat(0))
    assert await asyncio.gather(*late) == [lost] * 3
    await is_as_stored(store, room)


async def test_two_nodes_that_serve_one_room_agree() -> None:
    store = MemoryStore(shared=True)
    room = await seated(Rooms(node_on(store)))
    elsewhere = await Rooms(node_on(store)).find(room.id)
    assert isinstance(elsewhere, Room)
    here, there = room, elsewhere
    luck = Random(11)
    while not isinstance(here.match, Over):
        # The one that knows decides; the other finds out when it wants to log something itself.
        seat, command = next_command(here.match, luck)
        key = f"{here.version}"
        first = await act(here, seat, command, key)
        second = await act(there, seat, command, key)
        assert isinstance(first, Accepted)
        assert isinstance(second, Accepted)
        assert (first.first, first.last) == (second.first, second.last)
        assert second.repeated
        here, there = there, here
    for node in (here, there):
        await is_as_stored(store, node)


async def test_who_expects_a_version_is_not_decided_on_a_later_one_that_came_in_between() -> None:
    store = MemoryStore(shared=True)
    room = await seated(Rooms(node_on(store)))
    elsewhere = await Rooms(node_on(store)).find(room.id)
    assert isinstance(elsewhere, Room)
    retaken = await administer(elsewhere, TakeSeat(2, Player(PLAYERS[2])))
    assert isinstance(retaken, Accepted)
    seat, command = next_command(room.match, Random(5))
    answer = await act(room, seat, command, expected=room.version)
    assert answer == StaleVersion(Version(retaken.last))
    await is_as_stored(store, room)


async def test_a_seat_that_was_taken_anew_elsewhere_loses_its_stream() -> None:
    store = MemoryStore(shared=True)
    room = await seated(Rooms(node_on(store)))
    elsewhere = await Rooms(node_on(store)).find(room.id)
    assert isinstance(elsewhere, Room)
    ear = Ear()
    room.attach(Seat(2), ear, None)
    assert isinstance(await administer(elsewhere, TakeSeat(2, Player(PLAYERS[2]))), Accepted)
    seat, command = next_command(room.match, Random(5))
    assert isinstance(await act(room, seat, command), Accepted)
    assert ear.ended is Closing.UNSEATED
    assert not room.audience


UNFOLLOWABLE = [
    pytest.param(lambda: b"\xff\xff", 1, id="bytes that are no event"),
    pytest.param(lambda: b"", 1, id="an event of a kind that is not known"),
    pytest.param(lambda: b"\x12\x02\x08\x63", 1, id="an event that names a seat that no table has"),
]


async def spoilt(store: MemoryStore, room: Room, body: bytes, rules_version: int) -> None:
    """Log what this program cannot follow, as one with an error might write it."""
    batch = Batch(room.state.standing.time, Actor("seat 0 alice"), None, rules_version, (body,), PLAIN)
    await store.append(room.id, room.version, batch)


@pytest.mark.parametrize(("body", "rules_version"), UNFOLLOWABLE)
async def test_nothing_is_decided_after_what_another_node_wrote_and_this_one_cannot_follow(
    body: Callable[[], bytes], rules_version: int
) -> None:
    store = MemoryStore(shared=True)
    room = await seated(Rooms(node_on(store)))
    await spoilt(store, room, body(), rules_version)
    at = await head(store, room.id)
    assert not isinstance(at, Damaged)
    asked = asked_for(room)
    assert await act(room, *asked) == RoomQuarantined(at)
    assert await administer(room, LeaveSeat(1)) == RoomQuarantined(at)
    assert await head(store, room.id) == at


@pytest.mark.parametrize(("body", "rules_version"), UNFOLLOWABLE)
async def test_a_quarantined_room_is_readable_and_can_be_disbanded_and_stays_so(
    body: Callable[[], bytes], rules_version: int
) -> None:
    store = MemoryStore()
    written = await seated(Rooms(node_on(store)))
    await play(written, 12)
    await spoilt(store, written, body(), rules_version)
    rooms = Rooms(node_on(store))
    room = await rooms.find(written.id)
    assert isinstance(room, Room)
    assert room.fault is not None
    beginning = room.audience.beginning(Seat(0), None)
    assert beginning.version == written.version + 1
    assert beginning.view.hand == written.audience.beginning(Seat(0), None).view.hand
    asked = asked_for(written)
    assert isinstance(await act(room, *asked), RoomQuarantined)
    assert isinstance(await administer(room, Disband(), "end"), Accepted)
    assert isinstance(room.match, Over)
    later = await Rooms(node_on(store)).find(written.id)
    assert isinstance(later, Room)
    assert later.match == room.match
    assert later.version == room.version
    # Sent again after the restart, the end is still known.
    again = await administer(later, Disband(), "end")
    assert isinstance(again, Accepted)
    assert again.repeated


async def test_a_room_created_and_looked_for_at_once_is_one_room() -> None:
    store = SlowStore(MemoryStore())
    rooms = Rooms(node_on(store))
    store.waits = True
    creating = asyncio.create_task(opened(rooms))
    await store.waiting.wait()
    names = await store.rooms(RoomId(""), 10)
    assert isinstance(names, tuple)
    (name,) = names
    found = await rooms.find(name)
    store.go_on.set()
    assert await creating is found
    assert rooms.live == (found,)


async def test_an_unfilled_room_is_ended_as_soon_as_the_log_takes_its_end() -> None:
    store, clock = FailingStore(MemoryStore()), Clock()
    node = node_on(store, clock=clock)
    rooms = Rooms(node)
    housekeeping = Housekeeping(rooms)
    room = await opened(rooms)
    clock.forward(rooms.deadline(TimeNs(0)))
    store.fails_before = True
    await housekeeping.expire()
    assert matches.phase(room.match) is Phase.OPEN
    store.fails_before = False
    clock.forward(MINUTE)
    await housekeeping.expire()
    assert matches.phase(room.match) is Phase.OVER
    await is_as_stored(store, room)


class Unreadable(PassingOn):
    """A store that, while told so, cannot read a room."""

    def __init__(self, below: Store) -> None:
        super().__init__(below)
        self.fails = False

    async def read(self, room: RoomId, after: Version = NOTHING) -> tuple[Entry, ...] | Damaged | Unavailable:
        return Damaged(room, Version(1), "its disk is away") if self.fails else await super().read(room, after)


async def test_an_unfilled_room_that_cannot_be_read_is_ended_once_it_can() -> None:
    store, clock, steady = Unreadable(MemoryStore()), Clock(), HandMonotonic()
    unfilled = await opened(Rooms(node_on(store, clock=clock)))
    rooms = Rooms(node_on(store, clock=clock, monotonic=steady))
    housekeeping = Housekeeping(rooms)
    await housekeeping.watch_stored()
    clock.forward(rooms.deadline(TimeNs(0)))
    store.fails = True
    await housekeeping.expire()
    store.fails = False
    await housekeeping.expire()
    assert rooms.in_memory(unfilled.id) is None, "not at once"
    clock.forward(10 * MINUTE)
    steady.forward(600)
    await housekeeping.expire()
    found = await rooms.find(unfilled.id)
    assert isinstance(found, Room)
    assert matches.phase(found.match) is Phase.OVER
