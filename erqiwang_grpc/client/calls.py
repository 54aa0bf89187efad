"""What unary calls answer when they are refused, and the credential that every call carries."""

from __future__ import annotations

from typing import Final, final

import grpc
from google.rpc import error_details_pb2, status_pb2

from erqiwang_grpc.v1 import refusal_pb2

DETAILS: Final = "grpc-status-details-bin"


@final
class CallRefused(Exception):
    """A unary call was refused."""

    def __init__(self, code: grpc.StatusCode, reason: str, message: str, refusal: refusal_pb2.Refusal | None) -> None:
        super().__init__(f"{reason}: {message}")
        self.code = code
        self.reason = reason
        """The reason in upper case, as in `ErrorInfo`; empty where the error is not the server's own."""
        self.refusal = refusal
        """What is wrong, with its data; None where it is no refusal of a command."""


def bearer(credential: str) -> tuple[tuple[str, str], ...]:
    """The metadata that carries a platform key or a seat token."""
    return (("authorization", f"Bearer {credential}"),)


def rich_status(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """The status with its details; without any where the server sent none."""
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS and isinstance(value, bytes):
            return status_pb2.Status.FromString(value)
    return status_pb2.Status(message=error.details() or "")


def refusal_of(error: grpc.aio.AioRpcError) -> CallRefused:
    """What a failed unary call was refused for."""
    status = rich_status(error)
    info = error_details_pb2.ErrorInfo()
    refusal = refusal_pb2.Refusal()
    is_refusal = False
    for detail in status.details:
        detail.Unpack(info)
        is_refusal = detail.Unpack(refusal) or is_refusal
    return CallRefused(error.code(), info.reason, status.message, refusal if is_refusal else None)


def retry_delay(error: grpc.aio.AioRpcError) -> float | None:
    """How many seconds the server asks to wait before trying again."""
    retry = error_details_pb2.RetryInfo()
    if any(detail.Unpack(retry) for detail in rich_status(error).details):
        return retry.retry_delay.ToMilliseconds() / 1000
    return None
