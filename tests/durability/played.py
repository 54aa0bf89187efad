"""Rooms for these tests, without a server: on a store in memory or in a file, played at random by legal commands."""

from random import Random

from erqiwang_core.match import Command, HouseCommand, Match, Over, Player, Ready, StartMatch, TakeSeat
from erqiwang_core.options import RoomOptions, Start
from erqiwang_core.players import RandomLegal
from erqiwang_core.units import Seat
from erqiwang_core.view import turn, view

from erqiwang_grpc.auth.keys import PlatformId
from erqiwang_grpc.clocks import Monotonic, SystemMonotonic
from erqiwang_grpc.events.actor import PLATFORM, SeatActor
from erqiwang_grpc.events.model import Label, RoomOpened
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.command import Accepted, Answer, HouseAsks, SeatAsks, SeatCommand
from erqiwang_grpc.rooms.fingerprint import command_key
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rooms.listener import Aside, Beginning, Told
from erqiwang_grpc.rooms.registry import Rooms
from erqiwang_grpc.rooms.room import Node, Room
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store import Store, TimeNs
from erqiwang_grpc.store.wakeup import ProcessWakeup

PLAYERS = ("alice", "bob", "carol", "dave")


async def free(events: int) -> None:
    """What a watcher of a feed pays in these tests: nothing."""


class Clock:
    """A wall clock that a test moves forward. Each reading of it moves it by a millisecond."""

    def __init__(self) -> None:
        self._now = 1_700_000_000_000_000_000

    def __call__(self) -> TimeNs:
        self.forward(1_000_000)
        return TimeNs(self._now)

    def forward(self, nanoseconds: int) -> None:
        self._now += nanoseconds


def node_on(
    store: Store, limits: Limits | None = None, clock: Clock | None = None, monotonic: Monotonic | None = None
) -> Node:
    """A node on a store. Its shuffles are the same each time."""
    roomy = limits or Limits(commands_per_second=10_000)
    steady = SystemMonotonic() if monotonic is None else monotonic
    return Node(store, ProcessWakeup(), clock or Clock(), seeded(7), roomy, monotonic=steady)


async def act(
    room: Room, seat: Seat, command: SeatCommand, command_id: str = "", expected: int | None = None
) -> Answer:
    """Carry out a command of the player on a seat, and give the answer."""
    actor = SeatActor(seat, Player(PLAYERS[seat]))
    return await room.carry_out(SeatAsks(actor, command, command_key(command_id, command), expected))


async def administer(room: Room, command: HouseCommand, command_id: str = "") -> Answer:
    """Carry out a command of the platform, and give the answer."""
    return await room.carry_out(HouseAsks(PLATFORM, command, command_key(command_id, command)))


class Ear:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.begun: list[Beginning] = []
        self.told: list[Told] = []
        self.asides: list[Aside] = []
        self.ended: Closing | None = None

    def begin(self, beginning: Beginning) -> None:
        self.begun.append(beginning)

    def tell(self, told: Told) -> None:
        self.told.append(told)

    def aside(self, aside: Aside) -> None:
        self.asides.append(aside)

    def end(self, closing: Closing) -> None:
        self.ended = self.ended or closing


async def opened(
    rooms: Rooms,
    name: str = "room",
    options: RoomOptions | None = None,
    *,
    players: tuple[str, ...] = PLAYERS,
    reference: str = "",
    labels: tuple[Label, ...] = (),
) -> Room:
    """A new room in which all seats are free. Its owner is the first of `players`."""
    opening = RoomOpened(PlatformId("local"), players[0], options or RoomOptions(), reference, labels)
    key = command_key(name, opening)
    assert key is not None
    room = await rooms.create(opening, key)
    assert isinstance(room, Room), room
    return room


async def seated(
    rooms: Rooms,
    name: str = "room",
    options: RoomOptions | None = None,
    *,
    players: tuple[str, ...] = PLAYERS,
    reference: str = "",
    labels: tuple[Label, ...] = (),
) -> Room:
    """A new room whose seats are all taken by `players`, and whose first deal is dealt."""
    room = await opened(rooms, name, options, players=players, reference=reference, labels=labels)
    for seat in room.match.chairs.seats():
        taken = await administer(room, TakeSeat(seat, Player(players[seat])), f"seat {seat}")
        assert isinstance(taken, Accepted), taken
    if room.match.options.start is Start.PLATFORM:
        assert isinstance(await administer(room, StartMatch(), "start"), Accepted)
    return room


def next_command(match: Match, luck: Random) -> tuple[Seat, Command]:
    """A random legal command, and the seat that may send it. The match must not be over."""
    acting = turn(match).seat
    if acting is not None:
        command = RandomLegal().act(view(match, acting), luck)
        assert command is not None
        return acting, command
    result = view(match, Seat(0)).settlement.result
    assert result is not None
    return next(seat for seat, ready in result.ready.items() if not ready), Ready()


async def play(room: Room, steps: int, luck: Random | None = None) -> None:
    """Play `steps` random commands, or up to the end of the match if it comes first."""
    chance = luck or Random(3)
    for number in range(steps):
        if isinstance(room.match, Over):
            return
        seat, command = next_command(room.match, chance)
        answer = await act(room, seat, command, f"{room.version} {number}")
        assert isinstance(answer, Accepted), answer
