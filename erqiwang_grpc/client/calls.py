"""How calls end: what a unary call was refused for, how a stream ended, and the credential that every call carries."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, TypeVar, final

import grpc
from google.rpc import error_details_pb2, status_pb2

from erqiwang_grpc.v1 import refusal_pb2

DETAILS: Final = "grpc-status-details-bin"
_IN_PLACE_OF_THE_STATUS: Final = "Internal error from Core"
_LOOKS: Final = 100
_LOOK_SECONDS: Final = 0.01

Q = TypeVar("Q")
R = TypeVar("R")


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
    ) -> None:
        super().__init__(f"{reason}: {message}" if reason else message)
        self.code = code
        self.reason = reason
        """The reason in upper case, as in `ErrorInfo`; empty where the error is not the server's own."""
        self.refusal = refusal
        """What is wrong, with its data; None where it is no refusal of a command."""
        self.command_id = command_id
        """The id that the command had: call again with it, and it is the same command. Empty for a question."""


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """How a stream ended."""

    code: grpc.StatusCode
    why: str
    retry_delay: float | None
    """Seconds that the server asks to wait before trying again."""


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
    return CallRefused(error.code(), info.reason, status.message, refusal if is_refusal else None, command_id)


def retry_delay(error: grpc.aio.AioRpcError) -> float | None:
    """How many seconds the server asks to wait before trying again."""
    return _delay(rich_status(error))


def _delay(status: status_pb2.Status) -> float | None:
    retry = error_details_pb2.RetryInfo()
    if any(detail.Unpack(retry) for detail in status.details):
        return retry.retry_delay.ToMilliseconds() / 1000
    return None


async def ending(call: grpc.aio.StreamStreamCall[Q, R]) -> Ending:
    """How a stream ended that was read to its end.

    Where a write met the end of the call, grpcio puts INTERNAL in the place of the status. What the server really said
    follows a moment later and replaces it. Nothing rings then, so that it has to be looked for.
    """
    for _ in range(_LOOKS):
        if await call.code() is not grpc.StatusCode.INTERNAL or await call.details() != _IN_PLACE_OF_THE_STATUS:
            break
        await asyncio.sleep(_LOOK_SECONDS)
    code, status = await call.code(), _status(await call.details() or "", await call.trailing_metadata())
    return Ending(code, status.message or code.name, _delay(status))
