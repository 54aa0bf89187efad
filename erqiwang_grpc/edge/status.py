"""Health and metrics of an edge, on a port of their own. `docs/metrics.md` lists them for operators."""

from collections.abc import Iterator
from typing import Final, final

from prometheus_client.metrics_core import Metric

from erqiwang_grpc.edge.edge import Edge
from erqiwang_grpc.monitoring.families import counter, counters, gauge, histogram
from erqiwang_grpc.monitoring.loop_lag import LoopLag
from erqiwang_grpc.monitoring.port import Watched
from erqiwang_grpc.monitoring.process import Process

_PREFIX: Final = "erqiwang_edge_"


def watched(edge: Edge, lag: LoopLag) -> Watched:
    """What the port for health and metrics tells of an edge."""

    def why_not_ready() -> str | None:
        if edge.is_draining:
            return "the edge is leaving"
        return None if edge.is_ready else "no server is reached"

    return Watched(EdgeMetrics(edge, lag).collect, why_not_ready)


@final
class EdgeMetrics:
    """The metrics of one edge."""

    def __init__(self, edge: Edge, lag: LoopLag) -> None:
        self._edge = edge
        self._lag = lag
        self._process = Process({})

    def collect(self) -> Iterator[Metric]:
        """All metrics with their values now."""
        edge, counted = self._edge, self._edge.counters
        yield gauge(_PREFIX + "ready", "1 while players can be served.", edge.is_ready)
        yield gauge(_PREFIX + "sockets", "Sockets that are open.", len(edge.sockets))
        yield gauge(_PREFIX + "seats", "Seats that are open on the server.", len(edge.seats))
        yield gauge(_PREFIX + "spectators", "Streams of spectators that are open.", edge.upstreams.streams)
        streams = edge.stream.connections
        yield counter(_PREFIX + "server_streams", "Gateway streams that a server has admitted.", streams)
        yield counter(_PREFIX + "frames_received", "Frames of clients, pings and pongs included.", counted.frames_in)
        yield counter(_PREFIX + "frames_sent", "Frames with messages to clients.", counted.frames_out)
        yield counter(_PREFIX + "resyncs", "Snapshots in place of what a slow client did not take.", counted.resyncs)
        yield counter(_PREFIX + "idle", "Sockets that were cut after a long silence of the client.", counted.idle)
        opened = {(protocol,): number for protocol, number in counted.opened.items()}
        yield counters(_PREFIX + "opened", "Sockets by subprotocol.", ("subprotocol",), opened)
        away = {(why,): number for why, number in counted.turned_away.items()}
        yield counters(_PREFIX + "turned_away", "Requests for a socket that were refused.", ("reason",), away)
        closed = {(_code(code),): 0 for code in counted.closed}
        for code, number in counted.closed.items():
            closed[_code(code),] += number
        yield counters(_PREFIX + "closed", "Sockets by close code; 1006 for those that were lost.", ("code",), closed)
        yield histogram(
            _PREFIX + "event_loop_lag_seconds",
            "How much later than asked the event loop came back, looked at ten times a second.",
            self._lag.seconds,
        )
        yield from self._process.collect()


def _code(code: int) -> str:
    """The close code as a label. A client may choose its own from 3000 on, so those count together."""
    return str(code) if 1000 <= code < 3000 else "other"
