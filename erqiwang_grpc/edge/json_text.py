"""Messages in proto JSON, fields with their default values included.

`google.protobuf.json_format` writes the same text eight times as slowly, which is more than all else that a turn costs the
edge. Here each kind of message gets its writer once.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import _lru_cache_wrapper, cache, lru_cache
from json.encoder import encode_basestring
from typing import Final, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

from erqiwang_grpc.v1.playing_pb2 import CardsLed

_Writer: TypeAlias = Callable[..., str]
"""Gives the JSON of one value, whose type is that of its field."""

_Type: Final = FieldDescriptor
_AS_NUMBER: Final = frozenset(
    {_Type.TYPE_INT32, _Type.TYPE_SINT32, _Type.TYPE_UINT32, _Type.TYPE_FIXED32, _Type.TYPE_SFIXED32}
)
_AS_TEXT: Final = frozenset(
    {_Type.TYPE_INT64, _Type.TYPE_SINT64, _Type.TYPE_UINT64, _Type.TYPE_FIXED64, _Type.TYPE_SFIXED64}
)
"""Their numbers are written in quotes, because JavaScript's own are not exact beyond 2 to the power of 53."""


_SHARED: Final = frozenset(
    {
        f"erqiwang.v1.{name}"
        for name in ("TurnPart", "TablePart", "HistoryPart", "SettlementPart", "CardsLed", "CardsFollowed", "BidMade")
    }
)
"""Parts and causes that are the same for all seats of a table, which are told of them at the same moment. None holds a card
that is not shown to all, but for a `CardsLed` that names the throw that failed: it is told to one seat, and not remembered."""
_REMEMBERED: Final = 2_048
"""Texts that are remembered of each."""
_TEXTS: Final[dict[str, _lru_cache_wrapper[str]]] = {}
"""What remembers them, by the name of the kind."""


def written(message: Message) -> bytes:
    """The message as JSON without spaces."""
    return _of_message(message.DESCRIPTOR)(message).encode()


@cache
def _of_message(kind: Descriptor) -> _Writer:
    """The writer of a kind of message."""
    if kind is Timestamp.DESCRIPTOR:
        return _timestamp
    if kind is Duration.DESCRIPTOR:
        return _duration
    always: list[tuple[str, str, _Writer]] = []
    if_set: dict[str, tuple[str, _Writer]] = {}
    for field in kind.fields:
        key = f'"{field.json_name}":'
        if field.has_presence:
            if_set[field.name] = key, _of_one(field)
        else:
            always.append((field.name, key, _of_many(field) if field.is_repeated else _of_one(field)))
    oneofs = [each.name for each in kind.oneofs if len(each.fields) > 1]
    alone = [
        (field.name, *if_set[field.name])
        for field in kind.fields
        if field.has_presence and (field.containing_oneof is None or len(field.containing_oneof.fields) == 1)
    ]

    def write(message: Message) -> str:
        parts = [key + writer(getattr(message, name)) for name, key, writer in always]
        for name, key, writer in alone:
            if message.HasField(name):
                parts.append(key + writer(getattr(message, name)))
        for oneof in oneofs:
            name = message.WhichOneof(oneof)
            if name is not None:
                key, writer = if_set[name]
                parts.append(key + writer(getattr(message, name)))
        return "{" + ",".join(parts) + "}"

    return _remembered(kind, write) if kind.full_name in _SHARED else write


def _remembered(kind: Descriptor, write: _Writer) -> _Writer:
    """A writer that remembers what it wrote last: to put a message into bytes costs a fifth of writing it."""
    parsed = GetMessageClass(kind).FromString
    text = lru_cache(maxsize=_REMEMBERED)(lambda data: write(parsed(data)))
    _TEXTS[kind.full_name] = text
    if kind is not CardsLed.DESCRIPTOR:
        return lambda message: text(message.SerializeToString())
    return lambda led: write(led) if led.attempted else text(led.SerializeToString())


def _of_many(field: FieldDescriptor) -> _Writer:
    """The writer of a repeated field, or of a map."""
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        key, value = _of_key(kind.fields_by_name["key"]), _of_one(kind.fields_by_name["value"])

        def write_map(values: Mapping[object, object]) -> str:
            return "{" + ",".join([f"{key(name)}:{value(values[name])}" for name in values]) + "}"

        return write_map
    if field.type in _AS_NUMBER:
        return str
    one = _of_one(field)

    def write_list(values: Iterable[object]) -> str:
        return "[" + ",".join([one(value) for value in values]) + "]"

    return write_list


def _of_key(field: FieldDescriptor) -> _Writer:
    """The writer of a map's key, which is in quotes whatever its type."""
    one = _of_one(field)
    return one if field.type in _AS_TEXT or field.type == _Type.TYPE_STRING else lambda value: f'"{one(value)}"'


def _of_one(field: FieldDescriptor) -> _Writer:
    """The writer of one value of a field. Raises `TypeError` for types that no schema here has."""
    if field.message_type is not None:
        return _later(field.message_type)
    if field.enum_type is not None:
        names = {value.number: f'"{value.name}"' for value in field.enum_type.values}
        return lambda number: names.get(number) or str(number)
    if field.type in _AS_NUMBER:
        return str
    if field.type in _AS_TEXT:
        return lambda number: f'"{number}"'
    if field.type == _Type.TYPE_STRING:
        return encode_basestring
    if field.type == _Type.TYPE_BOOL:
        return lambda value: "true" if value else "false"
    if field.type == _Type.TYPE_BYTES:
        return lambda value: f'"{b64encode(value).decode()}"'
    raise TypeError(f"{field.full_name} has a type that is not written")


def _later(kind: Descriptor) -> _Writer:
    """The writer of a kind of message, made when it is first used, because kinds may hold themselves."""
    writer: _Writer | None = None

    def write(message: Message) -> str:
        nonlocal writer
        if writer is None:
            writer = _of_message(kind)
        return writer(message)

    return write


def _timestamp(time: Timestamp) -> str:
    nanos = time.nanos
    return f'"{_second(time.seconds)}{_fraction(nanos) if nanos else ""}Z"'


@lru_cache(maxsize=1_024)
def _second(seconds: int) -> str:
    return Timestamp(seconds=seconds).ToJsonString()[:-1]


def _fraction(nanos: int) -> str:
    """The fraction of a second, with 3, 6 or 9 digits, as proto JSON has it."""
    digits = f"{nanos:09d}"
    return "." + (digits[:3] if nanos % 1_000_000 == 0 else digits[:6] if nanos % 1_000 == 0 else digits)


def _duration(duration: Duration) -> str:
    return f'"{duration.ToJsonString()}"'
