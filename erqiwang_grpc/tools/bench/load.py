"""A load process: rooms of scripted seats on real streams, told by its standard input when to go on.

It is given an `Orders` as a line of JSON. It says `seated` and `attached` and waits for a line after each; at last it says
`played` and a `Played` as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Final, Literal, Protocol, TypeAlias, final

import grpc
import uvloop
from google.protobuf import json_format

from erqiwang_grpc.client import Platform
from erqiwang_grpc.client.calls import bearer
from erqiwang_grpc.rpc.server import calm_the_collector
from erqiwang_grpc.testing import seated
from erqiwang_grpc.tools.bench.scripted_seat import Metadata, Reply, attach, reply, request
from erqiwang_grpc.v1 import room_pb2, seat_service_pb2 as pb, seat_service_pb2_grpc as rpc

_AT_ONCE: Final = 50
"""How many rooms are opened or attached at the same time."""
PlayCall: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"
Work: TypeAlias = Callable[[], Awaitable[None]]


@final
@dataclass(frozen=True, slots=True)
class Orders:
    """What one load process does."""

    subject: Literal["server", "relay"]
    address: str
    name: str
    """Unlike that of every other load process."""
    key: str
    """The platform key; empty for the relay."""
    options: str
    """The options of every room: `RoomOptions` as JSON."""
    seats: int
    """How many seats a room with them has."""
    rooms: int
    seconds: float
    """How long the rooms play, at most; 0 for streams that only stay."""
    deals: int | None
    """After how many deals a room has done; None for as many as there is time for."""
    rate: float | None
    """Turns a second of all the rooms together; None for as many as they can."""


@final
@dataclass(slots=True)
class Played:
    """What came of it."""

    turns: int = 0
    seconds: float = 0.0
    latencies: list[int] = field(default_factory=list)
    """From a command to its answer, which comes with its notice; microseconds."""
    failed: int = 0
    """Streams that ended by themselves, and commands that were refused."""


class Opener(Protocol):
    """Where rooms come from."""

    async def open(self, number: int) -> Sequence[Metadata]:
        """A fresh room with every seat taken: what the stream of each seat carries, seat 0 first."""


@final
class ServerRooms:
    """Rooms of a real server."""

    def __init__(self, address: str, key: str, options: str) -> None:
        self._platform = Platform([address], key)
        self._options = json_format.Parse(options, room_pb2.RoomOptions())

    async def open(self, number: int) -> Sequence[Metadata]:
        """Open a room and seat a player everywhere."""
        table = await seated(self._platform, self._options)
        return [bearer(token) for token in table.tokens]


@final
class RelayRooms:
    """Tables of the relay, which come into being as they are named."""

    def __init__(self, name: str, seats: int) -> None:
        self._name = name
        self._seats = seats

    async def open(self, number: int) -> Sequence[Metadata]:
        """Name a table."""
        return [(("room", f"{self._name}/{number}"), ("seat", str(seat))) for seat in range(self._seats)]


@final
class Pace:
    """When the next turn may be taken, so that no more than so many are in a second."""

    def __init__(self, rate: float | None) -> None:
        self._interval = None if rate is None else 1 / rate
        self._next = perf_counter()

    async def turn(self) -> None:
        """Wait for a turn's own moment."""
        if self._interval is None:
            return
        now = perf_counter()
        moment = max(now, self._next)
        self._next = moment + self._interval
        if moment > now:
            await asyncio.sleep(moment - now)


