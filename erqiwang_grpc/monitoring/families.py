"""Families of metrics, made from plain numbers when they are scraped. A family with no number yet is told with its help."""

from collections.abc import Mapping
from itertools import accumulate
from typing import TypeVar

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from erqiwang_grpc.monitoring.histogram import Histogram

Labels = tuple[str, ...]
L = TypeVar("L", bound=Labels)


def gauge(name: str, text: str, value: float) -> Metric:
    """A gauge with one value."""
    return GaugeMetricFamily(name, text, value=value)


def gauges(name: str, text: str, labels: Labels, values: Mapping[L, float]) -> Metric:
    """A gauge with a value for each combination of its labels' values."""
    family = GaugeMetricFamily(name, text, labels=labels)
    for label, value in sorted(values.items()):
        family.add_metric(label, value)
    return family


def counter(name: str, text: str, value: float) -> Metric:
    """A counter with one value. Its name is told with `_total` at its end."""
    return CounterMetricFamily(name, text, value=value)


def counters(name: str, text: str, labels: Labels, values: Mapping[L, float]) -> Metric:
    """A counter with a value for each combination of its labels' values."""
    family = CounterMetricFamily(name, text, labels=labels)
    for label, value in sorted(values.items()):
        family.add_metric(label, value)
    return family


def histogram(name: str, text: str, counted: Histogram) -> Metric:
    """A histogram."""
    return histograms(name, text, (), {(): counted})


def histograms(name: str, text: str, labels: Labels, counted: Mapping[L, Histogram]) -> Metric:
    """A histogram for each combination of its labels' values."""
    family = HistogramMetricFamily(name, text, labels=labels)
    for label, each in sorted(counted.items(), key=lambda pair: pair[0]):
        bounds = [*(f"{bound:g}" for bound in each.bounds), "+Inf"]
        # Copied first: another thread may be counting.
        buckets = list(zip(bounds, accumulate(list(each.classes)), strict=True))
        family.add_metric(label, buckets, each.sum)
    return family
