"""Metrics for dashboards, in the text format that Prometheus scrapes.

Only `counters` is kept while the server works. All other values are looked up when they are scraped.
"""

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final, final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from erqiwang_grpc.rooms.counters import BOUNDS, Counters

Gauge = tuple[str, str, Callable[[], float]]
"""A metric looked up when scraped: its name, its description, and a function that gives its value."""

_PREFIX: Final = "erqiwang_"


@final
class ServerCollector(Collector):
    """The metrics of one server."""

    def __init__(self, counters: Counters, gauges: tuple[Gauge, ...]) -> None:
        self._counters = counters
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        """All metrics with their values now."""
        for name, text, value in self._gauges:
            yield GaugeMetricFamily(_PREFIX + name, text, value=value())
        yield self._answers()
        yield self._refusals()
        yield CounterMetricFamily(
            _PREFIX + "resyncs", "Snapshots in place of what a slow client did not read.", value=self._counters.resyncs
        )
        yield self._durations()

    def _answers(self) -> Metric:
        family = CounterMetricFamily(_PREFIX + "commands", "Commands by answer.", labels=("answer",))
        counters = self._counters
        family.add_metric(("accepted",), counters.accepted)
        family.add_metric(("repeated",), counters.repeated)
        family.add_metric(("answered",), counters.answered)
        family.add_metric(("refused",), sum(counters.refused.copy().values()))
        return family

    def _refusals(self) -> Metric:
        family = CounterMetricFamily(_PREFIX + "refusals", "Refused commands by reason.", labels=("reason",))
        refused = {reason.name.lower(): number for reason, number in self._counters.refused.copy().items()}
        for name, number in sorted(refused.items()):
            family.add_metric((name,), number)
        return family

    def _durations(self) -> Metric:
        bounds = [*(str(bound) for bound in BOUNDS), "+Inf"]
        return HistogramMetricFamily(
            _PREFIX + "command_seconds",
            "From a command's turn in its room to its answer, the flush to disk included.",
            buckets=list(zip(bounds, accumulate(self._counters.durations), strict=True)),
            sum_value=self._counters.seconds,
        )


@final
class MetricsPort:
    """An HTTP port for scraping, served by a thread of its own."""

    def __init__(self, host: str, port: int, collector: ServerCollector) -> None:
        """Open the port; 0 takes a free one. Raises `OSError` if it cannot be opened."""
        registry = CollectorRegistry()
        registry.register(collector)
        self._server, self._thread = start_http_server(port, host, registry)
        self.port: int = self._server.server_port

    def close(self) -> None:
        """Close the port and end its thread."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
