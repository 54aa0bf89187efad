"""The flags of traces: whether a server tells OpenTelemetry what each command takes, and where."""

from __future__ import annotations

import math
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from erqiwang_grpc.commands.arguments import BadArguments
from erqiwang_grpc.rooms.spans import UNTRACED, Spans

if TYPE_CHECKING:
    from erqiwang_grpc.traces import Traces

_STOP_SECONDS: Final = 3.0
"""How long a server that stops waits for the collector to take its last spans."""

_NO_USER: Final = "a collector's URL has no user and no password: OTEL_EXPORTER_OTLP_HEADERS is for them"
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""The variables from which the library takes the collector's URL if no flag names it."""


@final
@dataclass(frozen=True, slots=True)
class Tracing:
    """The traces of a server; by default there are none."""

    traces: Traces | None = None

    @property
    def spans(self) -> Spans:
        """What the server tells of each command."""
        return UNTRACED if self.traces is None else self.traces

    async def stop(self) -> None:
        """Export what is left, for a few seconds at most."""
        if self.traces is not None:
            await self.traces.stop(_STOP_SECONDS)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the flags of traces."""
    parser.add_argument(
        "--traces", choices=("none", "otlp"), default="none", help="trace commands, by OTLP over gRPC (default: none)"
    )
    parser.add_argument(
        "--traces-endpoint",
        type=_endpoint,
        metavar="URL",
        help="collector, such as http://127.0.0.1:4317 (default: that of the OTEL_EXPORTER_OTLP_… variables)",
    )
    parser.add_argument(
        "--traces-ratio",
        type=_ratio,
        metavar="RATIO",
        default=1.0,
        help="share of commands to trace, 0 to 1, where the caller does not say (default: 1)",
    )


def check(arguments: Namespace) -> None:
    """Raise `BadArguments` for flags that do not go together."""
    if arguments.traces == "none" and arguments.traces_endpoint is not None:
        raise BadArguments("--traces-endpoint is for --traces otlp: give that too")


def prepared(arguments: Namespace) -> Tracing:
    """The traces that the flags ask for, which `check` has seen. Raises `BadArguments`."""
    if arguments.traces == "none":
        return Tracing()
    if arguments.traces_endpoint is None:
        for name in _ENDPOINTS:
            if "@" in os.environ.get(name, ""):
                raise BadArguments(f"{name}: {_NO_USER}")
    try:
        # Imported here, because most servers have no traces, and may not have the library.
        from erqiwang_grpc.traces import Traces  # noqa: PLC0415  # see above
    except ModuleNotFoundError as missing:
        raise BadArguments("--traces otlp needs OpenTelemetry: install erqiwang-grpc[traces]") from missing
    try:
        return Tracing(Traces(arguments.traces_endpoint, arguments.traces_ratio))
    except (OSError, ValueError) as error:
        raise BadArguments(f"--traces otlp: the OTEL_… variables cannot be used: {error}") from error


def _endpoint(text: str) -> str:
    if "@" in text:
        # The library writes the address into its log. What is given is not repeated, because it may hold a password.
        raise ArgumentTypeError(_NO_USER)
    if not text.startswith(("http://", "https://")):
        raise ArgumentTypeError(f"{text!r} is no URL such as http://127.0.0.1:4317")
    return text


def _ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = math.nan
    if not 0 <= ratio <= 1:
        raise ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return ratio
