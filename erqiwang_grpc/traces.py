"""Traces by OpenTelemetry: a span for each command, sent to a collector. Only a server that has traces on loads this.

A span names room, game, seat, phase, kind of command and outcome. It never holds a card, a token or a key.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib.metadata import version
from typing import Final, final

from erqiwang_core import match as matches
from erqiwang_core.match import Match
from erqiwang_core.options import RoomOptions
from erqiwang_core.units import Seat
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler, SamplingResult, TraceIdRatioBased
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceState
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import Attributes

from erqiwang_grpc import calls
from erqiwang_grpc.rooms.command import Accepted, Answer, Answered
from erqiwang_grpc.rooms.refusals import OutcomeUnknown, Refused, RoomQuarantined, StoreUnavailable, reason
from erqiwang_grpc.rooms.spans import UNTRACED, Span
from erqiwang_grpc.store import RoomId

_NAME: Final = "erqiwang_grpc"
_FAILURES: Final = (OutcomeUnknown, RoomQuarantined, StoreUnavailable)
"""Refusals that are no mistake of the caller: the span has failed."""
_PARENTS: Final = TraceContextTextMapPropagator()
_NOWHERE: Final = Context()
"""No span is current here: spans are told their parents, since the tasks of a room serve many callers."""


@final
class Traces:
    """Begins spans, and exports them from a thread of its own. A collector that is away costs spans, and nothing else."""

    def __init__(self, endpoint: str | None, ratio: float) -> None:
        """`endpoint` is the collector's; None takes that of the OTEL_… variables. `ratio` of new traces are recorded."""
        resource = Resource.create(_resource())
        self._provider = TracerProvider(sampler=_AsTheStream(ratio), resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        self._tracer = self._provider.get_tracer(_NAME, version("erqiwang-grpc"))

    def command(self, kind: str, seat: Seat | None, room: RoomId, options: RoomOptions, match: Match | None) -> Span:
        """Begin the span of a command.

        A unary call's is a child of its caller's span. A command on a stream begins a trace of its own, which has a link
        to the span that opened the stream: otherwise all commands of an evening would be one trace.
        """
        kind = _words(kind)
        call = calls.current()
        parent = None if call is None else _context_of(call.trace_parent)
        is_linked = call is not None and call.is_stream
        span = self._tracer.start_span(
            f"command {kind}",
            _NOWHERE if parent is None or is_linked else trace.set_span_in_context(NonRecordingSpan(parent), _NOWHERE),
            SpanKind.INTERNAL if call is None else SpanKind.SERVER,
            links=[Link(parent)] if parent is not None and is_linked else (),
        )
        if not span.is_recording():
            return UNTRACED
        said = {"erqiwang.command": kind, "erqiwang.room": room, "erqiwang.game": _words(type(options.game).__name__)}
        if match is not None:
            said["erqiwang.phase"] = matches.phase(match).name.lower()
        if call is not None:
            said |= {"rpc.method": call.method, "erqiwang.request": call.id}
        span.set_attributes(said)
        if seat is not None:
            span.set_attribute("erqiwang.seat", int(seat))
        return _Recorded(span)

    async def stop(self, seconds: float) -> None:
        """Export what is left, for at most so many seconds. The event loop goes on meanwhile."""
        # Daemonic, so that a collector that does not answer cannot keep the process.
        stopping = threading.Thread(target=self._provider.shutdown, name="traces stop", daemon=True)
        stopping.start()
        await asyncio.to_thread(stopping.join, seconds)


@final
class _Recorded:
    """The span of a command that is traced."""

    __slots__ = ("_span",)

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def step(self, name: str) -> AbstractContextManager[None]:
        return _Step(self._span, name)

    def end(self, answer: Answer) -> None:
        self._span.set_attribute("erqiwang.outcome", _outcome(answer))
        match answer:
            case Accepted():
                self._span.set_attribute("erqiwang.version", answer.last)
            case Answered():
                pass
            case _:
                self._refuse(answer)
        self._span.end()

    def _refuse(self, refused: Refused) -> None:
        self._span.set_attribute("erqiwang.refusal", reason(refused).name)
        if isinstance(refused, _FAILURES):
            self._span.set_status(Status(StatusCode.ERROR))


@final
class _Step:
    """A step of a command: an event at its end. A span of its own would cost three times as much."""

    __slots__ = ("_name", "_span")

    def __init__(self, span: trace.Span, name: str) -> None:
        self._span = span
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        # An error is not recorded with its text, which may hold cards. The room logs it.
        self._span.add_event(self._name)


def _outcome(answer: Answer) -> str:
    match answer:
        case Accepted(repeated=repeated):
            return "repeated" if repeated else "accepted"
        case Answered():
            return "answered"
        case _:
            return "refused"


@final
class _AsTheStream(Sampler):
    """Records what its parent records, and on a stream what the span that opened it records; of others a share."""

    def __init__(self, ratio: float) -> None:
        self._usual = ParentBased(TraceIdRatioBased(ratio))

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Whether to record a span that begins."""
        if links:
            parent_context = trace.set_span_in_context(NonRecordingSpan(links[0].context), _NOWHERE)
        return self._usual.should_sample(parent_context, trace_id, name, kind, attributes, links)

    def get_description(self) -> str:
        return "AsTheStream"


@lru_cache(maxsize=1024)
def _context_of(trace_parent: str) -> SpanContext | None:
    """The span that a `traceparent` names; None if it is empty or malformed."""
    if not trace_parent:
        return None
    context = trace.get_current_span(_PARENTS.extract({"traceparent": trace_parent}, _NOWHERE)).get_span_context()
    return context if context.is_valid else None


@lru_cache(maxsize=64)
def _words(name: str) -> str:
    """`take_seat` for `TakeSeat`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _resource() -> dict[str, str]:
    """What the server says of itself. The OTEL_… variables may say more, and other."""
    usual = {SERVICE_VERSION: version("erqiwang-grpc"), SERVICE_INSTANCE_ID: socket.gethostname()}
    given = Resource.create().attributes
    if str(given.get(SERVICE_NAME, "unknown_service")).startswith("unknown_service"):
        usual[SERVICE_NAME] = "erqiwang"
    return {key: value for key, value in usual.items() if key == SERVICE_NAME or key not in given}
