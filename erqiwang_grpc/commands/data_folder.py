"""The data folder: opens its store, and checks whether it is lost and whether other users can read it."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Final

from erqiwang_grpc.auth.files import FIRST_KEY, PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.store.address import may_be_mistyped
from erqiwang_grpc.store.sqlite import STORE_FILE, SqliteReader, SqliteStore, advice, open_reader, open_store
from erqiwang_grpc.store.sqlite.moving import UNFINISHED
from erqiwang_grpc.store.sqlite.opening import was_served

DATA: Final = Path("erqiwang-data")
STORE_FILES: Final = (STORE_FILE, f"{STORE_FILE}-wal", f"{STORE_FILE}-shm", f"{STORE_FILE}{UNFINISHED}")
"""The store, what SQLite keeps beside it while it is open, and what is moved into the folder."""
SECRETS: Final = (*STORE_FILES, PLATFORM_KEYS, SIGNING_KEYS, FIRST_KEY)
"""The files of a data folder that hold cards or keys."""


class NoStore(Exception):
    """The store cannot be opened. The text tells the operator what to do."""


def add_data_option(parser: ArgumentParser) -> None:
    """Add `--data`."""
    parser.add_argument("--data", type=named_folder, default=DATA, help=f"folder for rooms and keys (default: {DATA})")


def named_folder(text: str) -> Path:
    """The folder of an argument. Raises `ArgumentTypeError` for what may be a mistyped URL, which it does not show."""
    if may_be_mistyped(text):
        raise ArgumentTypeError(mistyped("name a folder, and a database by --store"))
    return Path(text)


def mistyped(advice: str) -> str:
    """What is said of a place that may be a mistyped URL."""
    return (
        "it looks like a mistyped URL of a database, and is not shown because it may hold a password: "
        f"{advice}. Where a folder has such a name, write ./ before it"
    )


async def reader(folder: Path) -> SqliteReader:
    """The store of a data folder, only for reading. Its server may be running. Raises `NoStore`."""
    opened = await open_reader(existing(folder))
    if isinstance(opened, SqliteReader):
        return opened
    raise NoStore(advice(opened))


async def writer(folder: Path) -> SqliteStore:
    """The store of a data folder for writing, created if necessary. Raises `NoStore`, also if its server is running."""
    opened = await open_store(folder / STORE_FILE)
    if isinstance(opened, SqliteStore):
        return opened
    raise NoStore(advice(opened))


def existing(folder: Path) -> Path:
    """The path of the store. Raises `NoStore` if there is none, because only a server creates one."""
    path = folder / STORE_FILE
    if not path.exists():
        raise NoStore(f"{path} is not there: name the data folder of a server with --data")
    return path


async def check(folder: Path) -> None:
    """Check that there is a store that can be read. Raises `NoStore` if not."""
    await (await reader(folder)).close()


def loss(folder: Path) -> str | None:
    """What is wrong, and what to do, if the folder was served before but its store is missing or empty; None otherwise.

    A server would otherwise create an empty store there, and nobody would notice the loss.
    """
    path = folder / STORE_FILE
    if path.exists() and path.stat().st_size:
        return None
    if (folder / f"{STORE_FILE}{UNFINISHED}").exists():
        return f"{path} is not there yet, since a move into this folder was not finished: run `erqiwang move` again"
    traces = [name for name in (PLATFORM_KEYS, SIGNING_KEYS, f"{STORE_FILE}-wal") if (folder / name).exists()]
    if was_served(path):
        traces.append(f"the {STORE_FILE}.lock of a server")
    if not traces:
        return None
    state = "is empty" if path.exists() else "is not there"
    return (
        f"{path} {state}, and {' and '.join(traces)} beside it say that this folder was used: restore the rooms from a "
        "backup, or start with --new-rooms if they are known to be lost or never were"
    )


def secrets(folder: Path) -> tuple[Path, ...]:
    """The folder, and its files that hold cards or keys, whether they are there or not."""
    return folder, *(folder / name for name in SECRETS)
