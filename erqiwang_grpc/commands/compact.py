"""`erqiwang compact`: gives the space of deleted rooms back to the disk."""

import sys
from argparse import ArgumentParser, Namespace
from time import time_ns
from typing import Final

from erqiwang_grpc.archive.retention import delete_old_matches
from erqiwang_grpc.commands import data_folder, folding, interrupts, stores
from erqiwang_grpc.commands.arguments import not_negative
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.commands.stores import InFolder
from erqiwang_grpc.rooms.limits import DAY
from erqiwang_grpc.store import TimeNs
from erqiwang_grpc.store.sqlite import Compacted

DONE: Final = 0
NOT_DONE: Final = 2


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `compact`."""
    parser.epilog = "The server must be stopped, and the disk must have as much free space as the store takes."
    parser.add_argument("--keep-days", type=not_negative, help="first delete matches that ended longer ago than this")
    data_folder.add_data_option(parser)
    stores.add_store_option(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Compact the store and print the space gained. Gives 2 if that fails, with advice on standard error."""
    try:
        folding.say([interrupts.run(_compact(arguments))])
    except NoStore as refused:
        print(f"erqiwang compact: {refused}", file=sys.stderr)
        return NOT_DONE
    return DONE


async def _compact(arguments: Namespace) -> str:
    place = stores.place(arguments.store, arguments.data)
    if not isinstance(place, InFolder):
        raise NoStore(
            f"{place}: a database gives the space of deleted rooms to new ones by itself. To give it back to the disk, stop "
            "the nodes and let PostgreSQL do it: VACUUM FULL. --keep-days is carried out by the nodes"
        )
    data_folder.existing(place.folder)
    store = await data_folder.writer(place.folder)
    try:
        deleted = 0
        if arguments.keep_days is not None:
            deleted = len(await delete_old_matches(store, TimeNs(time_ns() - int(arguments.keep_days * DAY))))
        compacted = await store.compact()
    finally:
        await store.close()
    if not isinstance(compacted, Compacted):
        raise NoStore(compacted.why)
    return f"{deleted} matches deleted; {compacted.before:,} bytes before, {compacted.after:,} after"
