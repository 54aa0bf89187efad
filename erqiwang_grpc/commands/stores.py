"""Where a server keeps its rooms: in a folder of its own, or in a database that other servers share."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, final

from erqiwang_grpc.commands import data_folder
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.store import SideMessages, Store, StoreId, Wakeup
from erqiwang_grpc.store.address import Address, BadAddress, is_url, may_be_mistyped, unreadable
from erqiwang_grpc.store.rows import Filled, MoveFailed, Origin, Target
from erqiwang_grpc.store.sqlite import SqliteReader
from erqiwang_grpc.store.wakeup import ProcessWakeup

if TYPE_CHECKING:
    from erqiwang_grpc.store.postgres import PostgresStore

VARIABLE: Final = "ERQIWANG_STORE"
POSTGRES_EXTRA: Final = "erqiwang-grpc[postgres]"
_KEYWORDS: Final = re.compile(
    r"(?i)(^|[\s;&])(host|hostaddr|port|dbname|user|password|passfile|service|server|database|uid|pwd)\s*="
)
"""How PostgreSQL's own clients and others name a database otherwise."""
_SCHEME: Final = re.compile(r"([A-Za-z]+)://")
_FORMS: Final = "name a folder, a postgresql:// URL, or a file that holds such a URL"


@final
@dataclass(frozen=True, slots=True)
class InFolder:
    """In SQLite, in a folder that one server has to itself."""

    folder: Path

    def __str__(self) -> str:
        return str(self.folder)


@final
@dataclass(frozen=True, slots=True)
class InDatabase:
    """In PostgreSQL."""

    address: Address
    file: Path | None = None
    """The file that holds the URL, if one does."""

    def __str__(self) -> str:
        return str(self.address)


Place: TypeAlias = InFolder | InDatabase
Readable: TypeAlias = "SqliteReader | PostgresStore"
"""A store that is open and can be closed."""


@final
@dataclass(frozen=True, slots=True)
class Opened:
    """An open store, and what wakes those who share it and tells them of one another."""

    store: Store
    wakeup: Wakeup
    side_messages: SideMessages | None = None
    """None for a store that nobody shares."""


def add_store_option(parser: ArgumentParser) -> None:
    """Add `--store`."""
    parser.add_argument(
        "--store",
        metavar="PLACE",
        help=f"where rooms are kept: a folder, a postgresql:// URL without its password, or a file that holds the whole "
        f"URL; a folder or file with @, ?, // or an early : in its name has ./ before it (default: the environment's "
        f"{VARIABLE}, or else the folder of --data)",
    )


def place(given: str | None, data: Path, environment: Mapping[str, str] = os.environ) -> Place:
    """Where `--store` or the environment says that rooms are kept; without both, in the data folder. Raises `NoStore`."""
    check(given, environment)
    text = given or environment.get(VARIABLE)
    return _place(text) if text else InFolder(data)


def check(given: str | None, environment: Mapping[str, str] = os.environ) -> None:
    """Raise `NoStore` for what `--store` or the environment may not say, whatever files and databases there are."""
    text = environment.get(VARIABLE)
    if given:
        _check(given, "--store")
    elif text and is_url(text):
        _check_hosts(Address(text))
    elif text:
        _check_name(text, VARIABLE)


def named(given: str, option: str) -> Place:
    """Where an option of the command line says that rooms are kept. Raises `NoStore`, also for a password in it."""
    _check(given, option)
    return _place(given)


def _check(given: str, option: str) -> None:
    if not is_url(given):
        _check_name(given, option)
        return
    if Address(given).has_password:
        raise NoStore(
            f"a password in {option} is seen by everybody on this machine: leave it to ~/.pgpass or PGPASSFILE, write the "
            f"URL into a file and name that, or put it into {VARIABLE}"
        )
    _check_hosts(Address(given))


def _check_hosts(address: Address) -> None:
    try:
        _ = address.hosts
    except BadAddress as bad:
        raise NoStore(unreadable(str(bad))) from bad


