"""`erqiwang --version`: which version this is, and whether the core and the service run compiled."""

import platform
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from types import FunctionType
from typing import final


@final
class Version(Action):
    """Prints the version and ends the program. Nothing is loaded for it unless it is asked for."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        from importlib.metadata import version  # noqa: PLC0415 (it takes longer to load than the other commands' parsers)

        builds = f"core {core_build()}, service {service_build()}"
        print(f"erqiwang {version('erqiwang-grpc')}, {builds}, Python {platform.python_version()}")
        parser.exit()


def core_build() -> str:
    """How the core runs: `interpreted`, or `compiled` by mypyc."""
    from erqiwang_core.match import decide  # noqa: PLC0415 (the command line is parsed without the core)

    return _build(decide)


def service_build() -> str:
    """How the way of a command runs: `interpreted`, or `compiled` by mypyc."""
    from erqiwang_grpc.events.batches import batch_of  # noqa: PLC0415 (likewise)

    return _build(batch_of)


def _build(function: object) -> str:
    return "interpreted" if isinstance(function, FunctionType) else "compiled"
