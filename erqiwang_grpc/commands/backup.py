"""`erqiwang backup`: a copy of a data folder of one moment, also while a server writes it."""

import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import Final

from erqiwang_grpc.auth.files import PLATFORM_KEYS, SIGNING_KEYS
from erqiwang_grpc.commands import data_folder, interrupts
from erqiwang_grpc.commands.arguments import Subparsers
from erqiwang_grpc.commands.data_folder import NoLog
from erqiwang_grpc.store.sqlite import LOG_FILE, back_up

DONE: Final = 0
NOT_DONE: Final = 2


def add_parser(subparsers: Subparsers) -> None:
    """Add `backup`."""
    parser = subparsers.add_parser(
        "backup",
        help="copy a data folder, also while a server writes it",
        epilog="The copy is a data folder itself: a server can be started on it. It holds the key files: keep it safe.",
    )
    parser.add_argument("target", type=Path, help="folder to make; it must not be there yet")
    data_folder.add_data_option(parser)
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> int:
    """Copy, and say what; 2 where that cannot be done, with what to do on standard error. Nothing is overwritten."""
    try:
        print(_backup(arguments.data, arguments.target))
    except (NoLog, OSError) as error:
        print(f"erqiwang backup: {error}", file=sys.stderr)
        return NOT_DONE
    return DONE


def _backup(folder: Path, target: Path) -> str:
    """Made beside the target and named at the end, so that half a backup is never taken for one."""
    interrupts.run(data_folder.check(folder))
    if target.exists():
        raise NoLog(f"{target} exists already and was left alone: name another folder")
    beside = target.with_name(target.name + ".partial")
    beside.mkdir(mode=0o700)
    try:
        _copy(folder, beside)
        beside.rename(target)
    except (NoLog, OSError):
        shutil.rmtree(beside)
        raise
    return (
        f"{target}: {', '.join(f'{path.name} of {path.stat().st_size:,} bytes' for path in sorted(target.iterdir()))}"
    )


def _copy(folder: Path, target: Path) -> None:
    refused = interrupts.run(back_up(folder / LOG_FILE, target / LOG_FILE))
    if refused is not None:
        raise NoLog(refused.why)
    for name in (PLATFORM_KEYS, SIGNING_KEYS):
        if (folder / name).exists():
            shutil.copy(folder / name, target / name)
