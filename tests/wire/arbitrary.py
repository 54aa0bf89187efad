"""Any message of a type: every field set or not, to anything that it can hold."""

from typing import TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import Default
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

M = TypeVar("M", bound=Message)

_NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32: st.integers(-5, 130) | st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-5, 130) | st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, 130) | st.integers(0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, 130) | st.integers(0, 2**64 - 1),
    # An enum is open: a newer sender may know values that are not known here.
    FieldDescriptor.CPPTYPE_ENUM: st.integers(0, 8) | st.integers(-(2**31), 2**31 - 1),
}


def messages(kind: type[M]) -> st.SearchStrategy[M]:
    """Any message of that type."""
    return _fields(Default().FindMessageTypeByName(kind.DESCRIPTOR.full_name)).map(lambda fields: kind(**fields))


def _fields(of: Descriptor) -> st.SearchStrategy[dict[str, object]]:
    """Values for some of the fields; of a oneof the last that is given counts."""
    return st.fixed_dictionaries({}, optional={field.name: _values(field) for field in of.fields})


def _values(field: FieldDescriptor) -> st.SearchStrategy[object]:
    one = _value(field)
    return st.lists(one, max_size=4) if field.is_repeated else one


def _value(field: FieldDescriptor) -> st.SearchStrategy[object]:
    if field.message_type is not None:
        kind = GetMessageClass(field.message_type)
        return _fields(field.message_type).map(lambda fields: kind(**fields))
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=12) | st.lists(st.integers(0, 107), max_size=8, unique=True).map(sorted).map(bytes)
    if field.type == FieldDescriptor.TYPE_STRING:
        return st.text(max_size=8)
    return _NUMBERS[field.cpp_type]