@final
class Table:
    """One room after another, played by scripted seats, each on a connection of its own as players' devices are."""

    def __init__(self, orders: Orders, number: int, pace: Pace, played: Played) -> None:
        # Channels with the same arguments would share one connection.
        own = [("grpc.use_local_subchannel_pool", 1)]
        self._channels = [grpc.aio.insecure_channel(orders.address, options=own) for _ in range(orders.seats)]
        self._stubs = [rpc.SeatServiceStub(channel) for channel in self._channels]
        self._opener: Opener = (
            ServerRooms(orders.address, orders.key, orders.options)
            if orders.subject == "server"
            else RelayRooms(f"{orders.name}-{number}", orders.seats)
        )
        self._deals_left = orders.deals
        self._pace = pace
        self._played = played
        self._rooms = 0
        self._seats: Sequence[Metadata] = ()
        self._calls: list[PlayCall] = []
        self._first: list[Reply] = []

    async def seat(self) -> None:
        """Open a room and take its seats."""
        self._seats = await self._opener.open(self._rooms)
        self._rooms += 1

    async def attach(self) -> None:
        """Open the stream of every seat, up to its snapshot."""
        self._calls = [stub.Play(metadata=seat) for stub, seat in zip(self._stubs, self._seats, strict=True)]
        for call in self._calls:
            await call.write(attach())
        self._first = [reply(await _read(call)) for call in self._calls]

    async def play(self) -> None:
        """Play until the deals are played; whoever has no more time cancels it."""
        while True:
            seats = zip(self._calls, self._first, strict=True)
            settled = await asyncio.gather(*(self._play(call, first) for call, first in seats))
            self._leave()
            if self._deals_left is not None:
                self._deals_left -= settled[0]
                if self._deals_left <= 0:
                    return
            await self.seat()
            await self.attach()

    async def stay(self) -> None:
        """Say nothing and hear what comes."""
        await asyncio.gather(*(self._stay(call) for call in self._calls))

    async def close(self) -> None:
        """Leave, and give up the connections."""
        self._leave()
        await asyncio.gather(*(channel.close() for channel in self._channels))

    def _leave(self) -> None:
        for call in self._calls:
            call.cancel()

    async def _play(self, call: PlayCall, heard: Reply) -> int:
        """One seat of one match, to its end or to that of the last deal asked for; how many deals it has seen settled."""
        sent, settled = 0.0, 0
        while True:
            settled += heard.settled or heard.over
            if heard.over or settled == self._deals_left:
                return settled
            if heard.command is not None:
                await self._pace.turn()
                sent = perf_counter()
                await call.write(request(self._played.turns, heard.command))
            heard = reply(await _read(call))
            if heard.answered:
                self._played.turns += 1
                self._played.latencies.append(int(1_000_000 * (perf_counter() - sent)))

    async def _stay(self, call: PlayCall) -> None:
        while True:
            await _read(call)


async def _read(call: PlayCall) -> pb.PlayResponse:
    response = await call.read()
    if not isinstance(response, pb.PlayResponse):
        raise ConnectionError("the stream has ended by itself")
    return response


@final
class Load:
    """The rooms of one load process."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self.played = Played()
        pace = Pace(orders.rate)
        self._tables = [Table(orders, number, pace, self.played) for number in range(orders.rooms)]

    async def seat(self) -> None:
        """Open every room."""
        await _at_most(_AT_ONCE, [table.seat for table in self._tables])

    async def attach(self) -> None:
        """Attach every stream."""
        await _at_most(_AT_ONCE, [table.attach for table in self._tables])

    async def play(self) -> None:
        """Play in every room, until the deals or the time are over."""
        began = perf_counter()
        rooms = [asyncio.create_task(table.play()) for table in self._tables]
        done, rest = await asyncio.wait(rooms, timeout=self._orders.seconds)
        self.played.seconds = perf_counter() - began
        await _cancelled(tuple(rest))
        self.played.failed = sum(room.exception() is not None for room in done)

    async def stay(self, told_to_end: Awaitable[bytes]) -> None:
        """Keep every stream open until then."""
        rooms = [asyncio.create_task(table.stay()) for table in self._tables]
        await told_to_end
        self.played.failed = sum(room.done() for room in rooms)
        await _cancelled(rooms)

    async def close(self) -> None:
        """Close every stream and connection."""
        await asyncio.gather(*(table.close() for table in self._tables))


async def _at_most(number: int, works: Sequence[Work]) -> None:
    """Do all of them, so many at a time."""
    free = asyncio.Semaphore(number)

    async def one(work: Work) -> None:
        async with free:
            await work()

    await asyncio.gather(*(one(work) for work in works))


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _say(line: str) -> None:
    print(line, flush=True)


async def _orders_of(stream: asyncio.StreamReader) -> Orders:
    return Orders(**json.loads(await stream.readline()))


async def _main() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    orders = await _orders_of(reader)
    load = Load(orders)
    try:
        await load.seat()
        _say("seated")
        await reader.readline()
        await load.attach()
        calm_the_collector()
        _say("attached")
        await reader.readline()
        if orders.seconds:
            await load.play()
        else:
            await load.stay(reader.readline())
        _say(f"played {json.dumps(asdict(load.played))}")
    finally:
        await load.close()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        uvloop.run(_main())
