"""The command `erqiwang`."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

INTERRUPTED: Final = 128 + signal.SIGINT
"""The exit status after Ctrl-C, as of every program that SIGINT ends."""
_NOT_INSTALLED: Final = 2
"""The exit status where a library of the subcommand is missing."""
_NOBODY_READS: Final = 141
"""The exit status where standard output is a pipe that was closed, as `erqiwang replay … | head` closes it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand that `arguments` name (the process's own where None); what it returns is the exit status."""
    # What takes long to load is loaded here, where `program` already listens for Ctrl-C.
    import argparse  # noqa: PLC0415  # see above

    from erqiwang_grpc.commands import SUBCOMMANDS, ToolsMissing  # noqa: PLC0415  # see above

    arguments = sys.argv[1:] if arguments is None else arguments
    # Nothing but options of its own stands before the subcommand. Only the one asked for is loaded.
    asked = next((each for each in arguments if not each.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="erqiwang", description="The card game 二七王 (Erqiwang), played and explained."
    )
    subparsers = parser.add_subparsers(metavar="command", required=True)
    for subcommand in SUBCOMMANDS:
        its_parser = subparsers.add_parser(subcommand.name, help=subcommand.help)
        if subcommand.name == asked:
            try:
                subcommand.add_arguments(its_parser)
            except ToolsMissing as missing:
                print(f"erqiwang {missing}", file=sys.stderr)
                return _NOT_INSTALLED
    parsed = parser.parse_args(arguments)
    try:
        _take_ctrl_c()
        status: int = parsed.run(parsed)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # What is still to be written goes nowhere; otherwise Python complains about it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NOBODY_READS
    return status


def program() -> int:
    """The whole process. Ctrl-C is quiet from here to its end: also while modules are loaded, and while Python closes."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave_at_once)
    try:
        return main()
    except KeyboardInterrupt:
        # It came as `main` returned.
        return INTERRUPTED
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave_at_once)


def _leave_at_once(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _take_ctrl_c() -> None:
    """From now on there may be something to clean up: Ctrl-C raises `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(program())
