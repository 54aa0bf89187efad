"""The seated table: a server, a room with its first deal dealt, and a client on each seat, in one context."""

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
"""Seconds that a turn may take to come, on a busy machine, before a test fails."""


@final
@dataclass(frozen=True, slots=True)
class SeatedTable:
    """A room in which every seat is taken and the first deal dealt."""

    service: Served
    """The server: its address, a platform key, and stubs."""
    platform: Platform
    """The platform that opened the room."""
    table: Table
    seats: dict[int, SeatClient]
    """A client, attached, on every seat that the test does not keep for a client of its own."""

    @property
    def address(self) -> str:
        """Where the server listens."""
        return self.service.address

    @property
    def room_id(self) -> str:
        """The room's id."""
        return self.table.room_id

    @property
    def tokens(self) -> tuple[str, ...]:
        """What opens the stream of each seat, seat 0 first."""
        return self.table.tokens

    @property
    def turn(self) -> int:
        """The lowest of `seats` that has something to do now, as it sees it; fails where all of them wait."""
        acting = next((number for number, seat in self.seats.items() if suggested(seat.view) is not None), None)
        assert acting is not None, "all seats wait"
        return acting

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the views of `seats` holds. `TimeoutError` after 20 seconds without."""
        await self._until(lambda: condition() or None)

    async def step(self, choose: Chooser = suggested) -> pb.Accepted:
        """Wait until one of `seats` is to act, have it do what `choose` says, and let all hear what came of it.

        `TimeoutError` after 20 seconds in which nobody is to act. Fails where the command is refused.
        """
        seat, command = await self._until(lambda: self._next(choose))
        answer = accepted(await seat.act(command))
        await self.until(lambda: all(other.version >= answer.last_version for other in self.seats.values()))
        return answer

    async def play(self, choose: Chooser = suggested, *, until: Condition = is_over) -> None:
        """Play all of `seats` at once, each until its own view is as wanted: to the end of the match if nothing is said."""
        await play_all(self.seats.values(), choose, until=until)

    @asynccontextmanager
    async def playing(self, choose: Chooser = suggested) -> AsyncIterator[None]:
        """Have `seats` played while the test does something else; what fails in it fails the test at the end."""
        task = asyncio.create_task(self.play(choose))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    async def _until(self, ask: Callable[[], T | None]) -> T:
        """Ask again whenever anything changes for one of `seats`, until there is an answer."""
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
    """A shuffle whose error is kept: the server only says that the room is set apart."""

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
    """A table with its first deal dealt, and with everything gone when the context is left.

    The room has the options given, typed or as a `roomtype`; three players play six deals if nothing is said. The seats in
    `own` get no client here: the test attaches its own, with `tokens`. `shuffle` deals: `seeded(7)` the same cards each
    time, `holding(...)` cards of the test's choice; without it nobody can foresee them. `on` is a server that is there
    already and deals as it was started; otherwise one is started in this process, with its rooms in memory.
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
