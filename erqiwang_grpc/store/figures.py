"""What a store measures of itself, for metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, final, runtime_checkable

from erqiwang_grpc.monitoring.histogram import Histogram

_SIZES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


@final
@dataclass(frozen=True, slots=True)
class Commits:
    """The commits of one store. One thread counts them."""

    seconds: Histogram = field(default_factory=Histogram)
    """How long each took."""
    sizes: Histogram = field(default_factory=lambda: Histogram(_SIZES))
    """How many appends each held."""

    def count(self, appends: int, seconds: float) -> None:
        """Count a commit of so many appends, which took that long."""
        self.seconds.observe(seconds)
        self.sizes.observe(appends)


@final
@dataclass(frozen=True, slots=True)
class FileFigures:
    """The figures of a store in a file."""

    file_bytes: int
    log_bytes: int
    """The size of the write-ahead log beside the file."""


@final
@dataclass(frozen=True, slots=True)
class Looked:
    """What the database said when it was last asked."""

    seconds_ago: float
    oldest_writer_seconds: float
    """How long the oldest transaction has been open that has written something; 0 if there is none."""
    standbys: int
    """Servers that follow this one."""
    waits_for_standby: bool
    """Whether a commit is answered only once a standby has it."""
    lag_seconds: float | None
    """How far the standby that is furthest behind is behind; None if the role may not see that."""
    lag_bytes: int | None
    """The same in bytes of its write-ahead log."""
    clock_ahead: float
    """Seconds that this node's clock is ahead of the database's."""


@final
@dataclass(frozen=True, slots=True)
class DatabaseFigures:
    """The figures of a store in a database."""

    connections_in_use: int
    connections_idle: int
    looked: Looked | None
    """None until the database was asked for the first time."""


Figures: TypeAlias = FileFigures | DatabaseFigures


@runtime_checkable
class Measured(Protocol):
    """A store that has figures. One in memory has none."""

    @property
    def commits(self) -> Commits:
        """Its commits so far."""

    def figures(self) -> Figures | None:
        """Its figures now, at once: nothing is asked for them. None if they cannot be read."""
