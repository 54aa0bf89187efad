"""The command `erqiwang`."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

INTERRUPTED: Final = 128 + signal.SIGINT
"""The exit status after Ctrl-C, the same as for any program that SIGINT ends."""
_NOT_INSTALLED: Final = 2
"""The exit status if a library that the subcommand needs is not installed."""
_NOBODY_READS: Final = 141
"""The exit status if standard output is a pipe that was closed, as in `erqiwang replay … | head`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand that `arguments` name, or the process's own arguments if None; gives the exit status."""
    # Modules that take long to load are imported here, because `program` handles Ctrl-C by now.
    import argparse  # noqa: PLC0415  # see above

    from erqiwang_grpc.commands import SUBCOMMANDS, ExtraMissing  # noqa: PLC0415  # see above
    from erqiwang_grpc.commands.version import Version  # noqa: PLC0415  # see above

    arguments = sys.argv[1:] if arguments is None else arguments
    # Only options may come before the subcommand. Only the subcommand asked for is loaded.
    asked = next((each for each in arguments if not each.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="erqiwang", description="The card game 二七王 (Erqiwang), played and explained."
    )
    parser.add_argument(
        "--version", action=Version, nargs=0, help="say which version this is, and what of it runs compiled"
    )
    subparsers = parser.add_subparsers(metavar="command", required=True)
    for subcommand in SUBCOMMANDS:
        its_parser = subparsers.add_parser(subcommand.name, help=subcommand.help)
        if subcommand.name == asked:
            try:
                subcommand.add_arguments(its_parser)
            except ExtraMissing as missing:
                print(f"erqiwang {missing}", file=sys.stderr)
                return _NOT_INSTALLED
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        # The usage of the subcommand helps. That of the whole program, which `parse_args` would print, does not.
        parsed.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        _take_ctrl_c()
        status: int = parsed.run(parsed)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Discard what is still to be written. Otherwise Python reports an error when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NOBODY_READS
    return status


def program() -> int:
    """Run the whole process. Ctrl-C prints no traceback, not even while modules are loaded or Python exits."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave_at_once)
    try:
        return main()
    except KeyboardInterrupt:
        # Ctrl-C came while `main` was returning.
        return INTERRUPTED
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave_at_once)


def _leave_at_once(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _take_ctrl_c() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` from now on, because there may be something to clean up."""
    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(program())
