"""How a call ends without an answer: refused, ended for another reason, or failed by an error in the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Final, Never, TypeVar, final

import grpc
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from erqiwang_grpc import calls
from erqiwang_grpc.reasons import Reason
from erqiwang_grpc.rooms.refusals import Refused, reason
from erqiwang_grpc.rpc.wire.status import ended_status, refused_status

log = logging.getLogger(__name__)

_READ: Final = (calls.REQUEST_ID, calls.TRACE_PARENT)
_STREAMS: Final = ("Play", "Watch", "WatchRooms", "Connect")

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


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
        # The trailing metadata that was set before is replaced.
        await context.abort(code, rich.message, (*_named(), ("grpc-status-details-bin", rich.SerializeToString())))
    except grpc.aio.AbortError as aborted:
        # gRPC takes no other exception in place of its own.
        aborted.args = (ending,)
        raise


def _named() -> tuple[tuple[str, str], ...]:
    """The metadata that tell the caller what its call is named in the log."""
    call = calls.current()
    return () if call is None else ((calls.REQUEST_ID, call.id),)


async def _begin(method: str, context: grpc.aio.ServicerContext[Q, R]) -> None:
    """Name the call, and tell its caller: at once if it is a stream, which may last, else with its answer."""
    told = {key: value for key, value in context.invocation_metadata() or () if key in _READ and isinstance(value, str)}
    is_stream = method in _STREAMS
    calls.begin(method, told.get(calls.REQUEST_ID, ""), told.get(calls.TRACE_PARENT, ""), is_stream=is_stream)
    context.set_trailing_metadata(_named())
    if is_stream:
        await context.send_initial_metadata(_named())


def contained(
    rpc: Callable[[S, A, grpc.aio.ServicerContext[Q, R]], Awaitable[T]],
) -> Callable[[S, A, grpc.aio.ServicerContext[Q, R]], Awaitable[T]]:
    """The rpc, with unexpected errors kept from the caller.

    gRPC itself would send the text of the exception, which may hold cards.
    """

    @wraps(rpc)
    async def call(servicer: S, asked: A, context: grpc.aio.ServicerContext[Q, R]) -> T:
        try:
            await _begin(rpc.__name__, context)
            return await rpc(servicer, asked, context)
        except grpc.aio.InternalError:
            # The client has left during a write. gRPC would log an error for that, but logs none for a call that is cancelled.
            raise asyncio.CancelledError from None
        except grpc.aio.BaseError:
            # The server or the client has ended the call: this is no error.
            raise
        except Exception:
            log.exception("call failed", extra={"why": rpc.__name__})
            await end_served(context, Reason.FAILED)

    return call
