"""A load process: plays rooms of scripted seats on real streams. The bench directs it through standard input.

The process reads an `Orders`, one line of JSON. It opens its rooms, prints `seated`, and waits for a line. It attaches
its seats, prints `attached`, and waits for a line. If a lead-in is ordered, it plays that, prints `led in`, and waits for
a line. Then it plays, and prints `played` and a `Played` as JSON. If its seats only stay attached, it waits for one more
line instead of playing. It keeps everything open until one more line or the end of its input, so that what is measured is
not busy with parting before its CPU time is read.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Final, Protocol, TypeAlias, final

import uvloop

from erqiwang_grpc.collector import calm_the_collector
from erqiwang_grpc.tools.bench.gateway_table import GatewayStream, GatewayTable
from erqiwang_grpc.tools.bench.orders import Orders, Played
from erqiwang_grpc.tools.bench.stream_table import StreamTable
from erqiwang_grpc.tools.bench.turns import Course, Turns

_ROOMS_AT_ONCE: Final = 50
"""The most rooms that are opened, or attached to, at the same time."""
Work: TypeAlias = Callable[[], Awaitable[None]]


class Table(Protocol):
    """Plays one room after another. `StreamTable` says what its methods do."""

    turns: Turns

    async def seat(self) -> None: ...
    async def attach(self) -> None: ...
    async def play(self) -> None: ...
    async def stay(self) -> None: ...
    async def close(self) -> None: ...


@final
class Load:
    """All tables of one load process, and what they measure."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._course = Course(orders.rate)
        self._stream = GatewayStream(orders.addresses[0], orders.gateway_key) if orders.way == "gateway" else None
        self._tables = [self._table(number) for number in range(orders.rooms)]
        self._playing: list[asyncio.Task[None]] = []

    def _table(self, number: int) -> Table:
        turns = Turns(self._course, self._orders.lead_in * number // self._orders.rooms)
        if self._stream is None:
            return StreamTable(self._orders, number, turns)
        return GatewayTable(self._orders, number, turns, self._stream)

    @property
    def played(self) -> Played:
        """What was measured."""
        return self._course.played

    async def seat(self) -> None:
        """Open a room at each table. Raises what a table raises."""
        await _run_all([table.seat for table in self._tables], _ROOMS_AT_ONCE)

    async def attach(self) -> None:
        """Attach every seat. Raises what a table raises."""
        await _run_all([table.attach for table in self._tables], _ROOMS_AT_ONCE)

    async def lead_in(self) -> None:
        """Begin to play at every table, and wait until each has played its lead-in or has failed."""
        self._begin()
        await asyncio.gather(*map(_led_in, self._tables, self._playing))

    async def play(self) -> None:
        """Measure until the ordered deals are played or the time is over. Counts the tables that fail."""
        if not self._playing:
            self._begin()
        self._course.open()
        await asyncio.wait(self._playing, timeout=self._orders.seconds)
        await self._course.close()
        self.played.failed = sum(room.done() and room.exception() is not None for room in self._playing)

    async def stay(self, end: Awaitable[bytes]) -> None:
        """Keep every seat attached until `end` is there. Counts the tables that fail."""
        self._playing = [asyncio.create_task(table.stay()) for table in self._tables]
        await end
        self.played.failed = sum(room.done() for room in self._playing)

    async def close(self) -> None:
        """Stop at every table, and close every stream and connection."""
        for room in self._playing:
            room.cancel()
        if self._playing:
            await asyncio.wait(self._playing)
        await asyncio.gather(*(table.close() for table in self._tables))
        if self._stream is not None:
            await self._stream.close()

    def _begin(self) -> None:
        self._playing = [asyncio.create_task(table.play()) for table in self._tables]


async def _led_in(table: Table, playing: asyncio.Task[None]) -> None:
    led_in = asyncio.create_task(table.turns.led_in.wait())
    await asyncio.wait([led_in, playing], return_when=asyncio.FIRST_COMPLETED)
    led_in.cancel()


async def _run_all(works: Sequence[Work], at_once: int) -> None:
    """Run all the works, at most `at_once` at the same time."""
    free = asyncio.Semaphore(at_once)

    async def run(work: Work) -> None:
        async with free:
            await work()

    await asyncio.gather(*(run(work) for work in works))


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
        if orders.lead_in:
            await load.lead_in()
            print("led in", flush=True)
            await reader.readline()
        if orders.seconds:
            await load.play()
        else:
            await load.stay(reader.readline())
        print(f"played {json.dumps(asdict(load.played))}", flush=True)
        await reader.readline()
    finally:
        await load.close()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        uvloop.run(_main())
