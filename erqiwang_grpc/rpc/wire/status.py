"""Status: a refusal as what ends a unary call."""

from collections.abc import Iterable
from math import ceil
from typing import Final

from google.protobuf.any_pb2 import Any
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from erqiwang_grpc.rooms.refusals import QuotaReached, Refused, TooManyCommands
from erqiwang_grpc.rpc.wire import encode
from erqiwang_grpc.rpc.wire.rulings import ruling
from erqiwang_grpc.v1 import refusal_pb2

DOMAIN: Final = "erqiwang"


def status(refused: Refused) -> Status:
    """The status of a refused unary call: its code, its reason as `ErrorInfo`, and the whole refusal as a detail.

    Where it is worth while to send the same again, a `RetryInfo` says when.
    """
    row = ruling(refused)
    number: int = row.status.value[0]
    refusal = encode.refusal(refused)
    info = ErrorInfo(reason=row.reason.upper(), domain=DOMAIN, metadata=metadata(refusal))
    details: list[Message] = [info, refusal]
    wait = refused.wait if isinstance(refused, TooManyCommands | QuotaReached) else row.retry_after
    if wait is not None:
        # Rounded up: who comes back a moment early is refused again.
        details.append(RetryInfo(retry_delay=_duration(wait)))
    return Status(code=number, message=refusal.message, details=[_packed(detail) for detail in details])


def metadata(refusal: refusal_pb2.Refusal) -> dict[str, str]:
    """What a refusal says beside its reason, as text, for a client that does not know the message.

    An enum is told by its name. Lists are told but for cards, of which the refusal itself tells.
    """
    reason = refusal.WhichOneof("reason")
    assert reason is not None, "a refusal has a reason"
    told: Message = getattr(refusal, reason)
    kind = refusal_pb2.Refusal.DESCRIPTOR.fields_by_name[reason].message_type
    assert kind is not None, "every reason is a message"
    return {field.name: text for field in kind.fields if (text := _text(field, getattr(told, field.name)))}


_CARDS: Final = ("legal", "compulsory")


def _text(field: FieldDescriptor, value: object) -> str:
    """The value of a field as text; empty for what is not told."""
    if field.name in _CARDS:
        return ""
    values: list[object] = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    return ",".join(_name(field, each) for each in values)


def _name(field: FieldDescriptor, value: object) -> str:
    named = field.enum_type.values_by_number if field.enum_type is not None else {}
    return named[value].name if isinstance(value, int) and value in named else str(value)


def _duration(seconds: float) -> Duration:
    delay = Duration()
    delay.FromMilliseconds(ceil(1000 * seconds))
    return delay


def _packed(detail: Message) -> Any:
    packed = Any()
    packed.Pack(detail)
    return packed
