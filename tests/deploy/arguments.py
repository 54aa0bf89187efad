"""The command line that a file in `deploy/` writes, read by the real parser."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from erqiwang_grpc.commands import SUBCOMMANDS
from erqiwang_grpc.commands.configuration import Configuration

DEPLOY: Final = Path(__file__).parent.parent.parent / "deploy"


def parsed(arguments: Sequence[str]) -> Namespace:
    """The arguments as the subcommand's own parser reads them, with its defaults. The test fails for one that it does not know."""
    subcommand, *others = arguments
    known = next(each for each in SUBCOMMANDS if each.name == subcommand)
    parser = ArgumentParser(prog=f"erqiwang {subcommand}", exit_on_error=False, allow_abbrev=False)
    known.add_arguments(parser)
    found, unknown = parser.parse_known_args(others)
    assert not unknown, f"erqiwang {subcommand} knows no {' '.join(unknown)}"
    configuration: Configuration | None = getattr(found, "configuration", None)
    return found if configuration is None else configuration.complete(found, {})


def listens(namespace: Namespace) -> dict[str, int]:
    """The ports of a `serve` or an `edge`, by what manifests name them."""
    if hasattr(namespace, "metrics_port"):
        return {"grpc": namespace.port, "metrics": namespace.metrics_port}
    return {"players": namespace.port, "status": namespace.status_port}
