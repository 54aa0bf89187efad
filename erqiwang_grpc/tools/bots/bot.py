"""A bot: plays one seat of a gateway by a policy, at a human pace, until its match is over or the seat is taken away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Final, final

from erqiwang_core.match import Command, Ready
from erqiwang_core.parts import History, View
from erqiwang_core.players import Policy
from erqiwang_core.playing import Signal, SignalKind, Signalled
from erqiwang_core.units import Seat

from erqiwang_grpc.client import Ended, GatewaySeat
from erqiwang_grpc.rpc.wire import decode
from erqiwang_grpc.rpc.wire.decode.cards import trick
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.tools.bots.orders import Pace
from erqiwang_grpc.tools.terminal.hosting import Signalling
from erqiwang_grpc.v1 import playing_pb2, seat_service_pb2 as pb, view_pb2

_REFUSED_SECONDS: Final = 1.0
"""The wait after a refusal, so that what is refused for good is not sent again and again."""


@final
class Bot:
    """One seat that is played."""

    def __init__(
        self,
        seat: GatewaySeat,
        policy: Policy,
        pace: Pace,
        random: Random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`random` is the source of the bot's pace and of its policy. It comes from the order, never from a server."""
        self._seat = seat
        self._policy = policy
        self._pace = pace
        self._random = random
        self._sleep = sleep
        self._signalling = Signalling(policy, random)
        self._memory = Memory()
        self._looked = 0
        """The version that the bot has looked at last."""

    async def play(self) -> Ended | None:
        """Play until the match is over, which gives None, or until the seat has ended for good."""
        seat = self._seat
        while True:
            await seat.until(lambda: seat.version > self._looked)
            if seat.ended is not None:
                return seat.ended
            self._looked = seat.version
            if seat.view.parts.progress.phase == view_pb2.PHASE_OVER:
                return None
            await self._act()

    def remember(self, message: pb.SeatMessage) -> None:
        """Keep what the seat is told and a no-review room does not show for long, as a player may."""
        self._memory.hear(message)

    async def _act(self) -> None:
        seat = self._seat
        seen = self._memory.added_to(decode.view(seat.view))
        said = self._signalling.signal(seen)
        if said is not None:
            self._signal(said)
        if seen.advice.choice is None:
            return
        # What a partner signals comes during the pause, so the bot decides after it.
        await self._sleep(self._random.uniform(self._pace.least, self._pace.most))
        # A strong player thinks for a while, and the other bots of the process go on meanwhile.
        chosen = await asyncio.to_thread(self._policy.act, seen, self._random, self._memory.signals)
        assert chosen is not None, "the seat has something to do"
        if seat.ended is None and not isinstance(await seat.act(*self._asked(chosen)), pb.Accepted | Ended):
            self._looked = 0  # the table has moved on, or the seat was too fast: look again
            await self._sleep(_REFUSED_SECONDS)

    def _asked(self, chosen: Command) -> tuple[pb.Command, int | None]:
        """The command with the version that it is for. Others say `Ready` at the same time, which is no reason to refuse."""
        return command(chosen), None if isinstance(chosen, Ready) else self._looked

    def _signal(self, said: Signal) -> None:
        self._seat.signal(command(said).signal.signal)


@final
class Memory:
    """The finished tricks of the deal that a seat was told, where its room does not show them."""

    def __init__(self) -> None:
        self._deal = 0
        self._tricks: dict[int, playing_pb2.Trick] = {}
        """What lay on the table last, by the number of the trick."""
        self._signals: list[Signalled] = []
        """The signals of the trick under way."""

    def hear(self, message: pb.SeatMessage) -> None:
        """Take in a message of the seat."""
        if message.HasField("signal_received"):
            heard = message.signal_received
            self._signals.append(Signalled(Seat(heard.seat), SignalKind(heard.signal), ()))
            return
        parts = message.snapshot.view.parts if message.HasField("snapshot") else message.notice.changed
        if parts.HasField("progress") and parts.progress.deal != self._deal:
            self._deal = parts.progress.deal
            self._tricks.clear()
        if parts.table.HasField("trick"):
            if parts.table.number not in self._tricks:
                self._signals.clear()
            self._tricks[parts.table.number] = parts.table.trick

    def signals(self) -> tuple[Signalled, ...]:
        """The signals that the seat was told in the trick under way."""
        return tuple(self._signals)

    def added_to(self, seen: View) -> View:
        """The view with what the seat remembers: the tricks that are over, as far as it was told them."""
        if seen.options.review or seen.progress.deal != self._deal:
            return seen
        seats = len(seen.chairs.players)
        finished = (told for _, told in sorted(self._tricks.items()) if len(told.plays) == seats)
        return replace(seen, history=History(0, tuple(trick(each) for each in finished)))
