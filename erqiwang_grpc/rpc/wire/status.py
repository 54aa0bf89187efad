"""Status: the gRPC status of a call that ends without an answer."""

from collections.abc import Iterable
from math import ceil
from random import uniform
from typing import Final

from google.protobuf.any_pb2 import Any
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from erqiwang_grpc.reasons import Reason, Retry
from erqiwang_grpc.rooms.refusals import QuotaReached, Refused, TooManyCommands, reason
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.v1 import refusal_pb2
from erqiwang_grpc.v1.gateway_service_pb2 import SeatEnded

DOMAIN: Final = "erqiwang"


def refused_status(refused: Refused) -> Status:
    """The status of a refused unary call. Its details are the reason as `ErrorInfo`, and the whole refusal.

    If the same request may succeed later, a `RetryInfo` says when to try again.
    """
    why, refusal = reason(refused), encode.refusal(refused)
    retry = why.value.retry
    if isinstance(refused, TooManyCommands | QuotaReached):
        retry = Retry(refused.wait, refused.wait)
    return _status(why, refusal.message, retry, metadata(refusal), refusal)


def ended_status(why: Reason, said: str = "") -> Status:
    """The status of a call that cannot go on. `said` is a whole sentence with details, in place of the reason's own."""
    row = why.value
    return _status(why, f"{said or row.when} {row.then}", row.retry, {})


def seat_ended(status: Status) -> SeatEnded:
    """What a gateway is told of a seat whose stream on `Play` would have ended with this status."""
    info, retry = ErrorInfo(), RetryInfo()
    ended = SeatEnded(code=status.code, message=status.message)
    for detail in status.details:
        detail.Unpack(info)
        if detail.Unpack(retry):
            ended.retry_delay.CopyFrom(retry.retry_delay)
    ended.reason = info.reason
    return ended


def _status(why: Reason, message: str, retry: Retry | None, said: dict[str, str], *details: Message) -> Status:
    told: list[Message] = [ErrorInfo(reason=why.name, domain=DOMAIN, metadata=said), *details]
    if retry is not None:
        told.append(RetryInfo(retry_delay=drawn(retry)))
    return Status(code=why.value.status, message=message, details=[_packed(detail) for detail in told])


def drawn(retry: Retry) -> Duration:
    """A random delay within the bounds of `retry`, so that clients do not all come back at once."""
    delay = Duration()
    # Rounded up, because a client that comes back a moment too early would be refused again.
    delay.FromMilliseconds(ceil(1000 * uniform(retry.least, retry.most)))
    return delay


def metadata(refusal: refusal_pb2.Refusal) -> dict[str, str]:
    """The fields of a refusal as text, for a client that does not know the message.

    An enum is written as its name. Lists are included except lists of cards, which only the refusal itself holds.
    """
    member = refusal.WhichOneof("reason")
    assert member is not None, "a refusal has a reason"
    told: Message = getattr(refusal, member)
    kind = refusal_pb2.Refusal.DESCRIPTOR.fields_by_name[member].message_type
    assert kind is not None, "every reason is a message"
    return {field.name: text for field in kind.fields if (text := _text(field, getattr(told, field.name)))}


_CARDS: Final = ("legal", "compulsory")


def _text(field: FieldDescriptor, value: object) -> str:
    """The value of a field as text; empty if it is left out."""
    if field.name in _CARDS:
        return ""
    values: list[object] = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return ",".join(_name(field, each) for each in values)


def _name(field: FieldDescriptor, value: object) -> str:
    named = field.enum_type.values_by_number if field.enum_type is not None else {}
    return named[value].name if isinstance(value, int) and value in named else str(value)


def _packed(detail: Message) -> Any:
    packed = Any()
    packed.Pack(detail)
    return packed
