"""Java writes each message to a file of its name, and each schema to one of its own: no two may share it."""

import re

import pytest
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from erqiwang_grpc.v1 import room_service_pb2, seat_service_pb2


def files() -> dict[str, FileDescriptor]:
    """Every schema of ours."""
    found: dict[str, FileDescriptor] = {}
    waiting: list[FileDescriptor] = [room_service_pb2.DESCRIPTOR, seat_service_pb2.DESCRIPTOR]
    while waiting:
        file = waiting.pop()
        if file.name.startswith("erqiwang/v1/") and file.name not in found:
            found[file.name] = file
            waiting += file.dependencies
    return found


def written(file: FileDescriptor) -> set[str]:
    """The classes that protoc writes for what the schema declares."""
    declared = FileDescriptorProto()
    file.CopyToProto(declared)
    messages = {each.name for each in declared.message_type}
    return messages | {each.name for each in declared.enum_type} | {each.name for each in declared.service}


def outer(file: FileDescriptor) -> str:
    """The class that protoc writes for the schema itself. It gives way to what the same schema declares, and to nothing else."""
    options = file.GetOptions()
    if options.java_outer_classname:
        return str(options.java_outer_classname)
    stem = file.name.rpartition("/")[2].removesuffix(".proto")
    name = "".join(part.capitalize() for part in re.split("[_-]", stem))
    return f"{name}OuterClass" if name in written(file) else name


@pytest.mark.parametrize("name", files())
def test_a_schemas_class_is_no_message_of_another(name: str) -> None:
    others = {each for file in files().values() if file.name != name for each in (*written(file), outer(file))}
    assert outer(files()[name]) not in others
