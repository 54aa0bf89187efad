"""Calls: why a unary call was refused, how a stream ended, and the credential that every call carries."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Final, TypeVar, final

import grpc
from google.rpc import error_details_pb2, status_pb2

from erqiwang_grpc.v1 import refusal_pb2

DETAILS: Final = "grpc-status-details-bin"
_IN_PLACE_OF_THE_STATUS: Final = "Internal error from Core"
_STATUS_SECONDS: Final = 1.0
"""Seconds to wait for the status of a stream, which should follow its last message at once."""

Q = TypeVar("Q")
R = TypeVar("R")
T = TypeVar("T")


@final
class CallRefused(Exception):
    """A unary call was refused, or got no answer."""

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        refusal: refusal_pb2.Refusal | None,
        command_id: str = "",
        retry_delay: float | None = None,
    ) -> None:
        super().__init__(f"{reason}: {message}" if reason else message)
        self.code = code
        self.reason = reason
        """The reason in upper case, as in `ErrorInfo`; empty if the error is not from the server itself."""
        self.refusal = refusal
        """The whole refusal with its fields; None if no command was refused."""
        self.command_id = command_id
        """The id of the command. Calling again with it repeats the same command. Empty if the call only reads."""
        self.retry_delay = retry_delay
        """Seconds that the server asks the client to wait before it calls again; None if it names no time."""


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """How a stream ended."""

    code: grpc.StatusCode
    why: str
    retry_delay: float | None
    """Seconds that the server asks the client to wait before it tries again."""
    reason: str = ""
    """The reason in upper case, as in `ErrorInfo`; empty if it is not from the server itself."""


@final
class Cancellation:
    """Notices whether the task was cancelled since this was made.

    If a cancellation meets the end of a call, grpcio swallows it and raises the call's status instead.
    """

    def __init__(self) -> None:
        self._before = _cancellations()

    def heed(self) -> None:
        """Raise `CancelledError` if the task was cancelled since this was made."""
        if _cancellations() > self._before:
            raise asyncio.CancelledError


def _cancellations() -> int:
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def bearer(credential: str) -> tuple[tuple[str, str], ...]:
    """The metadata that carries a platform's key or a token."""
    return (("authorization", f"Bearer {credential}"),)


def rich_status(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """The status with its details, if the server sent any."""
    return _status(error.details() or "", error.trailing_metadata())


def _status(message: str, trailing: grpc.aio.Metadata | None) -> status_pb2.Status:
    for key, value in trailing or ():
        if key == DETAILS and isinstance(value, bytes):
            return status_pb2.Status.FromString(value)
    return status_pb2.Status(message=message)


def refusal_of(error: grpc.aio.AioRpcError, command_id: str = "") -> CallRefused:
    """The refusal of a unary call that failed."""
    status = rich_status(error)
    info = error_details_pb2.ErrorInfo()
    refusal = refusal_pb2.Refusal()
    is_refusal = False
    for detail in status.details:
        detail.Unpack(info)
        is_refusal = detail.Unpack(refusal) or is_refusal
    told = refusal if is_refusal else None
    return CallRefused(error.code(), info.reason, status.message, told, command_id, _delay(status))


def _reason(status: status_pb2.Status) -> str:
    info = error_details_pb2.ErrorInfo()
    return info.reason if any(detail.Unpack(info) for detail in status.details) else ""


def _delay(status: status_pb2.Status) -> float | None:
    retry = error_details_pb2.RetryInfo()
    if any(detail.Unpack(retry) for detail in status.details):
        return retry.retry_delay.ToMilliseconds() / 1000
    return None


@final
class Status:
    """The status with which the server ends a stream. Create it before anything is written to the stream.

    If a write meets the end of the call, grpcio sets the status INTERNAL. If that happens after the server's own status
    has arrived, that one is lost. grpcio calls back each time, so this keeps the server's status and ignores INTERNAL.
    """

    def __init__(self, call: grpc.aio.StreamStreamCall[Q, R] | grpc.aio.UnaryStreamCall[Q, R]) -> None:
        self._heard: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        call.add_done_callback(lambda _: self._look(call))

    async def ending(self) -> Ending:
        """How the stream ended. Call it after the stream was read to its end."""
        try:
            async with asyncio.timeout(_STATUS_SECONDS):
                return await asyncio.shield(self._heard)
        except TimeoutError:
            return Ending(grpc.StatusCode.INTERNAL, _IN_PLACE_OF_THE_STATUS, None)

    def _look(self, call: grpc.aio.StreamStreamCall[Q, R] | grpc.aio.UnaryStreamCall[Q, R]) -> None:
        code, details = _at_once(call.code()), _at_once(call.details())
        made_up = code is grpc.StatusCode.INTERNAL and details == _IN_PLACE_OF_THE_STATUS
        if made_up or self._heard.done():
            return
        status = _status(details or "", _at_once(call.trailing_metadata()))
        self._heard.set_result(Ending(code, status.message or code.name, _delay(status), _reason(status)))


def _at_once(answer: Coroutine[object, None, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        answer.send(None)
    except StopIteration as done:
        given: T = done.value
        return given
    raise AssertionError("a call that has ended knows its status")
