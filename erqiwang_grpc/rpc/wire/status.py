"""Status: a refusal as what ends a unary call."""

from math import ceil
from typing import Final

from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from erqiwang_grpc.rooms.refusals import QuotaReached, Refused, TooManyCommands
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.rulings import ruling

DOMAIN: Final = "erqiwang"


def status(refused: Refused) -> Status:
    """The status of a refused unary call: its code, its reason as `ErrorInfo`, and the whole refusal as a detail.

    Where it is worth while to send the same again, a `RetryInfo` says when.
    """
    row = ruling(refused)
    number: int = row.status.value[0]
    details: list[Message] = [ErrorInfo(reason=row.reason.upper(), domain=DOMAIN), encode.refusal(refused)]
    wait = refused.wait if isinstance(refused, TooManyCommands | QuotaReached) else row.retry_after
    if wait is not None:
        # Rounded up: who comes back a moment early is refused again.
        details.append(RetryInfo(retry_delay=_duration(wait)))
    return Status(code=number, message=row.sentence, details=[_packed(detail) for detail in details])


def _duration(seconds: float) -> Duration:
    delay = Duration()
    delay.FromMilliseconds(ceil(1000 * seconds))
    return delay


def _packed(detail: Message) -> Any:
    packed = Any()
    packed.Pack(detail)
    return packed
