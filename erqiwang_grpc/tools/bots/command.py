"""`erqiwang bots`: sits on seats of a running server and plays them, until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from erqiwang_grpc.client import Gateway, Platform
from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.commands.arguments import BadArguments, not_negative
from erqiwang_grpc.commands.server_arguments import (
    KEY_VARIABLE as PLATFORM_VARIABLE,
    add_servers_options,
    credentials,
    key,
)
from erqiwang_grpc.tools import wording
from erqiwang_grpc.tools.bots.crew import Crew
from erqiwang_grpc.tools.bots.orders import BadOrder, InRoom, Order, Pace, orders
from erqiwang_grpc.tools.thinking import add_thinking_options, budgets, thinking

GATEWAY_VARIABLE: Final = "ERQIWANG_GATEWAY_KEY"
_CANNOT_START: Final = 2
_REFUSED: Final = 1
"""The exit status if the servers refuse the gateway key."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `bots`."""
    parser.add_argument("seats", type=Path, help="file that says which seats are played, as docs/bots.md shows")
    add_servers_options(parser)
    parser.add_argument(
        "--gateway-key-file",
        type=Path,
        help=f"file that holds the gateway key (default: the variable {GATEWAY_VARIABLE})",
    )
    parser.add_argument(
        "--key-file",
        type=Path,
        help=f"file that holds the platform's key, for seats in rooms (default: the variable {PLATFORM_VARIABLE})",
    )
    parser.add_argument(
        "--pace",
        type=not_negative,
        nargs=2,
        default=(1.0, 4.0),
        metavar="SECONDS",
        help="least and most seconds to think before an action (default: 1 4)",
    )
    add_thinking_options(parser)
    parser.add_argument("--seed", type=int, help="the same seed draws the same pauses (default: a fresh one)")
    parser.add_argument("--once", action="store_true", help="end when no seat is left to play")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Play until SIGTERM, which gives 0, or SIGINT, which gives 130. SIGHUP reads the file again.

    Gives 1 if the servers refuse the gateway key for good, and 2 if the arguments or the file do not fit.
    """
    if arguments.seed is None:
        arguments.seed = secrets.randbelow(2**31)
    try:
        begun = _orders(arguments)
        gateway = Gateway(
            arguments.server,
            key(
                arguments.gateway_key_file,
                GATEWAY_VARIABLE,
                "a gateway key is needed: name its file with --gateway-key-file",
            ),
            credentials=credentials(arguments),
        )
        return interrupts.run(_play(arguments, gateway, begun))
    except BadArguments as bad:
        print(f"erqiwang bots: {bad}", file=sys.stderr)
        return _CANNOT_START


def _orders(arguments: Namespace) -> tuple[Order, ...]:
    """The orders in the file now. Raises `BadArguments`."""
    least, most = arguments.pace
    if least > most:
        raise BadArguments("--pace is two numbers, the lower one first")
    try:
        found = orders(arguments.seats.read_text(), Pace(least, most), arguments.seed)
    except (OSError, UnicodeDecodeError) as error:
        raise BadArguments(f"{arguments.seats} cannot be read") from error
    except BadOrder as bad:
        raise BadArguments(f"{arguments.seats}: {bad}") from bad
    if any(isinstance(order.where, InRoom) for order in found):
        _platform_key(arguments)
    return found


def _platform_key(arguments: Namespace) -> str:
    return key(
        arguments.key_file, PLATFORM_VARIABLE, "seats in rooms need a platform's key: name its file with --key-file"
    )


def _platform(arguments: Namespace) -> Platform | None:
    try:
        given = _platform_key(arguments)
    except BadArguments:
        return None  # the orders of the first reading need none
    return Platform(arguments.server, given, credentials=credentials(arguments))


async def _play(arguments: Namespace, gateway: Gateway, begun: tuple[Order, ...]) -> int:
    stopping, reading = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, reading.set)
    platform = _platform(arguments)
    async with contextlib.AsyncExitStack() as stack:
        if platform is not None:
            await stack.enter_async_context(platform)
        await stack.enter_async_context(gateway)
        crew = Crew(gateway, platform, budgets(thinking(arguments)), _say)
        listening = asyncio.create_task(crew.listen())
        try:
            _say(f"plays {wording.number_of(len(begun), 'seat')}; Ctrl-C ends it")
            await crew.follow(begun)
            while True:
                await _next(stopping, reading, listening, crew)
                if gateway.ended is not None:
                    print(f"erqiwang bots: {gateway.ended.why}", file=sys.stderr)
                    return _REFUSED
                if stopping.is_set() or (arguments.once and crew.is_idle):
                    return 0
                if reading.is_set():
                    reading.clear()
                    await _read_again(arguments, platform, crew)
        finally:
            await crew.leave()
            listening.cancel()


async def _next(stopping: asyncio.Event, reading: asyncio.Event, listening: asyncio.Task[None], crew: Crew) -> None:
    """Wait for a signal, for the end of the stream, or for a bot that has ended."""
    waiting: set[asyncio.Task[object]] = {
        asyncio.create_task(stopping.wait()),
        asyncio.create_task(reading.wait()),
    }
    if not crew.is_idle:
        waiting.add(asyncio.create_task(crew.ended()))
    try:
        await asyncio.wait({*waiting, listening}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()


async def _read_again(arguments: Namespace, platform: Platform | None, crew: Crew) -> None:
    """Follow the file as it is now. One that does not fit changes nothing."""
    try:
        found = _orders(arguments)
    except BadArguments as bad:
        _say(f"the seats stay as they are: {bad}")
        return
    if platform is None and any(isinstance(order.where, InRoom) for order in found):
        _say("the seats stay as they are: seats in rooms need a platform's key from the start")
        return
    await crew.follow(found)


def _say(what: str) -> None:
    print(f"erqiwang bots: {what}", flush=True)
