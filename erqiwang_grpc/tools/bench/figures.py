"""The figures that a bench has measured, their medians, and what they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median
from typing import Final, Literal, TypeAlias, final

from erqiwang_grpc.tools.bench.failure import BenchFailed
from erqiwang_grpc.tools.bench.orders import Way

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Served: TypeAlias = Literal["relay", "in memory", "on disk"]
"""What is measured: the relay, or a server by where it keeps its rooms."""


@final
@dataclass(frozen=True, slots=True)
class Case:
    """One kind of measurement."""

    served: Served
    way: Way
    rate: float | None
    """The bound on turns a second in all rooms together; None if they play as fast as they can."""

    @property
    def base(self) -> Case:
        """What the CPU time is compared with: the relay over streams of seats, at the same rate."""
        return Case("relay", "streams", self.rate)

    @property
    def name(self) -> str:
        """What it is called beside others of the same rate."""
        return f"relay over {self.way}" if self.served == "relay" else f"{self.way}, {self.served}"

    @property
    def pace(self) -> str:
        """What its rate is called."""
        return "as fast as they can" if self.rate is None else f"at {self.rate:,.0f} turns a second"


@final
@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one measurement, or their medians over several rounds."""

    turns: float
    turns_per_second: float
    cpu_us_per_turn: float
    """CPU time of the measured process for each turn, user and system, in microseconds."""
    core_percent: float
    """How much of one core the measured process used, per cent. Far below 100, others were what limited it."""
    p50_ms: float
    """The median time from a command to its answer, in milliseconds."""
    p95_ms: float
    """The 95th percentile of the same times."""
    p99_ms: float
    """The 99th percentile of the same times."""
    kib_per_room: float
    """Resident memory of a room with all seats taken and none attached, in KiB.

    About 0 for the relay, which knows of a room only when its first seat attaches.
    """
    kib_per_seat: float
    """Resident memory of an attached seat before the first command, in KiB."""
    failed: float
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
class Machine:
    """Where the bench ran, and how busy that was with other work."""

    core: str
    """How the rules ran: `interpreted` or `compiled`."""
    service: str
    """How the rest of a command's way ran, likewise."""
    python: str
    cores: int
    load_before: float
    """The load average of one minute when the bench began."""
    load_after: float
    """The same at its end. The bench's own load is in it."""


@final
@dataclass(frozen=True, slots=True)
class Result:
    """The figures of a whole bench."""

    rounds: Sequence[Mapping[Case, Figures]]
    """The figures of each round. All rounds have the same cases, in the same order."""
    machine: Machine
    rooms: int
    """The number of rooms that were played at the same time."""
    seats: int
    """The number of seats in each room."""
    seconds: float
    """How long each measurement played at most, in seconds."""
    idle_seats: int
    """The number of seats that were attached and sent nothing while others played."""
    bytes_per_turn: float
    """The bytes of messages for each turn, to all seats of a room together."""

    @property
    def cases(self) -> list[Case]:
        """What was measured, in order."""
        return list(self.rounds[0])

    @property
    def failed(self) -> float:
        """The number of rooms that failed, in all measurements together."""
        return sum(figures.failed for each in self.rounds for figures in each.values())

    def figures(self, case: Case) -> Figures:
        """The median of each figure over the rounds; of failed rooms the sum."""
        found = [each[case] for each in self.rounds]
        medians = {field.name: median([getattr(one, field.name) for one in found]) for field in fields(Figures)}
        return Figures(**{**medians, "failed": sum(one.failed for one in found)})

    def ratios(self, case: Case) -> list[float]:
        """In each round, the CPU time of a turn divided by that of the relay over streams at the same rate; lowest first.

        Raises `BenchFailed` if the relay took too little CPU time to be measured.
        """
        if not all(each[case.base].cpu_us_per_turn for each in self.rounds):
            raise BenchFailed("the relay took too little CPU time to compare with: play longer, or with more rooms")
        return sorted(each[case].cpu_us_per_turn / each[case.base].cpu_us_per_turn for each in self.rounds)

    def json(self) -> Json:
        """All figures as one JSON object. Raises what `ratios` raises."""
        return {
            **asdict(self.machine),
            "rooms": self.rooms,
            "seats": self.seats,
            "rounds": len(self.rounds),
            "seconds": self.seconds,
            "idle_seats": self.idle_seats,
            "bytes_per_turn": round(self.bytes_per_turn, 1),
            "measurements": [self._json(case) for case in self.cases],
        }

    def _json(self, case: Case) -> dict[str, Json]:
        ratios = self.ratios(case)
        figures = {name: round(value, 3) for name, value in asdict(self.figures(case)).items()}
        return {
            **asdict(case),
            "cpu_ratio": round(median(ratios), 3),
            "cpu_ratio_lowest": round(ratios[0], 3),
            "cpu_ratio_highest": round(ratios[-1], 3),
            **figures,
        }


MOST_RATIO: Final[Mapping[Way, Mapping[str, float]]] = {
    "streams": {"interpreted": 1.8, "compiled": 1.5},
    "gateway": {"interpreted": 0.9, "compiled": 0.6},
}
"""The aims for `Result.ratios` as fast as they can, with rooms in memory, by how the service runs."""
