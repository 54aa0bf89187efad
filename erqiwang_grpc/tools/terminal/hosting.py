"""Hosting: a server of our own on a free port, with one room whose seats are all taken."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, final

from erqiwang_core.options import RoomOptions
from erqiwang_core.parts import View
from erqiwang_core.players import Policy
from erqiwang_core.playing import Signal, Signalled, TrumpsShown
from erqiwang_core.rules import game_rules

from erqiwang_grpc.auth.files import FIRST_KEY, Opened, open_key_files
from erqiwang_grpc.client import Platform, SeatClient, Seated
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.server import Server, Settings
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.tools.terminal.hearing import Attached, Heard, Hearing, Noticed, Present, RefusedTo

PLAYERS: Final = ("Anna", "Bao", "Chen", "Dora")


@final
@dataclass(frozen=True, slots=True)
class Hosted:
    """A room that is ready to be played in."""

    address: str
    """Where the server listens."""
    platform: Platform
    room_id: str
    seats: tuple[Seated, ...]
    """Every seat, seat 0 first."""

    def client(self, seat: Seated) -> SeatClient:
        """A client for one of the seats, not attached yet."""
        return SeatClient([self.address], seat.token, last_version=seat.last_version)


@asynccontextmanager
async def hosted(options: RoomOptions, seed: int, players: tuple[str, ...] = PLAYERS) -> AsyncIterator[Hosted]:
    """A server until the context is left; whoever knows the seed knows its decks."""
    with tempfile.TemporaryDirectory(prefix="erqiwang-") as folder:
        keys = open_key_files(Path(folder), None, None)
        assert isinstance(keys, Opened), "a fresh folder takes key files"
        limits = Limits(commands_per_second=100_000, platform_calls_per_second=100_000)
        server = Server(Settings(MemoryStore(), keys.files, limits=limits, shuffle=seeded(seed)))
        await server.start()
        try:
            address = f"127.0.0.1:{server.port}"
            async with Platform([address], (Path(folder) / FIRST_KEY).read_text().strip()) as platform:
                yield await _room(address, platform, options, players)
        finally:
            await server.stop(grace=1.0)


async def _room(address: str, platform: Platform, options: RoomOptions, players: tuple[str, ...]) -> Hosted:
    room = (await platform.create_room(players[0], encode.room_options(options))).room
    seats = game_rules(options.game, options.review).seats
    taken = [await platform.take_seat(room.room_id, player) for player in players[:seats]]
    return Hosted(address, platform, room.room_id, tuple(taken))


@final
class Signalling:
    """When a seat signals: a policy has something to say at every turn, and people are told only what is new."""

    def __init__(self, policy: Policy, random: Random) -> None:
        self._policy = policy
        self._random = random
        self._said: tuple[int, Signal] | None = None

    def signal(self, view: View) -> Signal | None:
        """What the seat signals now; None where it has said that in this deal last."""
        signal = self._policy.signal(view, self._random)
        if signal is None or self._said == (view.progress.deal, signal):
            return None
        self._said = (view.progress.deal, signal)
        return signal


async def play_along(seat: Hearing, policy: Policy, random: Random, pause: float) -> None:
    """Play a seat by a policy, each action `pause` seconds after its turn has come, until the stream ends."""
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
