"""The crew: all bots of a process, on one gateway stream, as the orders say that are in force."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection
from random import Random
from typing import Final, final

from erqiwang_core.players import Budgets

from erqiwang_grpc.client import CallRefused, Ended, Gateway, GatewaySeat, Platform, Seated
from erqiwang_grpc.client.timing import BackOff, Timing
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.tools.bots.bot import Bot
from erqiwang_grpc.tools.bots.orders import InRoom, Order
from erqiwang_grpc.tools.levels import LEVELS
from erqiwang_grpc.v1 import room_pb2

_LEAVE_SECONDS: Final = 5.0


@final
class Crew:
    """The bots. Each is a task of its own: what ends one stops no other."""

    def __init__(
        self, gateway: Gateway, platform: Platform | None, budgets: Budgets, say: Callable[[str], None]
    ) -> None:
        """`platform` seats the players of rooms; without one there are only tokens. `say` prints what happens.

        `budgets` are those of strong players.
        """
        self._budgets = budgets
        self._gateway = gateway
        self._platform = platform
        self._say = say
        self._at_work: dict[Order, asyncio.Task[None]] = {}
        self._over: set[tuple[object, ...]] = set()
        """The orders whose match is over: they are not begun again, however often the file is read."""
        self._bots: dict[int, Bot] = {}
        """The bots by the numbers of their seats."""

    @property
    def is_idle(self) -> bool:
        """Whether no seat is played any more."""
        return all(task.done() for task in self._at_work.values())

    async def ended(self) -> None:
        """Wait until some bot has ended, if any is at work."""
        working = [task for task in self._at_work.values() if not task.done()]
        if working:
            await asyncio.wait(working, return_when=asyncio.FIRST_COMPLETED)

    async def listen(self) -> None:
        """Let each bot remember what its seat is told, until the stream ends."""
        async for number, message in self._gateway.messages():
            if number in self._bots:
                self._bots[number].remember(message)

    async def follow(self, orders: Collection[Order]) -> None:
        """Do what these orders say: leave the seats that they no longer name, and play those that are new."""
        kept = {_lineless(order): order for order in orders}
        for order in [each for each in self._at_work if _lineless(each) not in kept]:
            await self._end(self._at_work.pop(order))
            await self._free(order)
        present = {_lineless(order) for order, task in self._at_work.items() if not task.done()}
        for key, order in kept.items():
            if key not in present and key not in self._over:
                self._at_work = {each: task for each, task in self._at_work.items() if _lineless(each) != key}
                self._at_work[order] = asyncio.create_task(self._alone(order))

    async def leave(self) -> None:
        """Leave all seats. They stay taken, so that another run of the process comes back to them."""
        for task in self._at_work.values():
            task.cancel()
        if self._at_work:
            await asyncio.wait(self._at_work.values())

    async def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        await asyncio.wait([task])

    async def _free(self, order: Order) -> None:
        """Free a seat that the crew itself took, if the first deal has not begun: later nobody can."""
        if self._platform is None or not isinstance(order.where, InRoom):
            return
        with contextlib.suppress(CallRefused):
            room = await self._platform.room(order.where.room)
            for number, seat in enumerate(room.seats):
                if room.state == room_pb2.ROOM_STATE_OPEN and seat.player == order.where.player:
                    await self._platform.leave_seat(order.where.room, number)
                    self._say(f"{order.name}: the seat is free again")

    async def _alone(self, order: Order) -> None:
        """Play a seat to its end. An error ends this bot, is named, and stops no other."""
        try:
            await self._play(order)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other seats go on
            self._say(f"{order.name}: given up because of an error ({type(error).__name__})")

    async def _play(self, order: Order) -> None:
        while True:
            seated = await self._seated(order)
            if seated is None:
                return
            token, last_version = seated
            ended = await self._sit(order, token, last_version)
            if ended is None:
                self._over.add(_lineless(order))
                self._say(f"{order.name}: the match is over")
                return
            if not (isinstance(order.where, InRoom) and ended.reason == Reason.CREDENTIAL_EXPIRED.name):
                self._say(f"{order.name}: let go of the seat: {ended.why}")
                return

    async def _sit(self, order: Order, token: str, last_version: int | None) -> Ended | None:
        """Play the seat of a token. However that ends, the seat is left."""
        seat = self._gateway.open(token, last_version)
        bot = Bot(seat, LEVELS[order.level][order.style](self._budgets), order.pace, Random(order.seed))
        self._bots[seat.number] = bot
        try:
            await seat.until(lambda: seat.version > 0)
            if seat.ended is None:
                self._say(f"{order.name}: plays seat {seat.view.seat}")
            return await bot.play()
        finally:
            del self._bots[seat.number]
            await _close(seat)

    async def _seated(self, order: Order) -> tuple[str, int | None] | None:
        """The token of the order's seat, and the version that came with it; None if there is none to be had."""
        if not isinstance(order.where, InRoom):
            return order.where.token, order.where.last_version
        back_off = BackOff(Timing())
        while True:
            given = await self._take(order, order.where)
            if isinstance(given, Seated):
                return given.token, given.last_version
            if not _passes(given):
                self._say(f"{order.name}: no seat: {given}")
                return None
            await asyncio.sleep(back_off.wait(given.retry_delay))

    async def _take(self, order: Order, where: InRoom) -> Seated | CallRefused:
        if self._platform is None:
            raise AssertionError(f"{order.name} needs a platform's key")
        try:
            return await self._platform.take_seat(where.room, where.player)
        except CallRefused as refused:
            return refused


def _lineless(order: Order) -> tuple[object, ...]:
    """What makes an order the same, wherever it stands in the file."""
    return order.where, order.level, order.style, order.pace


def _passes(refused: CallRefused) -> bool:
    """Whether what a call was refused for goes by itself: the server is away, or has too much to do."""
    return not refused.reason or refused.retry_delay is not None


async def _close(seat: GatewaySeat) -> None:
    """Leave a seat. A server that is away has let go of it already."""
    if seat.ended is None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await seat.close()