def _check_name(text: str, source: str) -> None:
    """Raise `NoStore` for what is neither a folder nor a file. It is not shown, because it may hold a password."""
    if _KEYWORDS.search(text):
        raise NoStore(f"keywords such as dbname= name no store that this program knows: {_FORMS}")
    scheme = _SCHEME.match(text)
    if scheme:
        raise NoStore(f"{scheme[1]}:// is no store that this program knows: {_FORMS}")
    if may_be_mistyped(text):
        raise NoStore(f"{source}: {data_folder.mistyped(_FORMS)}")


def _place(text: str) -> Place:
    """The database of this URL, the folder of this name, or the database whose URL the file of this name holds."""
    if is_url(text):
        return InDatabase(Address(text))
    path = Path(text)
    if not path.is_file():
        return InFolder(path)
    try:
        url = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        url = ""
    if not is_url(url):
        raise NoStore(f"{path} is a file that holds no postgresql:// URL: {_FORMS}")
    return InDatabase(Address(url), path)


async def opened(place: Place) -> Opened:
    """The store, opened for a server, which makes it where there is none. Raises `NoStore`."""
    match place:
        case InFolder(folder):
            return Opened(await data_folder.writer(folder), ProcessWakeup())
        case InDatabase(address):
            store = await _database(address, makes=True)
            return Opened(store, store.wakeup, store.side_messages)


async def reader(place: Place) -> Readable:
    """The store, opened to be read, also beside its servers. Close it. Raises `NoStore`, also if there is none."""
    match place:
        case InFolder(folder):
            return await data_folder.reader(folder)
        case InDatabase(address):
            return await _database(address, makes=False)


async def writer(place: Place) -> Store:
    """The store, opened to be mended. Close it. Raises `NoStore`: for a folder also if its server is running."""
    match place:
        case InFolder(folder):
            data_folder.existing(folder)
            return await data_folder.writer(folder)
        case InDatabase(address):
            return await _database(address, makes=False)


async def _database(address: Address, *, makes: bool) -> PostgresStore:
    with _driver():
        from erqiwang_grpc.store import postgres  # noqa: PLC0415  # see `_driver`
    # Only a server is started by a machine, perhaps before the database is.
    store = await postgres.open_store(address, postgres.PATIENCE if makes else 0, makes=makes)
    if isinstance(store, postgres.PostgresStore):
        return store
    raise NoStore(postgres.advice(store))


async def database_origin(address: Address) -> Origin:
    """A database whose rooms are moved elsewhere. Close it. Raises `NoStore`, also if a server has it open."""
    with _driver():
        from erqiwang_grpc.store.postgres import advice, moving  # noqa: PLC0415  # see `_driver`
    opened = await moving.origin(address)
    if isinstance(opened, moving.PostgresOrigin):
        return opened
    raise NoStore(advice(opened))


async def database_target(address: Address) -> Target | Filled:
    """A database to which rooms are moved. Close it. Raises `NoStore`, also if a server has it open."""
    with _driver():
        from erqiwang_grpc.store.postgres import advice, moving  # noqa: PLC0415  # see `_driver`
    opened = await moving.target(address)
    if isinstance(opened, moving.PostgresTarget | Filled):
        return opened
    raise NoStore(advice(opened))


async def new_identity(address: Address) -> StoreId:
    """Make a copied database a store of its own; gives its identity. Raises `NoStore`, also if a server has it open."""
    with _driver():
        from erqiwang_grpc.store.postgres import advice, moving  # noqa: PLC0415  # see `_driver`
    try:
        renewed = await moving.new_identity(address)
    except MoveFailed as failed:
        raise NoStore(str(failed)) from failed
    if isinstance(renewed, str):
        return renewed
    raise NoStore(advice(renewed))


@contextmanager
def _driver() -> Iterator[None]:
    """Where the engine for PostgreSQL is imported: its driver is installed only where it is needed. Raises `NoStore`."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name != "asyncpg":
            raise
        raise NoStore(f"a database needs asyncpg, which is not installed: pip install '{POSTGRES_EXTRA}'") from missing
