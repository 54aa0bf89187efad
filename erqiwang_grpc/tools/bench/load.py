"""A load process: plays rooms of scripted seats on real streams. The bench directs it through standard input.

The process reads an `Orders`, one line of JSON. It opens its rooms, prints `seated`, and waits for a line. It attaches
its streams, prints `attached`, and waits for a line. Then it plays, and prints `played` and a `Played` as JSON. If its
streams only stay open, it waits for one more line instead of playing.
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

_ROOMS_AT_ONCE: Final = 50
"""The most rooms that are opened, or attached to, at the same time."""
PlayCall: TypeAlias = "grpc.aio.StreamStreamCall[pb.PlayRequest, pb.PlayResponse]"
Kind: TypeAlias = Literal["server", "relay"]
Work: TypeAlias = Callable[[], Awaitable[None]]


@final
@dataclass(frozen=True, slots=True)
class Orders:
    """What one load process has to do."""

    kind: Kind
    """What serves the addresses."""
    addresses: list[str]
    """One for each node; the rooms are shared out to them in turn."""
    name: str
    """Differs from the name of every other load process."""
    key: str
    """The platform's key; empty for the relay."""
    options: str
    """The options of each room: `RoomOptions` as JSON."""
    seats: int
    """The number of seats in a room with these options."""
    rooms: int
    """The number of rooms to play at the same time, each at a table of its own."""
    seconds: float
    """The longest time that the rooms play, in seconds; 0 if the streams only stay open."""
    deals: int | None
    """The number of deals after which a table stops; None for no limit."""
    rate: float | None
    """The most turns a second at all tables together; None for no limit."""
    spread: bool = False
    """Whether the seats of a room are attached to different nodes; otherwise all are attached to the room's own one."""

    def address(self, room: int, seat: int) -> str:
        """The node to which a seat of a room is attached."""
        return self.addresses[(room + seat if self.spread else room) % len(self.addresses)]


@final
@dataclass(slots=True)
class Played:
    """What one load process has measured."""

    turns: int = 0
    seconds: float = 0.0
    """How long the rooms played, in seconds."""
    latencies: list[int] = field(default_factory=list)
    """The time from each command to its answer, in microseconds. The answer comes in one response with the notice."""
    failed: int = 0
    """The number of tables that failed: a stream ended early, a call failed, or a command was refused."""


class Opener(Protocol):
    """Opens rooms."""

    async def open(self, number: int) -> Sequence[Metadata]:
        """Open a new room and take every seat. Gives the metadata for the stream of each seat, seat 0 first.

        `number` differs for each room of one opener.
        """


@final
class ServerRooms:
    """Opens rooms on a real server, with one platform's key."""

    def __init__(self, address: str, key: str, options: str) -> None:
        self._platform = Platform([address], key)
        self._options = json_format.Parse(options, room_pb2.RoomOptions())

    async def open(self, number: int) -> Sequence[Metadata]:
        """Open a room and take every seat; the number is not needed. Raises `CallRefused` if the server refuses it."""
        table = await seated(self._platform, self._options)
        return [bearer(token) for token in table.tokens]


@final
class RelayRooms:
    """Makes names of rooms for the relay. It needs no call, because the relay begins a room with its first stream."""

    def __init__(self, name: str, seats: int) -> None:
        self._name = name
        self._seats = seats

    async def open(self, number: int) -> Sequence[Metadata]:
        """The metadata for each seat of a room with this number."""
        return [(("room", f"{self._name}/{number}"), ("seat", str(seat))) for seat in range(self._seats)]


@final
class Pace:
    """Lets turns begin at even distances, at most `rate` a second. Without a rate they may begin at any time."""

    def __init__(self, rate: float | None) -> None:
        self._interval = None if rate is None else 1 / rate
        self._next = perf_counter()

    async def turn(self) -> None:
        """Wait until the next turn may begin."""
        if self._interval is None:
            return
        now = perf_counter()
        moment = max(now, self._next)
        self._next = moment + self._interval
        if moment > now:
            await asyncio.sleep(moment - now)


