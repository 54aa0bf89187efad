"""The figures that a bench has measured, as JSON and as a table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias, final

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from erqiwang_grpc.tools.bench.failure import BenchFailed

MOST_RATIO: Final = 1.6
"""The aim for `Result.ratio`."""
MOST_P99_MS: Final = 20.0
"""The aim for the 99th percentile from a command to its answer, in milliseconds, at 500 turns a second."""

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


@final
@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one measurement: the relay or the server under one load."""

    name: str
    turns: int
    turns_per_second: float
    cpu_us_per_turn: float
    """CPU time of the measured process for each turn, user and system, in microseconds."""
    p50_ms: float
    """The median time from a command to its answer, in milliseconds."""
    p95_ms: float
    """The 95th percentile of the same times."""
    p99_ms: float
    """The 99th percentile of the same times."""
    kib_per_room: float
    """Resident memory of a room with all seats taken and no stream, in KiB.

    About 0 for the relay, which knows of a room only when its first stream opens.
    """
    kib_per_stream: float
    """Resident memory of an attached stream before the first command, in KiB."""
    idle_streams: int
    """The number of streams that were attached and sent nothing while others played."""
    failed: int
    """The number of rooms that failed: a stream ended early, a call failed, or a command was refused."""


def percentile(ordered: Sequence[int], percent: float) -> float:
    """The value that `percent` per cent of the values lie below. `ordered` must be sorted, lowest first.

    Gives the highest value for 100 per cent, and 0 if there are no values.
    """
    if not ordered:
        return 0.0
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))])


@final
@dataclass(frozen=True, slots=True)
class Result:
    """The figures of a whole bench: of the relay, and of the server in memory and perhaps on disk."""

    relay: Figures
    servers: tuple[Figures, ...]
    rooms: int
    """The number of rooms that were played at the same time."""
    seats: int
    """The number of seats in each room."""
    rate: float | None
    """The bound on turns a second in all rooms together; None if there was none."""
    relay_bytes_per_turn: float
    """The bytes of responses for each turn, on all streams of a room together."""

    def ratio(self, server: Figures) -> float:
        """The server's CPU time per turn divided by the relay's. What exceeds 1 is the cost of the game.

        Raises `BenchFailed` if the relay took too little CPU time to be measured.
        """
        if not self.relay.cpu_us_per_turn:
            raise BenchFailed("the relay took too little CPU time to compare with: play longer, or with more rooms")
        return server.cpu_us_per_turn / self.relay.cpu_us_per_turn

    def json(self) -> Json:
        """All figures as one JSON object. Raises what `ratio` raises."""
        return {
            "rooms": self.rooms,
            "seats": self.seats,
            "rate": self.rate,
            "bytes_per_turn": round(self.relay_bytes_per_turn, 1),
            "relay": _rounded(self.relay),
            "servers": [{**_rounded(server), "cpu_ratio": round(self.ratio(server), 3)} for server in self.servers],
        }


def _rounded(figures: Figures) -> dict[str, Json]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(figures).items()}


_ROWS: Final = {
    "turns": "{0.turns:,}",
    "turns a second": "{0.turns_per_second:,.0f}",
    "CPU per turn, µs": "{0.cpu_us_per_turn:,.0f}",
    "command → own notice, p50, ms": "{0.p50_ms:.2f}",
    "command → own notice, p95, ms": "{0.p95_ms:.2f}",
    "command → own notice, p99, ms": "{0.p99_ms:.2f}",
    "memory per room, KiB": "{0.kib_per_room:,.1f}",
    "memory per idle stream, KiB": "{0.kib_per_stream:,.1f}",
    "idle streams": "{0.idle_streams:,}",
    "failed rooms": "{0.failed:,}",
}


def shown(result: Result) -> RenderableType:
    """All figures as a table with explanations, for a terminal. Raises what `ratio` raises."""
    columns = (result.relay, *result.servers)
    table = Table("", *(Column(figures.name, justify="right") for figures in columns))
    for title, form in _ROWS.items():
        table.add_row(title, *(form.format(figures) for figures in columns))
    table.add_section()
    table.add_row("CPU per turn, relay = 1", "1.00", *(f"{result.ratio(server):.2f}" for server in result.servers))
    pace = "as fast as they can" if result.rate is None else f"at {result.rate:,.0f} turns a second"
    load = f"{result.rooms:,} rooms of {result.seats} scripted seats play {pace}; each seat has its own connection."
    relay = f"The relay sends the same messages, {result.relay_bytes_per_turn:,.0f} bytes per turn, and knows no game."
    aims = f"Aims: CPU at most {MOST_RATIO} times the relay's; p99 under {MOST_P99_MS:.0f} ms at 500 turns a second."
    return Group(Text(load), table, Text(relay), Text(aims))
