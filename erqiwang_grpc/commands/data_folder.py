"""The data folder: the log in it, and what is said where it cannot be opened."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Final

from erqiwang_grpc.store.sqlite import LOG_FILE, SqliteReader, SqliteStore, advice, open_reader, open_store

DATA: Final = Path("erqiwang-data")


class NoLog(Exception):
    """The log cannot be opened, in words for the operator that say what to do."""


def add_data_option(parser: ArgumentParser) -> None:
    """Add `--data`."""
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder for rooms and keys (default: {DATA})")


async def reader(folder: Path) -> SqliteReader:
    """The log of a data folder for reading, also beside its server. Raises `NoLog`."""
    path = folder / LOG_FILE
    if not path.exists():
        raise NoLog(f"{path} is not there: name the data folder of a server with --data")
    opened = await open_reader(path)
    if isinstance(opened, SqliteReader):
        return opened
    raise NoLog(advice(opened))


async def writer(folder: Path) -> SqliteStore:
    """The log of a data folder for writing; there is none beside its server. Raises `NoLog`."""
    opened = await open_store(folder / LOG_FILE)
    if isinstance(opened, SqliteStore):
        return opened
    raise NoLog(advice(opened))


async def check(folder: Path) -> None:
    """See that there is a log that can be read. Raises `NoLog`."""
    await (await reader(folder)).close()
