"""`erqiwang demo`: starts a server, lets bold players play on real streams, and shows the match in the terminal."""

from __future__ import annotations

import asyncio
import secrets
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.notices import BuriedBy, Cause, DealEnded, Dealt, Led
from erqiwang_core.parts import View
from erqiwang_core.players import BOLD, Sensible
from erqiwang_core.playing import Signalled
from erqiwang_core.refusals import Phase
from rich.console import Console

from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.commands.arguments import BadArguments, between
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.tools.table_arguments import add_room_options, room_options
from erqiwang_grpc.tools.terminal.console import console
from erqiwang_grpc.tools.terminal.hearing import Attached, Hearing
from erqiwang_grpc.tools.terminal.hosting import Hosted, Signalling, hosted
from erqiwang_grpc.tools.terminal.telling import Teller
from erqiwang_grpc.v1 import seat_service_pb2 as pb

_PAUSE: Final = 0.3
_LONG_PAUSES: Final = {Dealt: 2.0, BuriedBy: 1.5, DealEnded: 3.0}
"""Seconds to pause after each event, so that a person can follow."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `demo`."""
    parser.add_argument("--seed", type=int, help="the same seed brings the same match (default: a fresh one, told)")
    parser.add_argument(
        "--deals", type=between(1, 12), help="stop by a disband after so many deals (default: the whole match)"
    )
    parser.add_argument("--fast", action="store_true", help="without pauses")
    add_room_options(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Show the match. Gives 2 if the arguments do not fit together."""
    try:
        options = room_options(arguments)
    except BadArguments as bad:
        print(f"erqiwang demo: {bad}", file=sys.stderr)
        return 2
    seed = secrets.randbelow(1_000_000) if arguments.seed is None else arguments.seed
    show = Show(console(), options.deals if arguments.deals is None else arguments.deals, fast=arguments.fast)

    async def shown() -> None:
        async with hosted(options, seed) as room:
            show.console.print(f"Seed {seed}: the same seed brings the same match.", highlight=False)
            await show.run(room, Random(seed))

    interrupts.run(shown())
    return 0


@final
@dataclass(frozen=True, slots=True)
class Show:
    """How the match is shown."""

    console: Console
    deals: int
    """The number of deals after which the match is disbanded, if it is not over."""
    fast: bool

    async def run(self, room: Hosted, random: Random) -> None:
        """Play the match from its first deal to its end."""
        async with AsyncExitStack() as stack:
            seats = range(len(room.table.tokens))
            clients = [await stack.enter_async_context(room.client(seat)) for seat in seats]
            table = Table(tuple(Hearing(client) for client in clients), Teller(self.console), self.fast, random)
            await table.begin()
            while table.view.progress.phase is not Phase.OVER:
                if table.view.progress.phase is Phase.SETTLED and table.view.progress.deal >= self.deals:
                    self.console.print(f"Disbanded after {self.deals} of {table.view.progress.deals} deals, as asked.")
                    await room.platform.disband_room(room.table.room_id)
                    await table.hear(table.version + 1)
                else:
                    await table.turn()


@final
class Table:
    """Plays all seats of a room and tells the match step by step, so that the same seed prints the same lines."""

    def __init__(self, seats: Sequence[Hearing], teller: Teller, fast: bool, random: Random) -> None:
        self._seats = seats
        self._policy = Sensible(BOLD)
        self._random = random
        self._signalling = [Signalling(self._policy, random) for _ in seats]
        self._teller = teller
        self._fast = fast

    @property
    def view(self) -> View:
        """The view of seat 0."""
        return self._seats[0].view

    @property
    def version(self) -> int:
        """The version up to which everything was told."""
        return self._seats[0].version

    async def begin(self) -> None:
        """Wait for the first message to each seat, and tell where the match stands."""
        for seat in self._seats:
            while not isinstance(await seat.next(), Attached):
                pass
        self._teller.begin(self._views())

    async def turn(self) -> None:
        """Send the signals, then one command of the seat that must act, and tell all its events."""
        for seat, signalling in zip(self._seats, self._signalling, strict=True):
            await self._signal(seat, signalling)
        acting, chosen = next(
            (seat, chosen) for seat in self._seats if (chosen := self._policy.act(seat.view, self._random)) is not None
        )
        answer = await acting.client.act(command(chosen))
        assert isinstance(answer, pb.Accepted), f"{chosen} was refused: {answer}"
        for version in range(answer.first_version, answer.last_version + 1):
            await self.hear(version)

    async def hear(self, version: int) -> None:
        """Wait for the event of that version on every stream, and tell it."""
        causes = [await seat.until_version(version) for seat in self._seats]
        # Tell the thrower's cause if there is one: it alone holds the cards of the failed throw.
        self._teller.tell(max(causes, key=_fullness), self._views())
        await self._pause(causes[0])

    async def _signal(self, seat: Hearing, signalling: Signalling) -> None:
        signal = signalling.signal(seat.view)
        if signal is None:
            return
        seat.client.signal(command(signal).signal.signal)
        declarer = seat.view.contract.agreed
        partners = [
            other for other in self._seats if declarer and other.view.seat not in (seat.view.seat, declarer.declarer)
        ]
        for number, partner in enumerate(partners):
            while not isinstance(heard := await partner.next(), Signalled):
                pass
            if number == 0:
                self._teller.signalled(heard.sender, heard.signal, partner.view)

    async def _pause(self, cause: Cause) -> None:
        if not self._fast:
            await asyncio.sleep(_LONG_PAUSES.get(type(cause), _PAUSE))

    def _views(self) -> tuple[View, ...]:
        return tuple(seat.view for seat in self._seats)


def _fullness(cause: Cause) -> bool:
    return isinstance(cause, Led) and cause.attempted is not None
