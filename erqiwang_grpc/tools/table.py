"""`erqiwang table`: a server, an edge and players on the other seats, and the table page for a person in a browser."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import webbrowser
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator
from typing import Final

from erqiwang_core.options import RoomOptions

from erqiwang_grpc.addresses import joined
from erqiwang_grpc.commands import interrupts
from erqiwang_grpc.commands.arguments import BadArguments, host, port
from erqiwang_grpc.edge.serving import CannotListen, running
from erqiwang_grpc.edge.settings import Settings
from erqiwang_grpc.tools.guest import add_guest, checked, guest_table, own_seat
from erqiwang_grpc.tools.table_arguments import add_room_options

_CANNOT_START: Final = 2


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `table`."""
    add_guest(parser)
    page = parser.add_argument_group("the page")
    page.add_argument("--no-open", action="store_true", help="print the address, and open no browser")
    page.add_argument(
        "--host",
        type=host,
        default="127.0.0.1",
        help="address to listen on, such as this machine's own in your network, to play on a phone (default: 127.0.0.1)",
    )
    page.add_argument("--port", type=port, default=0, help="port, 0 for a free one (default: 0)")
    add_room_options(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Serve the table until Ctrl-C. Gives 2 if the arguments do not fit or the port cannot be opened."""
    try:
        options = checked(arguments)
        return interrupts.run(_serve(arguments, options))
    except BadArguments as bad:
        print(f"erqiwang table: {bad}", file=sys.stderr)
        return _CANNOT_START


async def _serve(arguments: Namespace, options: RoomOptions) -> int:
    async with _table(arguments, options) as address:
        print(f"Your table: {address}", flush=True)
        print("The address is your seat: keep it to yourself. Ctrl-C ends the table.", flush=True)
        if not arguments.no_open:
            # It may wait for a browser to start, and the table must go on meanwhile.
            await asyncio.to_thread(webbrowser.open, address)
        await asyncio.Event().wait()
    return 0


@contextlib.asynccontextmanager
async def _table(arguments: Namespace, options: RoomOptions) -> AsyncIterator[str]:
    """The table, and the address of the page with the person's seat."""
    async with contextlib.AsyncExitStack() as stack:
        room = await stack.enter_async_context(guest_table(arguments, options))
        settings = Settings(
            [room.service.address],
            room.service.gateway_key(),
            host=arguments.host,
            port=arguments.port,
            status_port=None,
        )
        try:
            edge = await stack.enter_async_context(running(settings))
        except CannotListen as error:
            raise BadArguments(f"{error}: choose another --host or --port") from error
        # What stands after # is never sent to a server, and the page takes it out of the address at once.
        yield f"http://{joined(arguments.host, edge.port)}/#token={room.table.tokens[own_seat(arguments)]}"
