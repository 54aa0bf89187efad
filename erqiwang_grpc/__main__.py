"""The command `erqiwang`.

Nothing is imported before Ctrl-C is handled that Python has not loaded by itself.
"""

# The module `signal` is made of this one, and loads others for that, which takes 4 ms.
import _signal  # type: ignore[import-not-found]  # typeshed has no stub of it
import os
import sys

INTERRUPTED: int = 128 + _signal.SIGINT
"""The exit status after Ctrl-C, the same as for any program that SIGINT ends."""
_NOT_INSTALLED = 2
"""The exit status if a library that the subcommand needs is not installed."""
_NOBODY_READS = 141
"""The exit status if standard output is a pipe that was closed, as in `erqiwang replay … | head`."""
_SERVICES = ("serve", "edge")
"""The subcommands that run until a signal ends them."""


def main(arguments: "tuple[str, ...] | list[str] | None" = None) -> int:
    """Run the subcommand that `arguments` name, or the process's own arguments if None; gives the exit status."""
    # Modules that take long to load are imported here, because `program` handles Ctrl-C by now.
    import argparse  # noqa: PLC0415  # see above

    from erqiwang_grpc.commands import SUBCOMMANDS, ExtraMissing  # noqa: PLC0415  # see above
    from erqiwang_grpc.commands.version import Version  # noqa: PLC0415  # see above

    arguments = sys.argv[1:] if arguments is None else arguments
    # Only the subcommand asked for is loaded.
    asked = _asked(arguments)
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
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _leave_at_once)
    if _asked(sys.argv[1:]) in _SERVICES:
        from erqiwang_grpc import held_signals  # noqa: PLC0415  # Ctrl-C is handled by now

        held_signals.hold()
    try:
        return main()
    except KeyboardInterrupt:
        # Ctrl-C came while `main` was returning.
        return INTERRUPTED
    finally:
        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
            _signal.signal(_signal.SIGINT, _leave_at_once)


def _asked(arguments: "tuple[str, ...] | list[str]") -> str | None:
    """The name of the subcommand. Only options may come before it."""
    return next((each for each in arguments if not each.startswith("-")), None)


def _leave_at_once(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


def _take_ctrl_c() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` from now on, because there may be something to clean up."""
    if _signal.getsignal(_signal.SIGINT) is _leave_at_once:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(program())
