"""`erqiwang play`: lets a person play in the terminal, against sensible players or on a seat of any server."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import grpc
from erqiwang_core.options import RoomOptions

from erqiwang_grpc.client import SeatClient
from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.commands.arguments import BadArguments
from erqiwang_grpc.tools.guest import add_guest, checked, guest_table, own_seat
from erqiwang_grpc.tools.table_arguments import add_room_options
from erqiwang_grpc.tools.terminal.console import console
from erqiwang_grpc.tools.terminal.hearing import Hearing
from erqiwang_grpc.tools.terminal.person import Ending, Person

_REACHED_SECONDS: Final = 5.0
_TOKEN: Final = re.compile(r"[\w.-]+", re.ASCII)
_STATUS: Final = {Ending.OVER: 0, Ending.LEFT: 0, Ending.LOST: 1}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `play`."""
    add_guest(parser)
    elsewhere = parser.add_argument_group("on another server, instead of against players of our own")
    elsewhere.add_argument("--server", metavar="HOST:PORT", help="where the room is")
    elsewhere.add_argument("--token", help="the seat token that the platform gave you")
    elsewhere.add_argument("--ca", type=Path, help="PEM authority of the server's certificate: the connection is TLS")
    add_room_options(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Play. Gives 1 if the server ended the stream for good, 2 if the arguments do not fit or no server answers."""
    try:
        options = _checked(arguments)
        ending = interrupts.run(_play(arguments, options))
    except BadArguments as bad:
        print(f"erqiwang play: {bad}", file=sys.stderr)
        return 2
    return _STATUS[ending]


def _checked(arguments: Namespace) -> RoomOptions:
    if (arguments.server is None) != (arguments.token is None):
        raise BadArguments("--server and --token go together")
    if arguments.server is None and arguments.ca is not None:
        raise BadArguments("--ca goes with --server")
    if arguments.server is not None and arguments.seat is not None:
        raise BadArguments("the token says which seat is yours: leave --seat out")
    if arguments.server is not None and arguments.name is not None:
        raise BadArguments("the platform has given you your name: leave --name out")
    if arguments.token is not None and not _TOKEN.fullmatch(arguments.token):
        raise BadArguments("--token is no token: copy it whole")
    return checked(arguments)


async def _play(arguments: Namespace, options: RoomOptions) -> Ending:
    at = _elsewhere(arguments) if arguments.server is not None else _at_home(arguments, options)
    async with at as client, client:
        ending = await Person(Hearing(client), console()).play()
    if ending is Ending.LEFT and arguments.server is not None:
        print("Your seat stays yours: the same command brings you back.")
    return ending


@contextlib.asynccontextmanager
async def _elsewhere(arguments: Namespace) -> AsyncIterator[SeatClient]:
    credentials = None if arguments.ca is None else grpc.ssl_channel_credentials(_read(arguments.ca))
    await _reached(arguments.server, credentials)
    yield SeatClient([arguments.server], arguments.token, credentials=credentials)


async def _reached(address: str, credentials: grpc.ChannelCredentials | None) -> None:
    """Wait until a server answers, so that a wrong address is noticed now. Later the client reconnects without end."""
    if credentials is None:
        channel = grpc.aio.insecure_channel(address)
    else:
        channel = grpc.aio.secure_channel(address, credentials)
    try:
        async with channel, asyncio.timeout(_REACHED_SECONDS):
            await channel.channel_ready()
    except TimeoutError:
        raise BadArguments(f"no server answers at {address}: is the address right, and --ca?") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadArguments(f"{path}: {error.strerror}") from error


@contextlib.asynccontextmanager
async def _at_home(arguments: Namespace, options: RoomOptions) -> AsyncIterator[SeatClient]:
    """Start a server here, with sensible players on all other seats; gives the person's seat."""
    async with guest_table(arguments, options) as room:
        yield room.client(own_seat(arguments))