@final
class Table:
    """Plays one room after another with scripted seats. Each seat has its own connection, as players' devices have.

    Its methods raise `CallRefused` if a room is not opened, `grpc.RpcError` or `asyncio.InvalidStateError` if a call
    fails, `ConnectionError` if a stream ends early, and `ValueError` if a command is refused.
    """

    def __init__(self, orders: Orders, number: int, pace: Pace, played: Played) -> None:
        # By default, gRPC uses one connection for all channels with the same arguments.
        own = [("grpc.use_local_subchannel_pool", 1)]
        self._channels = [
            grpc.aio.insecure_channel(orders.address(number, seat), options=own) for seat in range(orders.seats)
        ]
        self._stubs = [rpc.SeatServiceStub(channel) for channel in self._channels]
        self._opener: Opener = (
            ServerRooms(orders.address(number, 0), orders.key, orders.options)
            if orders.kind == "server"
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
        """Open a new room and take its seats."""
        self._seats = await self._opener.open(self._rooms)
        self._rooms += 1

    async def attach(self) -> None:
        """Open the stream of each seat, and wait for its snapshot."""
        self._calls = [stub.Play(metadata=seat) for stub, seat in zip(self._stubs, self._seats, strict=True)]
        for call in self._calls:
            await call.write(attach())
        self._first = [reply(await _read(call)) for call in self._calls]

    async def play(self) -> None:
        """Play the ordered deals, in a new room after each match. Plays until cancelled if no number is ordered."""
        while True:
            seats = zip(self._calls, self._first, strict=True)
            settled = await asyncio.gather(*(self._play(call, first) for call, first in seats))
            self._close_streams()
            if self._deals_left is not None:
                self._deals_left -= settled[0]
                if self._deals_left <= 0:
                    return
            await self.seat()
            await self.attach()

    async def stay(self) -> None:
        """Send nothing, and read what comes until cancelled."""
        await asyncio.gather(*(self._stay(call) for call in self._calls))

    async def close(self) -> None:
        """Close the streams and the connections."""
        self._close_streams()
        await asyncio.gather(*(channel.close() for channel in self._channels))

    def _close_streams(self) -> None:
        for call in self._calls:
            call.cancel()

    async def _play(self, call: PlayCall, heard: Reply) -> int:
        """Play one seat until its match is over or the ordered deals are settled; gives the number of settled deals."""
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
        raise ConnectionError("the server ended the stream")
    return response


@final
class Load:
    """All tables of one load process, and what they measure."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self.played = Played()
        pace = Pace(orders.rate)
        self._tables = [Table(orders, number, pace, self.played) for number in range(orders.rooms)]

    async def seat(self) -> None:
        """Open a room at each table. Raises what `Table` raises."""
        await _run_all([table.seat for table in self._tables], _ROOMS_AT_ONCE)

    async def attach(self) -> None:
        """Attach every stream. Raises what `Table` raises."""
        await _run_all([table.attach for table in self._tables], _ROOMS_AT_ONCE)

    async def play(self) -> None:
        """Play at every table until the ordered deals are played or the time is over. Counts the tables that fail."""
        began = perf_counter()
        rooms = [asyncio.create_task(table.play()) for table in self._tables]
        done, rest = await asyncio.wait(rooms, timeout=self._orders.seconds)
        self.played.seconds = perf_counter() - began
        await _cancel_all(tuple(rest))
        self.played.failed = sum(room.exception() is not None for room in done)

    async def stay(self, end: Awaitable[bytes]) -> None:
        """Keep every stream open until `end` is there. Counts the tables that fail."""
        rooms = [asyncio.create_task(table.stay()) for table in self._tables]
        await end
        self.played.failed = sum(room.done() for room in rooms)
        await _cancel_all(rooms)

    async def close(self) -> None:
        """Close every stream and connection."""
        await asyncio.gather(*(table.close() for table in self._tables))


async def _run_all(works: Sequence[Work], at_once: int) -> None:
    """Run all the works, at most `at_once` at the same time."""
    free = asyncio.Semaphore(at_once)

    async def run(work: Work) -> None:
        async with free:
            await work()

    await asyncio.gather(*(run(work) for work in works))


async def _cancel_all(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


async def _main() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    orders = Orders(**json.loads(await reader.readline()))
    load = Load(orders)
    try:
        await load.seat()
        print("seated", flush=True)
        await reader.readline()
        await load.attach()
        calm_the_collector()
        print("attached", flush=True)
        await reader.readline()
        if orders.seconds:
            await load.play()
        else:
            await load.stay(reader.readline())
        print(f"played {json.dumps(asdict(load.played))}", flush=True)
    finally:
        await load.close()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        uvloop.run(_main())
