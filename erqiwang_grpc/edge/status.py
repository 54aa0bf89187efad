"""Health and metrics of an edge, on a port of their own."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Final, final

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from erqiwang_grpc.edge.edge import Edge

_PREFIX: Final = "erqiwang_edge_"
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(edge: Edge) -> web.Application:
    """`/healthz`, `/readyz` and `/metrics`."""
    registry = CollectorRegistry()
    registry.register(EdgeCollector(edge))

    async def healthz(_request: web.Request) -> web.StreamResponse:
        return web.Response(text="the edge runs\n")

    async def readyz(_request: web.Request) -> web.StreamResponse:
        why = "the edge is leaving" if edge.is_draining else "no server is reached"
        return web.Response(text="ready\n") if edge.is_ready else web.Response(status=503, text=f"{why}\n")

    async def metrics(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    app = web.Application()
    handlers: dict[str, _Handler] = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}
    for path, handler in handlers.items():
        app.router.add_get(path, handler)
    return app


@final
class EdgeCollector(Collector):
    """The metrics of one edge, in the text format that Prometheus scrapes."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge

    def collect(self) -> Iterator[Metric]:
        """All metrics with their values now."""
        edge, counters = self._edge, self._edge.counters
        yield GaugeMetricFamily(_PREFIX + "ready", "1 if players can be served.", value=edge.is_ready)
        yield GaugeMetricFamily(_PREFIX + "sockets", "Sockets that are open.", value=len(edge.sockets))
        yield GaugeMetricFamily(_PREFIX + "seats", "Seats that are open on the server.", value=len(edge.seats))
        yield _counter("server_streams", "Gateway streams that a server has admitted.", edge.stream.connections)
        yield _counter("frames_received", "Frames of clients, pings and pongs included.", counters.frames_in)
        yield _counter("frames_sent", "Frames with messages to clients.", counters.frames_out)
        yield _counter("resyncs", "Snapshots in place of what a slow client did not take.", counters.resyncs)
        yield _counter("idle", "Sockets that were cut after a long silence of the client.", counters.idle)
        opened = CounterMetricFamily(_PREFIX + "opened", "Sockets by subprotocol.", labels=("subprotocol",))
        for subprotocol, number in sorted(counters.opened.items()):
            opened.add_metric((subprotocol,), number)
        yield opened
        turned_away = CounterMetricFamily(
            _PREFIX + "turned_away", "Requests for a socket that were refused.", labels=("why",)
        )
        for why, number in sorted(counters.turned_away.items()):
            turned_away.add_metric((why,), number)
        yield turned_away
        closed = CounterMetricFamily(
            _PREFIX + "closed", "Sockets by close code; 1006 for those that were lost.", labels=("code",)
        )
        for code, number in sorted(counters.closed.items()):
            closed.add_metric((str(code),), number)
        yield closed


def _counter(name: str, text: str, value: int) -> Metric:
    return CounterMetricFamily(_PREFIX + name, text, value=value)
