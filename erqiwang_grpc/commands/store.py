"""`erqiwang store`: which store a data folder holds, and to make it another one."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

from erqiwang_grpc.commands import data_folder, interrupts
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.store import StoreId
from erqiwang_grpc.store.sqlite import OpenRefused, advice, new_identity

DONE: Final = 0
NOT_DONE: Final = 2


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `store`."""
    actions = parser.add_subparsers(metavar="action", required=True)
    shown = actions.add_parser("identity", help="print the identity, which every cursor names")
    renewed = actions.add_parser(
        "new-identity",
        help="make it another store, and print its identity",
        epilog="Do so once with each copy that was not made by `erqiwang backup`, before it is served. Cursors and page "
        "tokens from before are then refused, which tells platforms to look again. The server must be stopped.",
    )
    for action, work in ((shown, _identity), (renewed, _renew)):
        data_folder.add_data_option(action)
        action.set_defaults(run=partial(run, work))


def run(work: Callable[[Path], Awaitable[StoreId]], arguments: Namespace) -> int:
    """Print the identity; 2 where there is none to be had, with what to do on standard error."""
    try:
        print(interrupts.run(_done(work(arguments.data))))
    except NoStore as refused:
        print(f"erqiwang store: {refused}", file=sys.stderr)
        return NOT_DONE
    return DONE


async def _done(work: Awaitable[StoreId]) -> StoreId:
    return await work


async def _identity(folder: Path) -> StoreId:
    reader = await data_folder.reader(folder)
    try:
        return reader.identity
    finally:
        await reader.close()


async def _renew(folder: Path) -> StoreId:
    renewed: StoreId | OpenRefused = await new_identity(data_folder.existing(folder))
    if isinstance(renewed, str):
        return renewed
    raise NoStore(advice(renewed))
