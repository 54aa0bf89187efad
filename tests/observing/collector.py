"""A collector of traces: a real gRPC server that takes what exporters of OTLP send, and keeps every byte."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import final

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"


@final
class Collector:
    """What was sent so far."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        """Each request, as it came."""
        self.port = 0

    @property
    def endpoint(self) -> str:
        """The URL for exporters."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        """The requests, read."""
        return [ExportTraceServiceRequest.FromString(each) for each in self.sent]

    @property
    def spans(self) -> list[Span]:
        """All spans."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def commands(self) -> list[Span]:
        """The spans of commands."""
        return [span for span in self.spans if span.name.startswith("command ")]

    async def export(self, request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:  # noqa: ARG002  # as gRPC calls it
        """Take one request."""
        self.sent.append(request)
        return ExportTraceServiceResponse().SerializeToString()


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """A collector on a free port."""
    collector = Collector()
    server = grpc.aio.server()
    export: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(collector.export)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Export": export}),))
    collector.port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield collector
    finally:
        await server.stop(0)


def attributes(span: Span) -> dict[str, str | int]:
    """The attributes of a span."""
    return {each.key: _value(each.value) for each in span.attributes}


def _value(value: AnyValue) -> str | int:
    kind = value.WhichOneof("value")
    assert kind in {"string_value", "int_value"}, kind
    return value.string_value if kind == "string_value" else value.int_value
