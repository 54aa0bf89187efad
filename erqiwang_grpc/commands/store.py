"""`erqiwang store`: prints or renews the identity of a store, or rebuilds its summaries."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from erqiwang_grpc.archive.summaries import Contradicted, Sound, Unknown, mended
from erqiwang_grpc.commands import data_folder, folding, interrupts, stores
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.commands.export import every_room
from erqiwang_grpc.commands.stores import InFolder, Place
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
        help="give the store a new identity, and print it",
        epilog="Do so once with each copy that was not made by `erqiwang backup`, before it is served. The server then "
        "refuses older cursors and page tokens, so that platforms begin again. The server must be stopped, and all nodes of a "
        "database. Where a database was restored into another cluster, its events get new numbers, too.",
    )
    rebuilt = actions.add_parser(
        "rebuild",
        help="compare every room's summary, which lists are made of, with its events, and rebuild those that differ",
        epilog="The server of a folder must be stopped; those of a database may run. They do the same by themselves, slowly.",
    )
    for action, work in ((shown, _identity), (renewed, _renew), (rebuilt, _rebuild)):
        data_folder.add_data_option(action)
        stores.add_store_option(action)
        action.set_defaults(parser=action, run=partial(run, work))


def run(work: Callable[[Place], Awaitable[str]], arguments: Namespace) -> int:
    """Do the action and print its result. Gives 2 if it fails, with advice on standard error."""
    try:
        place = stores.place(arguments.store, arguments.data)
        folding.say(interrupts.run(_done(work(place))).splitlines())
    except NoStore as refused:
        print(f"erqiwang store: {refused}", file=sys.stderr)
        return NOT_DONE
    return DONE


async def _done(work: Awaitable[str]) -> str:
    return await work


async def _identity(place: Place) -> StoreId:
    reader = await stores.reader(place)
    try:
        return reader.identity
    finally:
        await reader.close()


async def _renew(place: Place) -> StoreId:
    if not isinstance(place, InFolder):
        return await stores.new_identity(place.address)
    renewed: StoreId | OpenRefused = await new_identity(data_folder.existing(place.folder))
    if isinstance(renewed, str):
        return renewed
    raise NoStore(advice(renewed))


async def _rebuild(place: Place) -> str:
    store = await stores.writer(place)
    sound = rebuilt = 0
    unknown: list[str] = []
    try:
        async for room in every_room(store, ()):
            match await mended(store, room):
                case Sound():
                    sound += 1
                case Contradicted():
                    rebuilt += 1
                case Unknown(why):
                    unknown.append(f"room {room}: {why}")
    finally:
        await store.close()
    return "\n".join((f"{sound} sound, {rebuilt} rebuilt, {len(unknown)} could not be checked", *unknown))
