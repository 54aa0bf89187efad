"""Calls: every call that reaches a method is named, kept from harm, and counted when it begins and when it ends.

Calls of unknown methods are counted together, because their names come from the caller. What gRPC itself answers before
it has read a request is not seen here: calls beyond its limits, requests that are too large, and calls of a server that no
longer takes any.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from time import monotonic, perf_counter
from typing import Any, Final, TypeAlias, TypeVar, final

import grpc
from grpc import StatusCode

from erqiwang_grpc.bounded import Bounded
from erqiwang_grpc.monitoring.histogram import Histogram
from erqiwang_grpc.rooms.counters import Counters
from erqiwang_grpc.rpc.errors import Context, Ending, Unreadable, contained, each_readable, end_unknown

log = logging.getLogger(__name__)

T = TypeVar("T")

# An interceptor sees methods of all kinds of messages.
Message: TypeAlias = Any
Handler: TypeAlias = "grpc.RpcMethodHandler[Message, Message]"
Method: TypeAlias = tuple[str, str]
"""A service by its full name, and its method."""

UNKNOWN: Final[Method] = ("", "")
"""Stands for all methods that the server does not have."""
_UNREADABLE: Final = 10
_UNREADABLE_SECONDS: Final = 10.0
"""So many requests that are no messages are logged in so many seconds: strangers can send as many as they like."""


@final
class Calls(grpc.aio.ServerInterceptor):
    """Names calls, keeps their errors from their callers, and counts them."""

    def __init__(self, counters: Counters) -> None:
        """What ends calls is counted in `counters` too."""
        self._counters = counters
        self._watched: dict[str, tuple[Handler, Handler]] = {}
        """The handlers by the paths of their methods: as they were found, and with the counting around them."""
        # A stream of bytes both ways fits whatever the caller takes the method for: no request is read, and none answered.
        self._unknown: Handler = grpc.stream_stream_rpc_method_handler(self._end_unknown)
        self._unreadable = Bounded(_UNREADABLE, _UNREADABLE_SECONDS)
        self.started: Counter[Method] = Counter()
        self.ended: Counter[tuple[str, str, str]] = Counter()
        """Calls by service, method and status."""
        self.seconds: dict[Method, Histogram] = {}
        """How long calls of one request and one response took."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """The handler with the counting around it. Where the server has no such method, one that says so."""
        found = await continuation(handler_call_details)
        if found is None:
            return self._unknown
        path = handler_call_details.method
        before, watched = self._watched.get(path, (None, found))
        if before is not found:
            watched = self._around(found, path)
            self._watched[path] = (found, watched)
        return watched

    def tell_left_out(self) -> None:
        """Log how many unreadable requests were not logged. Call it about once a second."""
        if self._unreadable.left_out and not self._unreadable.is_full(monotonic()):
            log.warning("more requests unreadable", extra={"count": self._unreadable.take_left_out()})

    def _around(self, found: Handler, path: str) -> Handler:
        _, service, method = path.split("/")
        name = (service, method)
        decode, encode = _lenient(found.request_deserializer), found.response_serializer
        rpc: Message = found.unary_unary or found.unary_stream or found.stream_stream
        if not inspect.iscoroutinefunction(rpc):
            # A library declares the method, such as `Health.List`, and nobody has written it: what stands there raises an error.
            return self._unknown
        if found.unary_unary is not None:
            seconds = self.seconds.setdefault(name, Histogram())
            unary = contained(rpc, method, self._note_unreadable, is_stream=False)
            return grpc.unary_unary_rpc_method_handler(self._unary(name, unary, seconds), decode, encode)
        if found.unary_stream is not None:
            stream = contained(rpc, method, self._note_unreadable, is_stream=True)
            return grpc.unary_stream_rpc_method_handler(self._stream(name, stream), decode, encode)
        stream = contained(each_readable(rpc, self._note_unreadable), method, self._note_unreadable, is_stream=True)
        return grpc.stream_stream_rpc_method_handler(self._stream(name, stream), decode, encode)

    def _note_unreadable(self, context: Context) -> None:
        if self._unreadable.is_said(monotonic()):
            log.warning("request unreadable", extra={"address": context.peer()})

    def _unary(self, name: Method, rpc: Callable[[Message, Context], Awaitable[T]], seconds: Histogram) -> Message:
        async def call(request: Message, context: Context) -> T:
            began = perf_counter()
            answer = await self._counted(name, rpc(request, context), context)
            # Only calls that succeed: refused ones are quick, and would hide slow ones.
            seconds.observe(perf_counter() - began)
            return answer

        return call

    def _stream(self, name: Method, rpc: Callable[[Message, Context], Awaitable[T]]) -> Message:
        async def call(request: Message, context: Context) -> None:
            await self._counted(name, rpc(request, context), context)

        return call

    async def _end_unknown(self, _: AsyncIterator[Message], context: Context) -> None:
        await self._counted(UNKNOWN, end_unknown(context), context)

    async def _counted(self, name: Method, rpc: Awaitable[T], context: Context) -> T:
        """Carry out a call, and count its beginning and its end."""
        self.started[name] += 1
        status = StatusCode.UNKNOWN.name
        try:
            answer = await rpc
            status = _status(context)
        except asyncio.CancelledError:
            # The client's deadline cancels the call too. Without one, no time is told to be left.
            is_late = context.time_remaining() == 0
            status = (StatusCode.DEADLINE_EXCEEDED if is_late else StatusCode.CANCELLED).name
            raise
        except grpc.aio.AbortError as aborted:
            status = _status(context)
            match aborted.args:
                case (Ending(why, was_served),):
                    (self._counters.ended if was_served else self._counters.refused)[why] += 1
                case _:
                    pass  # a library has ended the call
            raise
        else:
            return answer
        finally:
            self.ended[(*name, status)] += 1


def _status(context: Context) -> str:
    code: object = context.code()
    return code.name if isinstance(code, StatusCode) else StatusCode.OK.name


def _lenient(decode: Callable[[bytes], T] | None) -> Callable[[bytes], T | Unreadable] | None:
    """Gives `Unreadable` where `decode` raises: gRPC would answer with the text of the exception, and log each one."""
    if decode is None:
        return None

    def decoded(data: bytes) -> T | Unreadable:
        try:
            return decode(data)
        except Exception:  # noqa: BLE001  # whatever a library raises for bytes that come from strangers
            return Unreadable()

    return decoded
