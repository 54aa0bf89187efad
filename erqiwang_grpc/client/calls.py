"""How calls end: what a unary call was refused for, how a stream ended, and the credential that every call carries."""

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
"""How long a status may take that follows the last message at once."""

Q = TypeVar("Q")
R = TypeVar("R")
T = TypeVar("T")


@final
class CallRefused(Exception):
    """A unary call was refused, or not answered."""

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
        """The reason in upper case, as in `ErrorInfo`; empty where the error is not the server's own."""
        self.refusal = refusal
        """What is wrong, with its data; None where it is no refusal of a command."""
        self.command_id = command_id
        """The id that the command had: call again with it, and it is the same command. Empty for a question."""
        self.retry_delay = retry_delay
        """Seconds that the server asks to wait before calling again; None where it does not ask for any."""


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """How a stream ended."""

    code: grpc.StatusCode
    why: str
    retry_delay: float | None
    """Seconds that the server asks to wait before trying again."""


@final
class Cancellation:
    """Notices that the task was cancelled since this was made.

    Where a cancellation meets the end of a call, grpcio swallows it and raises the call's status in its place.
    """

    def __init__(self) -> None:
        self._before = _cancellations()

    def heed(self) -> None:
        """Raise `CancelledError` if the task was cancelled meanwhile."""
        if _cancellations() > self._before:
            raise asyncio.CancelledError


def _cancellations() -> int:
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def bearer(credential: str) -> tuple[tuple[str, str], ...]:
    """The metadata that carries a platform key or a seat token."""
    return (("authorization", f"Bearer {credential}"),)


def rich_status(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """The status with its details; without any where the server sent none."""
    return _status(error.details() or "", error.trailing_metadata())


def _status(message: str, trailing: grpc.aio.Metadata | None) -> status_pb2.Status:
    for key, value in trailing or ():
        if key == DETAILS and isinstance(value, bytes):
            return status_pb2.Status.FromString(value)
    return status_pb2.Status(message=message)


def refusal_of(error: grpc.aio.AioRpcError, command_id: str = "") -> CallRefused:
    """What a failed unary call was refused for."""
    status = rich_status(error)
    info = error_details_pb2.ErrorInfo()
    refusal = refusal_pb2.Refusal()
    is_refusal = False
    for detail in status.details:
        detail.Unpack(info)
        is_refusal = detail.Unpack(refusal) or is_refusal
    told = refusal if is_refusal else None
    return CallRefused(error.code(), info.reason, status.message, told, command_id, _delay(status))


def _delay(status: status_pb2.Status) -> float | None:
    retry = error_details_pb2.RetryInfo()
    if any(detail.Unpack(retry) for detail in status.details):
        return retry.retry_delay.ToMilliseconds() / 1000
    return None


@final
class Status:
    """The status that the server ends a stream with. Listen before anything is written.

    Where a write meets the end of the call, grpcio puts INTERNAL in the place of the status: before the status has come,
    which then replaces it, or after, and then the status is lost. It calls back each time; what it made up is passed over.
    """

    def __init__(self, call: grpc.aio.StreamStreamCall[Q, R]) -> None:
        self._heard: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        call.add_done_callback(lambda _: self._look(call))

    async def ending(self) -> Ending:
        """How the stream ended, once it was read to its end."""
        try:
            async with asyncio.timeout(_STATUS_SECONDS):
                return await asyncio.shield(self._heard)
        except TimeoutError:
            return Ending(grpc.StatusCode.INTERNAL, _IN_PLACE_OF_THE_STATUS, None)

    def _look(self, call: grpc.aio.StreamStreamCall[Q, R]) -> None:
        code, details = _at_once(call.code()), _at_once(call.details())
        made_up = code is grpc.StatusCode.INTERNAL and details == _IN_PLACE_OF_THE_STATUS
        if made_up or self._heard.done():
            return
        status = _status(details or "", _at_once(call.trailing_metadata()))
        self._heard.set_result(Ending(code, status.message or code.name, _delay(status)))


def _at_once(answer: Coroutine[object, None, T]) -> T:
    """What a coroutine gives that has nothing to wait for."""
    try:
        answer.send(None)
    except StopIteration as done:
        given: T = done.value
        return given
    raise AssertionError("a call that has ended knows its status")
