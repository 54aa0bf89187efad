"""The command `erqiwang`."""

import argparse
import sys
from collections.abc import Sequence

from erqiwang_grpc.commands import SUBCOMMANDS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand that `arguments` name (the process's own where None); what it returns is the exit status."""
    parser = argparse.ArgumentParser(
        prog="erqiwang", description="The card game 二七王 (Erqiwang), played and explained."
    )
    subparsers = parser.add_subparsers(metavar="command", required=True)
    for subcommand in SUBCOMMANDS:
        subcommand.add_parser(subparsers)
    parsed = parser.parse_args(arguments)
    status: int = parsed.run(parsed)
    return status


if __name__ == "__main__":
    sys.exit(main())
