"""`erqiwang backup`: copies a data folder as it is at one moment, even while a server writes it."""

import fcntl
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from erqiwang_grpc.auth.files import PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.commands import data_folder, folding, interrupts, stores
from erqiwang_grpc.commands.data_folder import NoStore
from erqiwang_grpc.commands.stores import InDatabase, InFolder, Place
from erqiwang_grpc.store.sqlite import STORE_FILE, back_up
from erqiwang_grpc.store.sqlite.opening import make_private, sync_folder

DONE: Final = 0
NOT_DONE: Final = 2


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `backup`."""
    parser.epilog = (
        "The copy is a data folder itself: a server can be started on it. It holds the key files: keep it safe."
    )
    parser.add_argument("target", type=Path, help="folder to make; it must not be there yet")
    data_folder.add_data_option(parser)
    stores.add_store_option(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Copy, and print what was copied. Gives 2 if that fails, with advice on standard error. Overwrites nothing."""
    try:
        place = stores.place(arguments.store, arguments.data)
        folding.say([_backup(_folder(place), arguments.target)])
    except BrokenPipeError:
        raise  # nobody reads what is said any more
    except (NoStore, OSError) as error:
        print(f"erqiwang backup: {error}", file=sys.stderr)
        return NOT_DONE
    return DONE


def _folder(place: Place) -> Path:
    """The data folder. Raises `NoStore` for a database, which PostgreSQL's own tools copy."""
    match place:
        case InFolder(folder):
            return folder
        case InDatabase():
            raise NoStore(
                f"{place}: back a database up with pg_dump or pg_basebackup, as docs/scaling.md says, and the key files of "
                "--data beside it"
            )


def _backup(folder: Path, target: Path) -> str:
    """Make the backup beside the target and rename it at the end: half a backup must not look like a whole one."""
    interrupts.run(data_folder.check(folder))
    if target.exists():
        raise NoStore(f"{target} exists already and was left alone: name another folder")
    beside = target.with_name(target.name + ".partial")
    with _begun(beside):
        _copy(folder, beside)
        sync_folder(beside)
        beside.rename(target)
        sync_folder(target.parent)
    return (
        f"{target}: {', '.join(f'{path.name} of {path.stat().st_size:,} bytes' for path in sorted(target.iterdir()))}"
    )


@contextmanager
def _begun(beside: Path) -> Iterator[None]:
    """The folder of an unfinished backup, locked by this process, and removed if the backup fails.

    What a killed backup left there is removed first. Raises `NoStore` if another process holds the lock, or if the
    folder has files that no backup makes.
    """
    beside.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(beside, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _hold(descriptor, beside)
        os.fchmod(descriptor, 0o700)
        try:
            yield
        except BaseException:  # Ctrl-C as well
            shutil.rmtree(beside)
            raise
    finally:
        os.close(descriptor)


def _hold(descriptor: int, beside: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NoStore(f"{beside} is being written by another backup: wait for it, or name another folder") from None
    # Another backup may have ended, and renamed the folder that we opened, before we got the lock.
    if not beside.exists() or not os.path.samestat(os.fstat(descriptor), beside.stat()):
        raise NoStore(f"{beside} was another backup's until this moment: name another folder")
    left = sorted(beside.iterdir())
    foreign = [path.name for path in left if path.name not in _OURS]
    if foreign:
        raise NoStore(f"{beside} is in the way and holds what no backup makes ({foreign[0]!r}): move it away")
    for path in left:
        path.unlink()


_OURS: Final = frozenset(
    {PLATFORM_KEYS, SIGNING_KEYS}
    | {STORE_FILE + copied + beside for copied in ("", ".partial") for beside in ("", "-wal", "-shm", "-journal")}
)
"""Every file name that may be in an unfinished backup."""


def _copy(folder: Path, target: Path) -> None:
    refused = interrupts.run(back_up(folder / STORE_FILE, target / STORE_FILE))
    if refused is not None:
        raise NoStore(refused.why)
    for name in (PLATFORM_KEYS, SIGNING_KEYS):
        if (folder / name).exists():
            _copy_secret(folder / name, target / name)


def _copy_secret(source: Path, target: Path) -> None:
    """Make a copy that only this user can read, whatever the mode of the original."""
    make_private(target)
    with target.open("wb") as copy:
        copy.write(source.read_bytes())
        copy.flush()
        os.fsync(copy.fileno())
