"""How a call ends without an answer: refused, ended for another reason, or failed by an error in the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Generic, Never, TypeAlias, TypeVar, final

import grpc
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from erqiwang_grpc import calls
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.refusals import Refused, reason
from erqiwang_grpc.rpc.wire.status import ended_status, refused_status

log = logging.getLogger(__name__)

_READ: Final = (calls.REQUEST_ID, calls.TRACE_PARENT)

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
T = TypeVar("T")

# Methods of all kinds of messages are contained.
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Note: TypeAlias = Callable[[Context], None]
"""Is told of a call whose request is no message."""


class Unreadable(DecodeError):
    """The bytes of a request are no message of the type that the method takes."""


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """Why a call was ended. The exception that ends it carries this for whoever counts calls."""

    why: Reason
    was_served: bool
    """Whether a stream was served before, so that its end is no refusal."""


async def refuse(context: grpc.aio.ServicerContext[Q, R], refused: Refused) -> Never:
    """End a call with the status of a refusal."""
    await _abort(context, refused_status(refused), Ending(reason(refused), was_served=False))


async def end(context: grpc.aio.ServicerContext[Q, R], why: Reason, said: str = "") -> Never:
    """End a call that cannot go on. `said` is a whole sentence with details, in place of the reason's own."""
    await _abort(context, ended_status(why, said), Ending(why, was_served=False))


async def end_served(context: grpc.aio.ServicerContext[Q, R], why: Reason, said: str = "") -> Never:
    """End a stream that was served until now. `said` as above."""
    await _abort(context, ended_status(why, said), Ending(why, was_served=True))


async def _abort(context: grpc.aio.ServicerContext[Q, R], rich: Status, ending: Ending) -> Never:
    code = next(known for known in StatusCode if known.value[0] == rich.code)
    try:
        await _end(context, code, rich.message, ("grpc-status-details-bin", rich.SerializeToString()))
    except grpc.aio.AbortError as aborted:
        # gRPC takes no other exception in place of its own.
        aborted.args = (ending,)
        raise


async def _end(
    context: grpc.aio.ServicerContext[Q, R], code: StatusCode, said: str, *details: tuple[str, bytes]
) -> Never:
    # The trailing metadata that was set before is replaced.
    await context.abort(code, said, (*_named(), *details))


def _named() -> tuple[tuple[str, str], ...]:
    """The metadata that tell the caller what its call is named in the log."""
    call = calls.current()
    return () if call is None else ((calls.REQUEST_ID, call.id),)


async def _begin(method: str, context: Context, *, is_stream: bool) -> None:
    """Name the call, and tell its caller: at once if it is a stream, which may last, else with its answer."""
    told = {key: value for key, value in context.invocation_metadata() or () if key in _READ and isinstance(value, str)}
    calls.begin(method, told.get(calls.REQUEST_ID, ""), told.get(calls.TRACE_PARENT, ""), is_stream=is_stream)
    context.set_trailing_metadata(_named())
    if is_stream:
        await context.send_initial_metadata(_named())


def contained(
    rpc: Callable[[A, Context], Awaitable[T]], method: str, note: Note, *, is_stream: bool
) -> Callable[[A | Unreadable, Context], Coroutine[object, object, T]]:
    """The rpc with the call named, with a request that is no message refused, and with errors kept from the caller.

    gRPC itself would send the text of an exception, which may hold cards, and log each without a bound.
    """

    async def carried_out(asked: A | Unreadable, context: Context) -> T:
        try:
            await _begin(method, context, is_stream=is_stream)
            return await rpc(_read(asked, context, note), context)
        except Unreadable:
            await end(context, Reason.MALFORMED)
        except grpc.aio.BaseError:
            # The server or the client has ended the call: this is no error.
            raise
        except Exception:
            log.exception("call failed", extra={"why": method})
            await end_served(context, Reason.FAILED)

    async def call(asked: A | Unreadable, context: Context) -> T:
        try:
            return await carried_out(asked, context)
        except grpc.aio.InternalError:
            # The client has left during a write. gRPC would log an error for that, but logs none for a call that is cancelled.
            raise asyncio.CancelledError from None

    return call


def _read(asked: A | Unreadable, context: Context, note: Note) -> A:
    if isinstance(asked, Unreadable):
        note(context)
        raise asked
    return asked


def each_readable(
    rpc: Callable[[AsyncIterator[A], Context], Awaitable[T]], note: Note
) -> Callable[[AsyncIterator[A | Unreadable], Context], Awaitable[T]]:
    """The rpc for a stream of requests. Reading one that is no message raises `Unreadable`."""

    def call(requests: AsyncIterator[A | Unreadable], context: Context) -> Awaitable[T]:
        return rpc(_Requests(requests, context, note), context)

    return call


@final
class _Requests(Generic[A]):
    """The requests of a stream, read one after the other."""

    def __init__(self, requests: AsyncIterator[A | Unreadable], context: Context, note: Note) -> None:
        self._requests = requests
        self._context = context
        self._note = note

    def __aiter__(self) -> _Requests[A]:
        return self

    async def __anext__(self) -> A:
        return _read(await anext(self._requests), self._context, self._note)


async def end_unknown(context: Context) -> Never:
    """End a call of a method that the server does not have."""
    await _begin("", context, is_stream=False)
    await _end(context, StatusCode.UNIMPLEMENTED, "The server has no such method.")
