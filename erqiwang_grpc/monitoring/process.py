"""The process itself: processor time, memory, open files, threads, the garbage collector, and which build it runs."""

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from typing import final

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from erqiwang_grpc.monitoring import families


@final
class Process:
    """The figures of this process. Where the system does not tell them, as on Windows, they are left out."""

    def __init__(self, builds: dict[str, str]) -> None:
        """`builds` says of each part whether it runs `interpreted` or `compiled`."""
        self._info = {"version": version("erqiwang-grpc"), "python": platform.python_version(), **builds}
        registry = CollectorRegistry()
        self._collectors = (ProcessCollector(registry=None), PlatformCollector(registry), GCCollector(registry))

    def collect(self) -> Iterator[Metric]:
        """All figures now."""
        build = GaugeMetricFamily("erqiwang_build_info", "1; the labels say which build runs.", labels=(*self._info,))
        build.add_metric((*self._info.values(),), 1)
        yield build
        threads = _threads()
        if threads is not None:
            yield families.gauge("erqiwang_process_threads", "Threads of the process, those of gRPC included.", threads)
        for collector in self._collectors:
            yield from collector.collect()


def _threads() -> int | None:
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208  # no paths are needed, only their number
    except OSError:
        return None
