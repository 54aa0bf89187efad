"""`erqiwang move`: moves a store from a folder into a database or back, and compares both, event by event."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

from erqiwang_grpc.commands import data_folder, folding, interrupts, stores
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.commands.stores import InDatabase, InFolder, Place
from erqiwang_grpc.store.comparing import Compared, DifferError, compare
from erqiwang_grpc.store.rows import Filled, MoveFailed, Origin, Target
from erqiwang_grpc.store.sqlite import STORE_FILE, advice, moving as in_files
from erqiwang_grpc.store.sqlite.moving import Lost, SqliteOrigin, SqliteTarget
from erqiwang_grpc.store.sqlite.schema import FILE_ERRORS

Row = TypeVar("Row")

DONE: Final = 0
DAMAGED: Final = 1
NOT_DONE: Final = 2
_SAY_SECONDS: Final = 10.0
"""Seconds between two lines that say how far a long move is."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `move`."""
    parser.epilog = (
        "PLACE is a folder, a postgresql:// URL without its password, or a file that holds the whole URL. No server may "
        "have either store open. The store that is moved is left as it was. What an interrupted move has left is no "
        "store yet: run it again. Status 1: rooms are damaged, at the old place as at the new one."
    )
    parser.add_argument("--from", dest="source", metavar="PLACE", required=True, help="the store that is there")
    parser.add_argument("--to", dest="target", metavar="PLACE", required=True, help="where no rooms are yet")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Move, and print what was moved. Gives 2 if that fails, with advice on standard error, 1 if rooms are damaged."""
    try:
        source, target = stores.named(arguments.source, "--from"), stores.named(arguments.target, "--to")
        lines, damaged = interrupts.run(_move(source, target))
    except (NoStore, DifferError, MoveFailed, OSError, *FILE_ERRORS) as error:
        print(f"erqiwang move: {error}", file=sys.stderr)
        return NOT_DONE
    folding.say(lines)
    for each in damaged:
        print(each, file=sys.stderr)
    return DAMAGED if damaged else DONE


async def _move(place: Place, to: Place) -> tuple[list[str], list[str]]:
    """Move; gives the lines to print, and a sentence for each damaged room. Raises what `run` catches."""
    if place == to:
        raise NoStore(f"{place} is both --from and --to")
    source = await _origin(place)
    try:
        target = await _target(to)
        if isinstance(target, Filled):
            return await _compared_only(place, to, source, target.origin)
        try:
            return await _moved(place, to, source, target)
        finally:
            await target.close()
    finally:
        await source.close()


async def _moved(place: Place, to: Place, source: Origin, target: Target) -> tuple[list[str], list[str]]:
    left_out = await _copied("commands", source.batches(), target.write_batches)
    left_out += await _copied("rooms", source.heads(), target.write_heads)
    found = await compare(source.reader, await target.written(), await source.feeds())
    identity = await target.finish()
    lines = [
        f"{place} → {to}: {_counted(found)}, each compared with its original",
        f"The new store has the identity {identity}: cursors and page tokens of the old one are refused there.",
        f"{place} is as it was. Do not serve it any more: its rooms go on at the new place.",
    ]
    rows = [f"{left_out} damaged rows could not be written anywhere and were left out"] if left_out else []
    return lines, [*rows, *found.damaged]


async def _copied(
    what: str, pages: AsyncIterator[list[Row | None]], write: Callable[[Sequence[Row]], Awaitable[None]]
) -> int:
    """Copy all rows; gives the number of those so damaged that they were left out. Says now and then how far it is."""
    left_out = copied = 0
    said = monotonic()
    async for page in pages:
        rows = [row for row in page if row is not None]
        left_out += len(page) - len(rows)
        await write(rows)
        copied += len(rows)
        if monotonic() - said > _SAY_SECONDS:
            said = monotonic()
            print(f"{copied:,} {what} are written", file=sys.stderr)
    return left_out


async def _compared_only(place: Place, to: Place, source: Origin, there: Origin) -> tuple[list[str], list[str]]:
    """What is said where there are rooms already: an earlier move may have been finished."""
    try:
        found = await compare(source.reader, there.reader, sorted({*await source.feeds(), *await there.feeds()}))
    except DifferError as differs:
        raise NoStore(
            f"{to} holds rooms already, which are not those of {place}, and was left alone: name an empty place ({differs})"
        ) from differs
    finally:
        await there.close()
    return [f"{place} → {to}: moved already; {_counted(found)}, each compared again"], found.damaged


def _counted(found: Compared) -> str:
    return f"{found.rooms:,} rooms, {found.events:,} events"


async def _origin(place: Place) -> Origin:
    """The store at the place. Raises `NoStore`, also if a server has it open."""
    match place:
        case InFolder(folder):
            opened = await in_files.origin(data_folder.existing(folder))
            if isinstance(opened, SqliteOrigin):
                return opened
            raise NoStore(advice(opened))
        case InDatabase(address):
            return await stores.database_origin(address)


async def _target(place: Place) -> Target | Filled:
    """A new store at the place. Raises `NoStore`, also if a server has it open."""
    match place:
        case InFolder(folder):
            return await _file(folder)
        case InDatabase(address):
            return await stores.database_target(address)


async def _file(folder: Path) -> Target | Filled:
    opened = await in_files.target(folder / STORE_FILE)
    if isinstance(opened, SqliteTarget | Filled):
        return opened
    if isinstance(opened, Lost):
        raise NoStore(
            f"{opened.path} is gone, and what SQLite keeps beside it is there: move that away, or name another folder"
        )
    raise NoStore(advice(opened))
