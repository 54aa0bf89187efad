"""How a call ends that is not answered: refused, broken off, or failed by an error of ours."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Never, TypeVar

import grpc
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from erqiwang_grpc.rooms.refusals import Refused
from erqiwang_grpc.rpc.wire.status import DOMAIN, status

log = logging.getLogger(__name__)

A = TypeVar("A")
Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


async def refuse(context: grpc.aio.ServicerContext[Q, R], refused: Refused) -> Never:
    """End a call with the status of a refusal."""
    await end(context, status(refused))


async def unauthenticated(context: grpc.aio.ServicerContext[Q, R], reason: str, why: str) -> Never:
    """End a call that carries no good credential."""
    await end(context, reasoned(StatusCode.UNAUTHENTICATED, reason, why))


async def end(context: grpc.aio.ServicerContext[Q, R], rich: Status) -> Never:
    """End a call with a status and its details."""
    code = next(known for known in StatusCode if known.value[0] == rich.code)
    await context.abort(code, rich.message, (("grpc-status-details-bin", rich.SerializeToString()),))


def reasoned(code: StatusCode, reason: str, message: str, retry_seconds: float | None = None) -> Status:
    """A status that is no refusal of a command: the conversation itself cannot go on."""
    rich = Status(code=code.value[0], message=message)
    rich.details.add().Pack(ErrorInfo(reason=reason, domain=DOMAIN))
    if retry_seconds is not None:
        retry = RetryInfo()
        retry.retry_delay.FromMilliseconds(int(1000 * retry_seconds))
        rich.details.add().Pack(retry)
    return rich


def failed() -> Status:
    """The status of a call in which something went wrong here; it says nothing of what."""
    return reasoned(StatusCode.INTERNAL, "FAILED", "the server has failed: try again, and tell the operator")


def contained(
    rpc: Callable[[S, A, grpc.aio.ServicerContext[Q, R]], Awaitable[T]],
) -> Callable[[S, A, grpc.aio.ServicerContext[Q, R]], Awaitable[T]]:
    """The rpc, of whose unexpected errors the caller learns nothing.

    The stack would answer with an exception's text, and that may hold cards.
    """

    @wraps(rpc)
    async def call(servicer: S, asked: A, context: grpc.aio.ServicerContext[Q, R]) -> T:
        try:
            return await rpc(servicer, asked, context)
        except grpc.aio.BaseError:
            # The call was ended, by us or by the client.
            raise
        except Exception:
            log.exception("call failed", extra={"why": rpc.__name__})
            await end(context, failed())

    return call
