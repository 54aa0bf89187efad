"""Write the types of the table page's messages from the schemas; `--check` only compares.

They describe proto JSON written with default values: a field without presence is always there, one with presence may be
missing, and of a oneof at most one member is there.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from erqiwang_grpc.v1 import record_pb2, seat_service_pb2 as pb

WRITTEN: Final = Path(__file__).resolve().parent.parent / "erqiwang_grpc" / "edge" / "page" / "files" / "messages.d.ts"
ROOTS: Final = (pb.PlayRequest.DESCRIPTOR, pb.PlayResponse.DESCRIPTOR, record_pb2.MatchRecord.DESCRIPTOR)
"""The messages that the page sends, receives and reads from files. Those they are made of follow."""
WELL_KNOWN: Final = {
    "google.protobuf.Timestamp": ("string", "A moment, as RFC 3339 writes it."),
    "google.protobuf.Duration": ("string", "Seconds with an `s` behind them."),
}
SCALARS: Final = {
    FieldDescriptor.TYPE_BOOL: "boolean",
    FieldDescriptor.TYPE_BYTES: "string",
    FieldDescriptor.TYPE_INT64: "string",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_UINT64: "string",
    FieldDescriptor.TYPE_INT32: "number",
    FieldDescriptor.TYPE_SINT32: "number",
    FieldDescriptor.TYPE_UINT32: "number",
}
HEAD: Final = """\
// The messages as proto JSON with default values. Generated from the schemas by scripts/page_types.py: do not edit.
// 64-bit numbers and bytes (base64) are text.
"""


def name(of: Descriptor | EnumDescriptor) -> str:
    """The name of a type: that of a nested message after the message around it, as in `RefusalBreach`."""
    return of.full_name.removeprefix("erqiwang.v1.").replace(".", "")


def reached() -> dict[str, Descriptor | EnumDescriptor]:
    """Every type that the roots are made of, by name, in the order in which they are met."""
    found: dict[str, Descriptor | EnumDescriptor] = {}
    waiting = list(ROOTS)
    while waiting:
        message = waiting.pop(0)
        if message.full_name in WELL_KNOWN or name(message) in found:
            continue
        found[name(message)] = message
        for field in message.fields:
            if field.enum_type is not None:
                found[name(field.enum_type)] = field.enum_type
            elif field.message_type is not None:
                waiting.append(field.message_type)
    return found


def single(field: FieldDescriptor) -> str:
    """The type of one value of a field."""
    if field.enum_type is not None:
        return name(field.enum_type)
    if field.message_type is not None:
        known = WELL_KNOWN.get(field.message_type.full_name)
        return name(field.message_type) if known is None else known[0]
    return SCALARS[field.type]


def line(field: FieldDescriptor) -> str:
    """One member of an interface."""
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return f"  {field.json_name}: Record<string, {single(field.message_type.fields_by_name['value'])}>;"
    if field.is_repeated:
        return f"  {field.json_name}: {single(field)}[];"
    return f"  {field.json_name}{'?' if field.has_presence else ''}: {single(field)};"


def written(of: Descriptor | EnumDescriptor) -> Iterator[str]:
    """The lines of one type."""
    if isinstance(of, EnumDescriptor):
        yield f"export type {name(of)} ="
        yield "\n".join(f'  | "{value.name}"' for value in of.values) + ";"
    elif not of.fields:
        yield f"export type {name(of)} = Record<string, never>;"
    elif not of.GetOptions().map_entry:
        yield f"export interface {name(of)} {{"
        yield from (line(field) for field in of.fields)
        yield "}"


def text() -> str:
    """The whole file."""
    blocks = ["\n".join(written(each)) for each in reached().values()]
    return "\n".join([HEAD, "\n\n".join(block for block in blocks if block), ""])


def main() -> None:
    """Write the file, or with `--check` say whether it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the file is out of date")
    if parser.parse_args().check:
        if not WRITTEN.exists() or WRITTEN.read_text(encoding="utf-8") != text():
            sys.exit(f"{WRITTEN.name} of the table page is out of date (make generate)")
        return
    WRITTEN.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
