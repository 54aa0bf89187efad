"""Seats of one room on several nodes: presence, signals and displacement between them; and what is lost heals."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

import pytest
from erqiwang_core.match import Running
from erqiwang_core.options import FourPlayer, RoomOptions
from erqiwang_core.playing import Playing, Signal, SignalKind, Signalled
from erqiwang_core.units import Seat

from erqiwang_grpc.rooms import neighbours
from erqiwang_grpc.rooms.audience import Attachment
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import Accepted, Answered
from erqiwang_grpc.rooms.housekeeping import Housekeeping
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.listener import Heartbeat, Presence
from erqiwang_grpc.rooms.neighbours import Neighbours
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import (
    NodeId,
    NodeLeft,
    RoomId,
    Roster,
    SeatHere,
    SideMessage,
    SideMessages,
    SignalGiven,
    Store,
    Version,
)
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.store.side_messages import ProcessSideMessages
from erqiwang_grpc.store.wakeup import ProcessWakeup
from tests.durability.played import Clock, Ear, act, next_command, opened, seated
from tests.service.clocks import HandMonotonic
from tests.service.tables import eventually

NORTH, EAST, SOUTH = Seat(0), Seat(1), Seat(2)


class Losing:
    """Side messages. All of them are lost while `loses`."""

    def __init__(self) -> None:
        self._below = ProcessSideMessages()
        self.ahead = 0.0
        self.loses = False
        self.said: list[SideMessage] = []

    def say(self, message: SideMessage) -> None:
        self.said.append(message)
        if not self.loses:
            self._below.say(message)

    @contextmanager
    def listen(self, hear: Callable[[SideMessage], None]) -> Iterator[None]:
        with self._below.listen(hear):
            yield


class Nodes:
    """Nodes on one store in memory."""

    def __init__(self) -> None:
        self.store = MemoryStore(shared=True)
        self.side = Losing()
        self.monotonic = HandMonotonic()
        self._wakeup = ProcessWakeup()
        self.clocks: list[Clock] = []

    def begin(self, *, side: SideMessages | None = None) -> Rooms:
        clock = Clock()
        self.clocks.append(clock)
        neighbours = Neighbours(side or self.side, NodeId(f"node {len(self.clocks)}"))
        limits = Limits(commands_per_second=10_000)
        return Rooms(
            Node(
                self.store,
                self._wakeup,
                clock,
                seeded(7),
                limits,
                monotonic=self.monotonic,
                neighbours=neighbours,
            )
        )


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


async def found(rooms: Rooms, room: RoomId) -> Room:
    there = await rooms.find(room)
    assert isinstance(there, Room)
    return there


def attach(room: Room, seat: Seat) -> tuple[Ear, Attachment]:
    ear = Ear()
    return ear, room.attach(seat, ear, None)


def shown(ear: Ear) -> tuple[bool, ...]:
    """The presence that a listener was told last."""
    told = [aside for aside in ear.asides if isinstance(aside, Presence)]
    return (told[-1] if told else ear.begun[-1].presence).present


async def test_a_seat_is_present_for_all_nodes_while_it_has_a_stream_on_one(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    north, _ = attach(here, NORTH)
    east, attachment = attach(there, EAST)
    assert east.begun[0].presence.present == (True, True, False)
    assert shown(north) == (True, True, False)
    there.detach(attachment)
    assert shown(north) == (True, False, False)


async def test_who_follows_presence_hears_of_other_nodes_and_not_of_what_they_repeat(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    heard: list[RoomId] = []
    with two.node.presences.listen(heard.append):
        _, attachment = attach(here, NORTH)
        assert heard == [here.id]
        assert two.in_memory(here.id) is None
        assert (two.presence(here.id, 3), two.attended()) == ((True, False, False), (here.id,))
        nodes.monotonic.forward(21)
        here.audience.look_after(1_000, 1_000)
        assert heard == [here.id], "a roster that says the same is no news"
        here.detach(attachment)
        assert heard == [here.id] * 2
        assert (two.presence(here.id, 3), two.attended()) == ((False,) * 3, ())
        attach(here, NORTH)
        one.close()
        assert heard == [here.id] * 4
        assert two.presence(here.id, 3) == (False,) * 3


async def test_a_room_that_is_not_in_memory_knows_who_is_present_elsewhere(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    attach(here, NORTH)
    there = await found(two, here.id)
    assert there.audience.presence().present == (True, False, False)


async def test_an_absent_client_is_absent_for_all_nodes_until_it_is_heard_again(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    north, _ = attach(here, NORTH)
    _, attachment = attach(there, EAST)
    nodes.monotonic.forward(61)
    here.audience.hear(next(iter(here.audience)))
    there.audience.look_after(20, 60)
    assert shown(north) == (True, False, False)
    there.audience.hear(attachment)
    assert shown(north) == (True, True, False)


@pytest.mark.parametrize("ahead", [0, 3_600])
async def test_a_newer_stream_on_another_node_displaces_the_older_whatever_the_clocks_say(
    nodes: Nodes, ahead: int
) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    nodes.clocks[0].forward(ahead * 1_000_000_000)
    older, _ = attach(here, NORTH)
    there = await found(two, here.id)
    newer, _ = attach(there, NORTH)
    assert (older.ended, newer.ended) == (Closing.DISPLACED, None)
    assert (len(here.audience), len(there.audience)) == (0, 1)
    again, _ = attach(here, NORTH)
    assert (newer.ended, again.ended) == (Closing.DISPLACED, None)


async def test_where_nothing_was_heard_the_clock_that_all_nodes_share_says_which_stream_is_newer(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    nodes.clocks[0].forward(3_600_000_000_000)
    nodes.side.loses = True
    nodes.side.ahead = 3_600.0
    older, _ = attach(here, NORTH)
    nodes.side.ahead = 0.0
    nodes.clocks[1].forward(1_000_000_000)
    newer, _ = attach(there, NORTH)
    nodes.side.loses = False
    nodes.monotonic.forward(21)
    for rooms in (one, two):
        await Housekeeping(rooms).tick()
    assert (older.ended, newer.ended) == (Closing.DISPLACED, None)


async def test_until_a_lost_displacement_heals_both_streams_are_told_and_heard(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    seat, command = next_command(here.match, Random(2))
    older, _ = attach(here, seat)
    nodes.clocks[1].forward(60_000_000_000)
    nodes.side.loses = True
    newer, _ = attach(there, seat)
    nodes.side.loses = False
    assert isinstance(await act(here, seat, command), Accepted)
    await eventually(lambda: [told.version for told in newer.told] == [here.version])
    assert [told.version for told in older.told] == [here.version]
    assert (older.ended, newer.ended) == (None, None)
    nodes.monotonic.forward(21)
    await Housekeeping(two).tick()
    assert (older.ended, newer.ended) == (Closing.DISPLACED, None)


async def test_a_lost_roster_is_repeated_after_twenty_seconds_and_not_before(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    north, _ = attach(here, NORTH)
    nodes.side.loses = True
    attach(there, EAST)
    nodes.side.loses = False
    keeping = Housekeeping(two)
    nodes.monotonic.forward(19)
    await keeping.tick()
    assert shown(north) == (True, False, False)
    nodes.monotonic.forward(2)
    await keeping.tick()
    assert shown(north) == (True, True, False)


async def test_a_node_that_is_silent_for_a_minute_has_nobody(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    north, attachment = attach(here, NORTH)
    attach(there, EAST)
    keeping = Housekeeping(one)
    for _ in range(2):
        nodes.monotonic.forward(30)
        here.audience.hear(attachment)
        await keeping.tick()
    assert shown(north) == (True, True, False)
    nodes.monotonic.forward(1)
    await keeping.tick()
    assert shown(north) == (True, False, False)
    assert not one.node.neighbours.has(here.id, EAST), "nothing is kept of it"


def roster(room: str, *seats: int) -> Roster:
    return Roster(NodeId("other"), RoomId(room), tuple(SeatHere(seat, 1, True) for seat in seats))


def test_what_was_not_repeated_is_forgotten_and_what_was_is_kept() -> None:
    known = Neighbours(ProcessSideMessages(), NodeId("this"))
    known.take(roster("repeated", 1), 0.0)
    known.take(roster("silent", 1), 10.0)
    known.take(roster("repeated", 1), 20.0)
    assert known.forget_silent(70.0) == ()
    assert known.forget_silent(70.1) == (RoomId("silent"),)
    assert [known.has(RoomId(room), EAST) for room in ("repeated", "silent")] == [True, False]


def test_of_too_many_rosters_the_one_that_was_heard_earliest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_MOST_ROSTERS", 2)
    known = Neighbours(ProcessSideMessages(), NodeId("this"))
    for now, room in enumerate("abac"):
        known.take(roster(room, 1), float(now))
    assert [known.has(RoomId(room), EAST) for room in "abc"] == [True, False, True]


def test_a_roster_replaces_what_its_node_has_said_before() -> None:
    known = Neighbours(ProcessSideMessages(), NodeId("this"))
    known.take(roster("a", 0, 1), 0.0)
    known.take(roster("a", 0), 1.0)
    assert [known.has(RoomId("a"), seat) for seat in (NORTH, EAST)] == [True, False]
    known.take(roster("a"), 2.0)
    assert not known.has(RoomId("a"), NORTH)
    assert known.leave(NodeId("other")) == (), "nothing is kept of it"


async def test_a_node_that_stops_says_so(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    north, _ = attach(here, NORTH)
    attach(there, EAST)
    two.close()
    assert shown(north) == (True, False, False)


async def test_a_seat_whose_node_died_is_absent_once_its_newer_stream_leaves(nodes: Nodes) -> None:
    one, two, three = nodes.begin(), nodes.begin(), nodes.begin()
    here = await seated(one)
    north, _ = attach(here, NORTH)
    nodes.side.loses = True
    silent = await found(two, here.id)
    nodes.side.loses = False
    attach(silent, EAST)
    newer = await found(three, here.id)
    nodes.side.loses = True  # the older node is dead: it neither hears of the newer stream nor tells
    two._hearing.close()  # as a process does that is killed
    nodes.side.loses = False
    _, attachment = attach(newer, EAST)
    assert shown(north) == (True, True, False)
    newer.detach(attachment)
    assert shown(north) == (True, False, False)


# Signals


async def in_play(room: Room) -> tuple[Seat, tuple[Seat, ...]]:
    """Play until a deal is in play: the declarer, and the defenders."""
    luck = Random(3)
    while not (isinstance(room.match, Running) and isinstance(room.match.deal, Playing)):
        assert isinstance(await act(room, *next_command(room.match, luck)), Accepted)
    declarer = room.match.deal.contract.declarer
    return declarer, tuple(seat for seat in room.match.chairs.seats() if seat != declarer)


def signals(ear: Ear) -> list[Signalled]:
    return [aside for aside in ear.asides if isinstance(aside, Signalled)]


async def test_a_signal_reaches_the_other_defenders_on_any_node_once_and_nobody_else(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one, options=RoomOptions(FourPlayer()))
    declarer, (sender, near, far) = await in_play(here)
    there = await found(two, here.id)
    ears = {seat: attach(there if seat in (far, declarer) else here, seat)[0] for seat in here.match.chairs.seats()}
    assert isinstance(await act(here, sender, Signal(2)), Answered)
    await eventually(lambda: bool(signals(ears[far])))
    given = Signalled(sender, SignalKind.NO_POINTS, tuple(sorted((near, far))))
    assert {seat: signals(ear) for seat, ear in ears.items()} == {near: [given], far: [given], declarer: [], sender: []}


async def test_a_signal_waits_for_the_node_that_is_behind(nodes: Nodes) -> None:
    one, two = nodes.begin(), nodes.begin()
    here = await seated(one)
    there = await found(two, here.id)
    begun = there.version
    two._hearing.close()  # its hints are lost
    _, (sender, far) = await in_play(here)
    ear, _ = attach(there, far)
    assert there.version == begun
    await there.pass_on(sender, 1, here.version)
    assert there.version == here.version
    assert signals(ear) == [Signalled(sender, SignalKind.CAN_BEAT, (far,))]


async def test_a_signal_between_seats_of_one_node_is_told_to_no_other(nodes: Nodes) -> None:
    one = nodes.begin()
    here = await seated(one)
    _, (sender, near) = await in_play(here)
    ear, _ = attach(here, near)
    nodes.side.said.clear()
    assert isinstance(await act(here, sender, Signal(1)), Answered)
    assert len(signals(ear)) == 1
    assert nodes.side.said == []


# What may stand on the channel


async def test_forged_messages_change_no_version_and_bring_no_signal_to_the_declarer(nodes: Nodes) -> None:
    one = nodes.begin()
    here = await seated(one)
    declarer, (sender, _) = await in_play(here)
    ear, _ = attach(here, declarer)
    forger, room = NodeId("forger"), here.id
    version = here.version
    for message in (
        SignalGiven(forger, room, version, declarer, 1),
        SignalGiven(forger, room, Version(2**62), sender, 1),
        SignalGiven(forger, room, version, 99, 1),
        SignalGiven(forger, room, version, sender, 99),
        SignalGiven(forger, RoomId("none"), version, sender, 1),
        Roster(forger, room, (SeatHere(99, 2**62, True),)),
        Roster(forger, RoomId("none"), (SeatHere(0, 2**62, True),)),
        NodeLeft(NodeId("nobody")),
    ):
        nodes.side.say(message)
    await asyncio.sleep(0.05)
    assert signals(ear) == []
    assert (ear.ended, here.version, here.fault) == (None, version, None)
    assert here.audience.presence().present.count(True) == 1


async def test_a_server_alone_tells_nothing_and_hears_nothing() -> None:
    store: Store = MemoryStore()
    rooms = Rooms(Node(store, ProcessWakeup(), Clock(), seeded(7), Limits(), monotonic=HandMonotonic()))
    here = await opened(rooms)
    ear, attachment = attach(here, NORTH)
    assert not rooms.node.neighbours.are_told
    await Housekeeping(rooms).tick()
    here.detach(attachment)
    assert [aside for aside in ear.asides if not isinstance(aside, Heartbeat)] == []
