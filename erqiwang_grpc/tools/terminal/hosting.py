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

import grpc
from erqiwang_core.options import RoomOptions
from erqiwang_core.players import Policy
from erqiwang_core.playing import Signalled, TrumpsShown
from erqiwang_core.rules import rules

from erqiwang_grpc.auth.files import FIRST_KEY, Opened, open_key_files
from erqiwang_grpc.client import Platform
from erqiwang_grpc.rooms.limits import Limits
from erqiwang_grpc.rpc.server import Server, Settings
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.encode.commands import command
from erqiwang_grpc.shuffling import seeded
from erqiwang_grpc.store.memory import MemoryStore
from erqiwang_grpc.tools.terminal.hearing import Attached, Happened, Heard, Listener, Present, RefusedTo

PLAYERS: Final = ("Anna", "Bao", "Chen", "Dora")


@final
@dataclass(frozen=True, slots=True)
class Hosted:
    """A room that is ready to be played in."""

    channel: grpc.aio.Channel
    platform: Platform
    room_id: str
    tokens: tuple[str, ...]
    """What opens the stream of every seat, seat 0 first."""


@asynccontextmanager
async def hosted(options: RoomOptions, seed: int, players: tuple[str, ...] = PLAYERS) -> AsyncIterator[Hosted]:
    """A server until the context is left; whoever knows the seed knows its decks."""
    with tempfile.TemporaryDirectory(prefix="erqiwang-") as folder:
        keys = open_key_files(Path(folder), None, None)
        assert isinstance(keys, Opened), "a fresh folder takes key files"
        limits = Limits(commands_per_second=100_000)
        server = Server(Settings(MemoryStore(), keys.files, limits=limits, shuffle=seeded(seed)))
        await server.start()
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
                platform = Platform(channel, (Path(folder) / FIRST_KEY).read_text().strip())
                yield await _room(channel, platform, options, players)
        finally:
            await server.stop(grace=1.0)


async def _room(
    channel: grpc.aio.Channel, platform: Platform, options: RoomOptions, players: tuple[str, ...]
) -> Hosted:
    room = await platform.create_room(players[0], encode.room_options(options))
    seats = rules(options.game, options.review).seats
    taken = [await platform.take_seat(room.room_id, player) for player in players[:seats]]
    return Hosted(channel, platform, room.room_id, tuple(seat.token for seat in taken))


async def play_along(seat: Listener, policy: Policy, random: Random, pause: float) -> None:
    """Play a seat by a policy, each action `pause` seconds after its turn has come, until the stream ends."""
    while (heard := await seat.next()) is not None:
        if _is_news(heard) and seat.is_up_to_date:
            await _act(seat, policy, random, pause)


def _is_news(heard: Heard) -> bool:
    match heard:
        case Attached() | Happened():
            return True
        case Signalled() | TrumpsShown() | RefusedTo() | Present():
            return False


async def _act(seat: Listener, policy: Policy, random: Random, pause: float) -> None:
    signal = policy.signal(seat.view, random)
    if signal is not None:
        seat.client.signal(command(signal).signal.signal)
    chosen = policy.act(seat.view, random)
    if chosen is not None:
        await asyncio.sleep(pause)
        await seat.client.act(command(chosen))
