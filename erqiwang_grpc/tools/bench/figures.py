"""What a bench has measured, and how it is shown."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final, TypeAlias, final

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

MOST_RATIO: Final = 1.6
"""The target for the server's CPU per turn, in that of the relay."""
MOST_P99_MS: Final = 20.0

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


@final
@dataclass(frozen=True, slots=True)
class Figures:
    """One subject under one load."""

    name: str
    turns: int
    turns_per_second: float
    cpu_us_per_turn: float
    """Microseconds of the subject's CPU, user and system."""
    p50_ms: float
    """Of the time from a command to its answer, in milliseconds; likewise the next two."""
    p95_ms: float
    p99_ms: float
    kib_per_room: float
    """Resident memory of a room with its seats taken and no stream; 0 for the relay, whose tables come with streams."""
    kib_per_stream: float
    """Of an attached stream that is silent."""
    idle_streams: int
    failed: int
    """Streams that ended by themselves, and commands that were refused."""


def percentile(ordered: Sequence[int], percent: float) -> float:
    """The value below which so many per cent lie; 0 of none."""
    if not ordered:
        return 0.0
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))])


@final
@dataclass(frozen=True, slots=True)
class Result:
    """A whole bench: the relay, and the server in every way it was measured."""

    relay: Figures
    servers: tuple[Figures, ...]
    rooms: int
    seats: int
    """Of every room."""
    rate: float | None
    relay_bytes_per_turn: float

    def ratio(self, server: Figures) -> float:
        """The server's CPU per turn in that of the relay: the overhead of the game."""
        return server.cpu_us_per_turn / self.relay.cpu_us_per_turn

    def json(self) -> Json:
        """All of it, for programs."""
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
    "CPU a turn, µs": "{0.cpu_us_per_turn:,.0f}",
    "command → own notice, ms: p50": "{0.p50_ms:.2f}",
    "p95": "{0.p95_ms:.2f}",
    "p99": "{0.p99_ms:.2f}",
    "memory a room, KiB": "{0.kib_per_room:,.1f}",
    "memory an idle stream, KiB": "{0.kib_per_stream:,.1f}",
    "idle streams beside": "{0.idle_streams:,}",
    "failed": "{0.failed:,}",
}


def shown(result: Result) -> RenderableType:
    """All of it, for people."""
    columns = (result.relay, *result.servers)
    table = Table("", *(Column(figures.name, justify="right") for figures in columns))
    for title, form in _ROWS.items():
        table.add_row(title, *(form.format(figures) for figures in columns))
    table.add_section()
    table.add_row("CPU a turn, in the relay's", "1.00", *(f"{result.ratio(server):.2f}" for server in result.servers))
    paced = "as fast as they can" if result.rate is None else f"at {result.rate:,.0f} turns a second"
    seats = f"{result.rooms:,} rooms of {result.seats} scripted seats, a connection a seat, {paced}"
    what = f"The relay writes the same messages, {result.relay_bytes_per_turn:,.0f} bytes a turn, and knows no game."
    aims = f"Aims: CPU at most {MOST_RATIO} of the relay's; p99 under {MOST_P99_MS:.0f} ms at 500 turns a second."
    return Group(Text(seats), table, Text(what), Text(aims))
