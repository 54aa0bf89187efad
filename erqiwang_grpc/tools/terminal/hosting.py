"""Hosting: starts a server in this process, with one room whose seats are all taken, and plays seats by a policy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import View
from erqiwang_core.players import Policy
from erqiwang_core.playing import Signal, Signalled, TrumpsShown

from erqiwang_grpc.client import Platform, SeatClient
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.testing import Service, Table, seated, served
from erqiwang_grpc.tools.terminal.hearing import Attached, Heard, Hearing, Noticed, Present, RefusedTo

PLAYERS: Final = ("Anna", "Bao", "Chen", "Dora")
"""Names for up to four seats, seat 0 first."""


@final
@dataclass(frozen=True, slots=True)
class Hosted:
    """A server, a client for its platform, and a room whose first deal is dealt."""

    service: Service
    platform: Platform
    table: Table

    def client(self, seat: int) -> SeatClient:
        """A client for a seat, not attached yet."""
        return self.service.client(self.table.tokens[seat], self.table.seats[seat].last_version)


@asynccontextmanager
async def hosted(options: RoomOptions, seed: int, players: tuple[str, ...] = PLAYERS) -> AsyncIterator[Hosted]:
    """A server with a full room, until the context is left. The seed decides every deck, so it reveals all cards.

    `players` must have at least as many names as the room has seats.
    """
    async with served(shuffle=seeded(seed)) as service, service.platform as platform:
        yield Hosted(service, platform, await seated(platform, options, players=players))


@final
class Signalling:
    """Decides when a seat signals: a policy gives the same signal turn after turn, and people should hear it once."""

    def __init__(self, policy: Policy, random: Random) -> None:
        self._policy = policy
        self._random = random
        self._said: tuple[int, Signal] | None = None

    def signal(self, view: View) -> Signal | None:
        """The signal to send now; None if the policy gives none, or the one that this seat sent last in this deal."""
        signal = self._policy.signal(view, self._random)
        if signal is None or self._said == (view.progress.deal, signal):
            return None
        self._said = (view.progress.deal, signal)
        return signal


async def play_along(seat: Hearing, policy: Policy, random: Random, pause: float) -> None:
    """Play a seat by a policy until its stream ends, and wait `pause` seconds before each action."""
    signalling = Signalling(policy, random)
    while (heard := await seat.next()) is not None:
        if _is_news(heard) and seat.is_up_to_date:
            signal = signalling.signal(seat.view)
            if signal is not None:
                seat.client.signal(command(signal).signal.signal)
            await _act(seat, policy, random, pause)


def _is_news(heard: Heard) -> bool:
    match heard:
        case Attached() | Noticed():
            return True
        case Signalled() | TrumpsShown() | RefusedTo() | Present():
            return False


async def _act(seat: Hearing, policy: Policy, random: Random, pause: float) -> None:
    chosen = policy.act(seat.view, random)
    if chosen is not None:
        await asyncio.sleep(pause)
        await seat.client.act(command(chosen))
