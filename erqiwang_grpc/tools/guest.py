"""A person's seat at a table of our own: its arguments, and the other seats, which sensible players play."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Coroutine, Sequence
from random import Random
from typing import Final

from erqiwang_core.options import RoomOptions
from erqiwang_core.players import BOLD, Sensible
from erqiwang_core.rules import game_rules

from erqiwang_grpc.commands.arguments import BadArguments, between
from erqiwang_grpc.names import fault
from erqiwang_grpc.tools.table_arguments import room_options
from erqiwang_grpc.tools.terminal.hearing import Hearing
from erqiwang_grpc.tools.terminal.hosting import PLAYERS, Hosted, hosted, play_along

_PAUSE: Final = 0.8
"""Seconds that the other players wait before they act, so that a person can follow."""
_GUEST: Final = "Guest"


def add_guest(parser: ArgumentParser) -> None:
    """Add the arguments of the person's seat."""
    parser.add_argument(
        "--seat", type=between(0, 3), help="your seat, where the others are played for you (default: 0)"
    )
    parser.add_argument("--name", help=f"what you are called (default: {_GUEST})")
    parser.add_argument("--seed", type=int, help="the same seed brings the same decks (default: a fresh one)")
    parser.add_argument("--fast", action="store_true", help="the other players do not pause to think")


def checked(arguments: Namespace) -> RoomOptions:
    """The options of the room. Raises `BadArguments` if the seat, the name or an option does not fit."""
    options = room_options(arguments)
    seats = game_rules(options.game, options.review).seats
    if own_seat(arguments) >= seats:
        raise BadArguments(f"--seat is 0 to {seats - 1}")
    _check_name(_name(arguments), PLAYERS[: seats - 1])
    return options


def own_seat(arguments: Namespace) -> int:
    """The number of the person's seat."""
    return int(arguments.seat or 0)


def _name(arguments: Namespace) -> str:
    return _GUEST if arguments.name is None else str(arguments.name)


def _check_name(name: str, others: Sequence[str]) -> None:
    wrong = fault(name)
    if wrong is not None:
        raise BadArguments(f"--name {wrong}: choose another")
    if name in others:
        raise BadArguments(f"--name {name}: {name} plays against you, choose another")


@contextlib.asynccontextmanager
async def guest_table(arguments: Namespace, options: RoomOptions) -> AsyncIterator[Hosted]:
    """A server with a full room, and sensible players on all seats but the person's, until the context is left.

    If a player fails, what is done in the context is cancelled, and the error comes out of it: the table would stand still.
    """
    own = own_seat(arguments)
    seed = secrets.randbelow(2**31) if arguments.seed is None else arguments.seed
    players = (*PLAYERS[:own], _name(arguments), *PLAYERS[own:])
    async with contextlib.AsyncExitStack() as stack:
        room = await stack.enter_async_context(hosted(options, seed, players))
        alongs: list[Coroutine[None, None, None]] = []
        for seat in range(len(room.table.tokens)):
            if seat != own:
                client = await stack.enter_async_context(room.client(seat))
                pause = 0.0 if arguments.fast else _PAUSE
                alongs.append(play_along(Hearing(client), Sensible(BOLD), Random(f"{seed}/{seat}"), pause))
        async with _beside(alongs):
            yield room


@contextlib.asynccontextmanager
async def _beside(alongs: Sequence[Coroutine[None, None, None]]) -> AsyncIterator[None]:
    """Run these until the context is left. The first error, here or there, ends everything and comes out as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(each) for each in alongs]
            yield
            for each in running:
                each.cancel()
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed
