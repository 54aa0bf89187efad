"""Calls: every call that reaches a method is counted when it begins and when it ends, with its status.

Calls of unknown methods are counted together, because their names come from the caller. What gRPC itself answers before
it has read a request is not seen here: calls beyond its limits, and those of a server that no longer takes any.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, Final, TypeAlias, TypeVar, final

import grpc
from grpc import StatusCode

from erqiwang_grpc.monitoring.histogram import Histogram
from erqiwang_grpc.rooms.counters import Counters
from erqiwang_grpc.rpc.errors import Ending

T = TypeVar("T")

# An interceptor sees methods of all kinds of messages.
Message: TypeAlias = Any
Context: TypeAlias = "grpc.aio.ServicerContext[Message, Message]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Message, Message]"
Method: TypeAlias = tuple[str, str]
"""A service by its full name, and its method."""

UNKNOWN: Final[Method] = ("", "")
"""Stands for all methods that the server does not have."""


@final
class Calls(grpc.aio.ServerInterceptor):
    """Counts calls."""

    def __init__(self, counters: Counters) -> None:
        """What ends calls is counted in `counters` too."""
        self._counters = counters
        self._watched: dict[str, tuple[Handler, Handler]] = {}
        """The handlers by the paths of their methods: as they were found, and with the counting around them."""
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
        """The handler with the counting around it. None is given, and counted, where the server has no such method."""
        found = await continuation(handler_call_details)
        if found is None:
            self.started[UNKNOWN] += 1
            self.ended[(*UNKNOWN, StatusCode.UNIMPLEMENTED.name)] += 1
            return None
        path = handler_call_details.method
        before, watched = self._watched.get(path, (None, found))
        if before is not found:
            watched = self._around(found, path)
            self._watched[path] = (found, watched)
        return watched

    def _around(self, found: Handler, path: str) -> Handler:
        _, service, method = path.split("/")
        name = (service, method)
        if found.unary_unary is not None:
            seconds = self.seconds.setdefault(name, Histogram())
            decode = self._decoding(found.request_deserializer, name)
            unary: Message = found.unary_unary
            # Those of channelz are functions that gRPC calls in a thread.
            around = (
                self._unary(name, unary, seconds) if inspect.iscoroutinefunction(unary) else self._sync(name, unary)
            )
            return grpc.unary_unary_rpc_method_handler(around, decode, found.response_serializer)
        if found.unary_stream is not None:
            decode = self._decoding(found.request_deserializer, name)
            return grpc.unary_stream_rpc_method_handler(
                self._stream(name, found.unary_stream), decode, found.response_serializer
            )
        if found.stream_stream is not None:
            return grpc.stream_stream_rpc_method_handler(
                self._stream(name, found.stream_stream), found.request_deserializer, found.response_serializer
            )
        return found  # no service of ours streams requests only

    def _decoding(self, decode: Callable[[bytes], T] | None, name: Method) -> Callable[[bytes], T] | None:
        """Counts a call whose one request cannot be read: its method is never reached."""
        if decode is None:
            return None

        def decoded(data: bytes) -> T:
            try:
                return decode(data)
            except Exception:
                self.started[name] += 1
                self.ended[(*name, StatusCode.UNKNOWN.name)] += 1
                raise

        return decoded

    def _unary(self, name: Method, rpc: Callable[[Message, Context], Awaitable[T]], seconds: Histogram) -> Message:
        async def call(request: Message, context: Context) -> T:
            began = perf_counter()
            answer = await self._counted(name, rpc(request, context), context)
            # Only calls that succeed: refused ones are quick, and would hide slow ones.
            seconds.observe(perf_counter() - began)
            return answer

        return call

    def _stream(self, name: Method, rpc: Message) -> Message:
        assert inspect.iscoroutinefunction(rpc), "methods with streams write to their context: none is a generator"

        async def call(request: Message, context: Context) -> None:
            await self._counted(name, rpc(request, context), context)

        return call

    def _sync(self, name: Method, rpc: Callable[[Message, Message], T]) -> Message:
        loop = asyncio.get_running_loop()

        def count(status: str) -> None:
            self.started[name] += 1
            self.ended[(*name, status)] += 1

        def call(request: Message, context: Message) -> T:
            status = StatusCode.UNKNOWN.name
            try:
                answer = rpc(request, context)
                status = _status(context)
            finally:
                # This is a thread of gRPC.
                loop.call_soon_threadsafe(count, status)
            return answer

        return call

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
