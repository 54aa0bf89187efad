"""The seated table: one context with a server, a room whose first deal is dealt, and a client on each seat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeVar, final

from erqiwang_core.dealing import Shuffled
from erqiwang_core.options import RoomOptions
from erqiwang_core.rules import Rules

from erqiwang_grpc import shuffling
from erqiwang_grpc.client import CallRefused, Platform, SeatClient
from erqiwang_grpc.client.advice import suggested
from erqiwang_grpc.shuffling import Shuffler
from erqiwang_grpc.testing.playing import Chooser, Condition, accepted, is_over, play_all
from erqiwang_grpc.testing.rooms import PLAYERS, Table, seated
from erqiwang_grpc.testing.served import Served, served
from erqiwang_grpc.v1 import room_pb2, seat_service_pb2 as pb

T = TypeVar("T")

PATIENCE: Final = 20.0
"""Seconds that a test waits for a turn, on a busy machine, before it fails."""


@final
@dataclass(frozen=True, slots=True)
class SeatedTable:
    """A room with all seats taken and the first deal dealt."""

    service: Served
    """The server: its address, a platform key, and stubs."""
    platform: Platform
    """The platform that opened the room."""
    table: Table
    """The room's id, and the tokens of all seats."""
    seats: dict[int, SeatClient]
    """An attached client for each seat, except the seats in `own`."""

    @property
    def address(self) -> str:
        """The address that the server serves on."""
        return self.service.address

    @property
    def room_id(self) -> str:
        """The room's id."""
        return self.table.room_id

    @property
    def tokens(self) -> tuple[str, ...]:
        """The token of each seat, seat 0 first."""
        return self.table.tokens

    @property
    def turn(self) -> int:
        """The lowest of `seats` that must act by its own view. Raises `AssertionError` if none must."""
        acting = next((number for number, seat in self.seats.items() if suggested(seat.view) is not None), None)
        assert acting is not None, "all seats wait"
        return acting

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the views of `seats` holds. Raises `TimeoutError` after 20 seconds."""
        await self._until(lambda: condition() or None)

    async def step(self, choose: Chooser = suggested) -> pb.Accepted:
        """Wait until one of `seats` must act, let it do what `choose` says, and wait until all have been told.

        Raises `TimeoutError` if no seat must act for 20 seconds, and `AssertionError` if the command is refused.
        """
        seat, command = await self._until(lambda: self._next(choose))
        answer = accepted(await seat.act(command))
        await self.until(lambda: all(other.version >= answer.last_version for other in self.seats.values()))
        return answer

    async def play(self, choose: Chooser = suggested, *, until: Condition = is_over) -> None:
        """Play all of `seats` at the same time, each until its view fulfils `until` (default: match over)."""
        await play_all(self.seats.values(), choose, until=until)

    @asynccontextmanager
    async def playing(self, choose: Chooser = suggested) -> AsyncIterator[None]:
        """Play `seats` while the context runs. An error in playing fails the test when the context is left."""
        task = asyncio.create_task(self.play(choose))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    async def _until(self, ask: Callable[[], T | None]) -> T:
        """Call `ask` whenever something changes for one of `seats`, until it gives an answer.

        Raises `TimeoutError` after 20 seconds, and `AssertionError` if a stream ends for good.
        """
        found: list[T] = []

        def is_answered() -> bool:
            answer = None if found else ask()
            if answer is not None:
                found.append(answer)
            return bool(found)

        waiting = [asyncio.create_task(seat.until(is_answered)) for seat in self.seats.values()]
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
        for each in waiting:
            if each.done() and not each.cancelled():
                each.result()
        if not found:
            ended = next(seat.ended for seat in self.seats.values() if seat.ended is not None)
            raise AssertionError(f"the stream has ended: {ended.why}")
        return found[0]

    def _next(self, choose: Chooser) -> tuple[SeatClient, pb.Command] | None:
        for seat in self.seats.values():
            command = choose(seat.view)
            if command is not None:
                return seat, command
        return None


@final
class _Noticed:
    """A shuffler that keeps its error, because the server tells its clients only that the room is quarantined."""

    def __init__(self, shuffle: Shuffler) -> None:
        self._shuffle = shuffle
        self.error: Exception | None = None

    def __call__(self, rules: Rules) -> Shuffled:
        try:
            return self._shuffle(rules)
        except Exception as error:
            self.error = error
            raise


@asynccontextmanager
async def seated_table(
    options: room_pb2.RoomOptions | RoomOptions | None = None,
    *,
    roomtype: str | None = None,
    players: Sequence[str] = PLAYERS,
    own: Collection[int] = (),
    shuffle: Shuffler = shuffling.shuffle,
    on: Served | None = None,
) -> AsyncIterator[SeatedTable]:
    """A table with its first deal dealt. Everything is stopped when the context is left.

    Give either `options` or a `roomtype`; by default three players play six deals. The seats in `own` get no client
    here: the test attaches its own with `tokens`. `shuffle` chooses the cards: `seeded(7)` deals the same cards each
    time, `holding(...)` deals cards of the test's choice, and by default nobody can predict them. `on` is a running
    server, which does not use `shuffle`; without it a server is started in this process, with its rooms in memory.

    Raises what `seated` raises, or the error of the shuffler if that was the cause.
    """
    async with AsyncExitStack() as stack:
        noticed = _Noticed(shuffle)
        service = await stack.enter_async_context(served(shuffle=noticed)) if on is None else on
        platform = await stack.enter_async_context(service.platform)
        try:
            table = await seated(platform, options, roomtype=roomtype, players=players)
        except CallRefused:
            if noticed.error is not None:
                raise noticed.error from None
            raise
        seats = {
            number: await stack.enter_async_context(service.client(token))
            for number, token in enumerate(table.tokens)
            if number not in own
        }
        yield SeatedTable(service, platform, table, seats)
