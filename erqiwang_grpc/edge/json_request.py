"""Requests in proto JSON: read, or refused with the field that is wrong."""

from dataclasses import dataclass
from typing import Final, final

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.message_factory import GetMessageClass

from erqiwang_grpc.edge.strict_json import loaded
from erqiwang_grpc.v1 import refusal_pb2, seat_service_pb2 as pb

_LONGEST: Final = 100
"""Characters of a wrong field's path that are sent back."""


@final
@dataclass(frozen=True, slots=True)
class NotJson:
    """It is no JSON."""


@final
@dataclass(frozen=True, slots=True)
class WrongField:
    """It is JSON, and no request."""

    command_id: str
    """The command's id, if it can be read."""
    field: str
    """The path of the field that is wrong, such as `command.bid.pionts`; empty if the whole is."""
    why: str
    """The end of a sentence that begins with the field."""

    @property
    def refusal(self) -> refusal_pb2.Refusal:
        """The refusal of it."""
        field = self.field[:_LONGEST]
        return refusal_pb2.Refusal(
            code=refusal_pb2.CODE_PARAM,
            message=f"`{field}` {self.why}." if field else f"The message {self.why}.",
            invalid_field=refusal_pb2.Refusal.InvalidField(field=field),
        )


def play_request(text: str) -> pb.PlayRequest | NotJson | WrongField:
    """The request of a text frame."""
    try:
        value = loaded(text)
    except ValueError:
        return NotJson()
    if not isinstance(value, dict):
        return WrongField("", "", "is no object")
    broken = _broken_text(value)
    if broken is not None:
        return WrongField(_command_id(value), _printable(broken), "holds half a surrogate pair, which is no character")
    try:
        return json_format.ParseDict(value, pb.PlayRequest())
    except json_format.ParseError:
        return WrongField(_command_id(value), *_fault(pb.PlayRequest.DESCRIPTOR, value, ""))


def _command_id(value: dict[str, object]) -> str:
    """The id of a command that cannot be read whole; empty if it cannot be read either."""
    command_id = value.get("commandId", value.get("command_id"))
    return command_id if isinstance(command_id, str) and command_id.isascii() and len(command_id) <= 64 else ""


def _broken_text(value: dict[str, object]) -> str | None:
    """The path of a key or text with half a surrogate pair; None if there is none.

    JSON can write such a text as an escape. UTF-8 cannot, and protobuf does not refuse it everywhere: it raises a
    `SystemError`, or the message cannot be encoded later.
    """
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        path, held = waiting.pop()
        if isinstance(held, dict):
            for key, inner in held.items():
                here = f"{path}.{key}" if path else key
                waiting += [(here, key), (here, inner)]
        elif isinstance(held, list):
            waiting += [(path, inner) for inner in held]
        elif isinstance(held, str) and not _is_encodable(held):
            return path
    return None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fault(message: Descriptor, value: dict[str, object], path: str) -> tuple[str, str]:
    """The path of the first field that is wrong in an object which cannot be parsed, and what is wrong with it."""
    fields = {name: field for field in message.fields for name in (field.name, field.json_name)}
    for name, given in value.items():
        here = f"{path}.{name}" if path else name
        field = fields.get(name)
        if field is None:
            return _printable(here), f"is no field of {message.name}"
        try:
            json_format.ParseDict({name: given}, GetMessageClass(message)())
        except json_format.ParseError:
            inner = field.message_type
            if inner is not None and isinstance(given, dict) and inner.full_name.startswith("erqiwang."):
                return _fault(inner, given, here)
            return here, "has a value that it cannot have"
    return path, "has several fields set of which only one may be"


def _printable(path: str) -> str:
    return path.encode("ascii", "backslashreplace").decode() if not path.isprintable() else path
