"""The metrics of a server. `docs/metrics.md` lists them for operators.

Counters and histograms are kept while the server works. All other values are looked up when they are scraped, and nothing
is waited for then: what a database is asked for is asked at other times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from types import FunctionType
from typing import Final, final

from erqiwang_core.match import decide
from prometheus_client.metrics_core import Metric

from erqiwang_grpc.events.batches import batch_of
from erqiwang_grpc.monitoring.families import counters, gauge, gauges, histogram, histograms
from erqiwang_grpc.monitoring.loop_lag import LoopLag
from erqiwang_grpc.monitoring.port import Watched
from erqiwang_grpc.monitoring.process import Process
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.counters import Counters, Credential, Kind, Wrong
from erqiwang_grpc.rpc.calls import Calls
from erqiwang_grpc.store import Store
from erqiwang_grpc.store.figures import Commits, DatabaseFigures, FileFigures, Looked, Measured

_FAILURES: Final = tuple(product(Credential, Wrong))
_STALE_SECONDS: Final = 60.0
"""Age from which on what the database said is not told any more. It is asked every ten seconds."""


@final
@dataclass(frozen=True, slots=True)
class Gauge:
    """A value that is looked up when it is scraped."""

    name: str
    text: str
    value: Callable[[], float]


@final
@dataclass(frozen=True, slots=True)
class Streams:
    """One kind of streams: how many are open, and how many may be."""

    open: Callable[[], int]
    most: int


STARTING: Final = "the server is starting"
READY: Final = "1 while the server serves."


def starting() -> Watched:
    """What the port tells while a server starts: the process, and that it is not ready."""
    process = _process()

    def families() -> Iterator[Metric]:
        yield gauge("erqiwang_ready", READY, 0)
        yield from process.collect()

    return Watched(families, lambda: STARTING)


def _process() -> Process:
    return Process({"core": _build(decide), "service": _build(batch_of)})


@final
class ServerMetrics:
    """The metrics of one server."""

    def __init__(
        self,
        counters: Counters,
        calls: Calls,
        store: Store,
        lag: LoopLag,
        gauges: tuple[Gauge, ...],
        streams: Mapping[str, Streams],
    ) -> None:
        self._counters = counters
        self._calls = calls
        self._store = store
        self._lag = lag
        self._process = _process()
        self._gauges = gauges
        self._streams = streams

    def collect(self) -> Iterator[Metric]:
        """All metrics with their values now."""
        yield from self._of_calls()
        yield from self._of_commands()
        yield from self._of_streams()
        for each in self._gauges:
            yield gauge(f"erqiwang_{each.name}", each.text, each.value())
        yield histogram(
            "erqiwang_event_loop_lag_seconds",
            "How much later than asked the event loop came back, looked at ten times a second.",
            self._lag.seconds,
        )
        yield from self._of_store()
        yield from self._process.collect()

    def _of_calls(self) -> Iterator[Metric]:
        calls = self._calls
        method = ("service", "method")
        yield counters(
            "erqiwang_calls_started",
            "Calls and streams that have begun; unknown methods together.",
            method,
            calls.started,
        )
        yield counters(
            "erqiwang_calls_ended", "Calls and streams that have ended, by status.", (*method, "code"), calls.ended
        )
        yield histograms(
            "erqiwang_call_seconds", "Seconds of calls of one request that succeeded.", method, calls.seconds
        )

    def _of_commands(self) -> Iterator[Metric]:
        told = self._counters
        answers = {
            ("accepted",): told.accepted,
            ("repeated",): told.repeated,
            ("answered",): told.answered,
            ("refused",): told.refused_commands,
        }
        yield counters("erqiwang_commands", "Commands by answer.", ("answer",), answers)
        # Also those that have not happened yet: the first time would not show as a rise.
        refused = {(why.name.lower(),): told.refused[why] for why in Reason}
        yield counters(
            "erqiwang_refusals", "Refused calls, requests on streams, and seats of gateways.", ("reason",), refused
        )
        reasons = {closing.value for closing in Closing} | {Reason.TOO_LONG}
        ended = {(why.name.lower(),): told.ended[why] for why in reasons if why is not None}
        yield counters(
            "erqiwang_stream_ends",
            "Streams and seats of gateways that the server has ended after serving them, and calls that failed.",
            ("reason",),
            ended,
        )
        failures = {(needed.value, wrong.value): told.unauthenticated[needed, wrong] for needed, wrong in _FAILURES}
        yield counters(
            "erqiwang_authentication_failures",
            "Refused credentials: what was needed, and what was wrong.",
            ("credential", "fault"),
            failures,
        )
        yield histogram("erqiwang_command_seconds", "From a command's arrival to its answer.", told.command)
        phases = {(name,): each for name, each in told.phases.named().items()}
        yield histograms("erqiwang_command_phase_seconds", "What commands spend their time on.", ("phase",), phases)
        resyncs = {(kind.value,): told.resyncs[kind] for kind in Kind}
        yield counters("erqiwang_resyncs", "Snapshots in place of what a slow client did not read.", ("kind",), resyncs)

    def _of_streams(self) -> Iterator[Metric]:
        now = {(kind,): each.open() for kind, each in self._streams.items()}
        yield gauges("erqiwang_streams", "Streams that are open.", ("kind",), now)
        most = {(kind,): each.most for kind, each in self._streams.items()}
        yield gauges("erqiwang_streams_limit", "Most streams that the server takes.", ("kind",), most)

    def _of_store(self) -> Iterator[Metric]:
        yield gauge("erqiwang_store_outage", "1 while the store cannot be used.", self._store.outage is not None)
        if not isinstance(self._store, Measured):
            return
        yield from _of_commits(self._store.commits)
        match self._store.figures():
            case FileFigures(file_bytes, log_bytes):
                yield gauge("erqiwang_store_file_bytes", "Size of the store's file.", file_bytes)
                yield gauge("erqiwang_store_log_bytes", "Size of its write-ahead log.", log_bytes)
            case DatabaseFigures(in_use, idle, looked):
                pool = {("in_use",): in_use, ("idle",): idle}
                yield gauges("erqiwang_database_connections", "Connections to the database.", ("state",), pool)
                if looked is not None:
                    yield from _of_database(looked)
            case None:
                pass


def _of_commits(commits: Commits) -> Iterator[Metric]:
    yield histogram("erqiwang_store_commit_seconds", "Seconds of each commit.", commits.seconds)
    yield histogram("erqiwang_store_commit_appends", "Appends that share a commit.", commits.sizes)


def _of_database(looked: Looked) -> Iterator[Metric]:
    yield gauge(
        "erqiwang_database_looked_seconds", "Seconds since the database told the figures below.", looked.seconds_ago
    )
    if looked.seconds_ago > _STALE_SECONDS:
        return
    yield gauge(
        "erqiwang_database_oldest_writer_seconds",
        "Seconds that the oldest transaction has been open that has written.",
        looked.oldest_writer_seconds,
    )
    yield gauge("erqiwang_database_standbys", "Servers that follow the database.", looked.standbys)
    yield gauge(
        "erqiwang_database_waits_for_standby",
        "1 if a commit is answered only once a standby has it.",
        looked.waits_for_standby,
    )
    yield gauge("erqiwang_database_clock_ahead_seconds", "Seconds that this node's clock is ahead.", looked.clock_ahead)
    if looked.lag_seconds is not None:
        yield gauge(
            "erqiwang_database_replication_lag_seconds", "Seconds that the last standby is behind.", looked.lag_seconds
        )
    if looked.lag_bytes is not None:
        yield gauge(
            "erqiwang_database_replication_lag_bytes", "Bytes that the last standby is behind.", looked.lag_bytes
        )


def _build(function: object) -> str:
    """How a part runs: `interpreted`, or `compiled` by mypyc."""
    return "interpreted" if isinstance(function, FunctionType) else "compiled"
