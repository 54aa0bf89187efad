"""The reference of the public schemas as Markdown, for the site of `make docs`: every service, message and enum.

The schemas' comments are the manual; this lays them out with numbers, types and links. It is ours, since the plugins of protoc
that write documentation do not fit: protoc-gen-doc has had no release since 2022 and needs the Go toolchain, and sabledocs makes
a site of its own, with a search of its own, which knows nothing of the other documents.
"""

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)
from grpc_tools import protoc  # type: ignore[import-untyped]  # it ships no types

PROTO: Final = Path(__file__).resolve().parents[1] / "proto"
FOLDER: Final = "erqiwang/v1"
_PACKAGE: Final = ".erqiwang.v1."
_NAME: Final = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)?)`")
# The numbers of the fields of descriptor.proto, of which the paths of comments are made.
_MESSAGES: Final = 4
_ENUMS: Final = 5
_SERVICES: Final = 6
_FIELDS: Final = 2
_NESTED: Final = 3
_NESTED_ENUMS: Final = 4
_ONEOFS: Final = 8
_VALUES: Final = 2
_METHODS: Final = 2
_HEADER: Final = 2  # The package, above which the comment on a whole file stands.

_INTRODUCTION: Final = """# API reference

Every service, message and enum of `erqiwang.v1`, made from the schemas in `proto/erqiwang/v1` and their comments. What a client
does with them: [a client in your language](../docs/languages.md). Why a call is refused: [errors](../docs/errors.md).

A field without a mark is unset, zero or empty unless it is sent. `optional` tells unset from zero, `repeated` is a list, and of the fields of a `oneof` one at most is set.

"""


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """One schema with the comments of all that it declares, by their paths."""

    file: FileDescriptorProto
    comments: dict[tuple[int, ...], str]

    @property
    def name(self) -> str:
        """The name of its page."""
        return Path(self.file.name).stem

    def comment(self, *path: int) -> str:
        """What the schema says above the element at `path`; empty if nothing."""
        return self.comments.get(path, "")


def schemas() -> list[Schema]:
    """The public schemas, sorted by name."""
    names = sorted(path.relative_to(PROTO).as_posix() for path in (PROTO / FOLDER).glob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder, "image.binpb")
        status = protoc.main(
            [
                "protoc",
                f"--proto_path={PROTO}",
                f"--proto_path={files('grpc_tools') / '_proto'}",
                f"--descriptor_set_out={image}",
                "--include_source_info",
                *names,
            ]
        )
        if status != 0:
            sys.exit(f"protoc failed with status {status}")
        found = FileDescriptorSet.FromString(image.read_bytes()).file
    # Services first: that is where a reader begins.
    return [Schema(file, _comments(file)) for file in sorted(found, key=lambda file: (not file.service, file.name))]


def _comments(file: FileDescriptorProto) -> dict[tuple[int, ...], str]:
    return {
        tuple(place.path): place.leading_comments.rstrip()
        for place in file.source_code_info.location
        if place.leading_comments
    }


def pages() -> dict[str, str]:
    """Every page by its name: `index.md`, and one for each schema."""
    found = schemas()
    links = Links(found)
    return {"index.md": _index(found, links)} | {f"{each.name}.md": _page(each, links) for each in found}


@final
class Links:
    """Where each name that the comments mention is explained."""

    def __init__(self, found: Sequence[Schema]) -> None:
        self._labels: dict[str, str] = {}
        for schema in found:
            for service in schema.file.service:
                self._labels[service.name] = label(service.name)
                for method in service.method:
                    self._labels[f"{service.name}.{method.name}"] = label(service.name, method.name)
            for name, message in _all_messages(schema.file.message_type):
                self._add(name, [field.name for field in message.field])
                for enum in message.enum_type:
                    self._add(f"{name}.{enum.name}", [value.name for value in enum.value])
            for enum in schema.file.enum_type:
                self._add(enum.name, [value.name for value in enum.value])
                self._labels |= {value.name: label(enum.name) for value in enum.value}
        # A method is called by its bare name where no message has it.
        for schema in found:
            for service in schema.file.service:
                for method in service.method:
                    self._labels.setdefault(method.name, label(service.name, method.name))
        self.refusals: Final = {
            field.name: _bare(field.type_name)
            for schema in found
            for message in schema.file.message_type
            if message.name == "Refusal"
            for field in message.field
            if field.type == FieldDescriptorProto.TYPE_MESSAGE
        }

    def _add(self, name: str, members: Sequence[str]) -> None:
        self._labels[name] = label(name)
        self._labels |= {f"{name}.{member}": label(name) for member in members}

    def to(self, name: str, *, shown: str = "") -> str:
        """A link to what `name` names; only the name if nothing here explains it."""
        target = self._labels.get(self.refusals.get(name, name))
        return f"`{shown or name}`" if target is None else f"[`{shown or name}`](#{target})"

    def woven(self, text: str) -> str:
        """`text` with a link for each name in it."""
        return _NAME.sub(lambda found: self.to(found.group(1)), text)


def label(*names: str) -> str:
    """The place of an element in the site."""
    return "api-" + "-".join(names).replace(".", "-").lower()


def _bare(type_name: str) -> str:
    return type_name.removeprefix(_PACKAGE).removeprefix(".")


def _all_messages(messages: Sequence[DescriptorProto], within: str = "") -> Iterator[tuple[str, DescriptorProto]]:
    """Every message with those inside of it, by full name. What a map is made of is left out."""
    for message in messages:
        if not message.options.map_entry:
            yield f"{within}{message.name}", message
            yield from _all_messages(message.nested_type, f"{within}{message.name}.")


def _text(comment: str) -> str:
    """A comment as paragraphs."""
    lines = (line.removeprefix(" ") for line in comment.split("\n"))
    return "\n".join(lines).strip()


def _cell(comment: str) -> str:
    """A comment as one cell of a table."""
    paragraphs = re.split(r"\n\s*\n", _text(comment))
    return "<br>".join(" ".join(each.split()) for each in paragraphs).replace("|", "\\|")


def _index(found: Sequence[Schema], links: Links) -> str:
    parts = [_INTRODUCTION]
    for schema in found:
        for service in schema.file.service:
            rows = [
                f"| {links.to(f'{service.name}.{method.name}', shown=method.name)} | {_first(schema, service, method)} |\n"
                for method in service.method
            ]
            parts += [f"## {service.name}\n\n| method | what it does |\n| --- | --- |\n", *rows, "\n"]
    named = "\n".join(schema.name for schema in found)
    return "".join((*parts, f"## Schemas\n\n```{{toctree}}\n:maxdepth: 1\n\n{named}\n```\n"))


def _first(schema: Schema, service: ServiceDescriptorProto, method: MethodDescriptorProto) -> str:
    """The first sentence of what is said of a method."""
    place = (_SERVICES, list(schema.file.service).index(service), _METHODS, list(service.method).index(method))
    return re.split(r"(?<=\.)\s", _cell(schema.comment(*place)), maxsplit=1)[0]


def _page(schema: Schema, links: Links) -> str:
    said = _text(schema.comment(_HEADER))
    parts = [f"# {schema.name}.proto\n\n{links.woven(said)}\n"]
    for place, service in enumerate(schema.file.service):
        parts += _service(schema, (_SERVICES, place), service, links)
    for place, message in enumerate(schema.file.message_type):
        parts += _message(schema, (_MESSAGES, place), message.name, message, links)
    for place, enum in enumerate(schema.file.enum_type):
        parts += _enum(schema, (_ENUMS, place), enum.name, enum, links)
    return "\n".join(parts)


def _service(schema: Schema, path: tuple[int, ...], service: ServiceDescriptorProto, links: Links) -> Iterator[str]:
    yield f"({label(service.name)})=\n## service {service.name}\n\n{links.woven(_text(schema.comment(*path)))}\n"
    for place, method in enumerate(service.method):
        said = _text(schema.comment(*path, _METHODS, place))
        takes, gives = (links.to(_bare(each)) for each in (method.input_type, method.output_type))
        takes, gives = ("stream " * method.client_streaming + takes, "stream " * method.server_streaming + gives)
        yield f"({label(service.name, method.name)})=\n### {service.name}.{method.name}\n\n{takes} → {gives}\n"
        yield f"{links.woven(said)}\n"
        if named := [name for name in _NAME.findall(said) if name in links.refusals]:
            yield f"Refusals named here: {', '.join(links.to(name) for name in dict.fromkeys(named))}.\n"


def _message(schema: Schema, path: tuple[int, ...], name: str, message: DescriptorProto, links: Links) -> Iterator[str]:
    yield f"({label(name)})=\n## {name}\n\n{links.woven(_text(schema.comment(*path)))}\n"
    for place, oneof in enumerate(message.oneof_decl):
        if said := schema.comment(*path, _ONEOFS, place):
            yield f"The oneof `{oneof.name}`: {links.woven(_text(said))}\n"
    if message.field:
        yield "| number | field | type | |\n| --- | --- | --- | --- |\n" + "".join(
            f"| {field.number} | `{field.name}` | {_type(message, field, links)} "
            f"| {links.woven(_cell(schema.comment(*path, _FIELDS, place)))} |\n"
            for place, field in enumerate(message.field)
        )
    else:
        yield "It has no fields.\n"
    for place, nested in enumerate(message.nested_type):
        if not nested.options.map_entry:
            yield from _message(schema, (*path, _NESTED, place), f"{name}.{nested.name}", nested, links)
    for place, enum in enumerate(message.enum_type):
        yield from _enum(schema, (*path, _NESTED_ENUMS, place), f"{name}.{enum.name}", enum, links)


def _type(message: DescriptorProto, field: FieldDescriptorProto, links: Links) -> str:
    entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
    if entry := entries.get(field.type_name.rpartition(".")[2]):
        key, value = (_plain_type(each, links) for each in entry.field)
        return f"map of {key} to {value}"
    marks = ""
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        marks = "repeated "
    elif field.proto3_optional:
        marks = "optional "
    elif field.HasField("oneof_index"):
        marks = f"oneof `{message.oneof_decl[field.oneof_index].name}`: "
    return marks + _plain_type(field, links)


def _plain_type(field: FieldDescriptorProto, links: Links) -> str:
    if field.type in (FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_ENUM):
        return links.to(_bare(field.type_name))
    return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()


def _enum(schema: Schema, path: tuple[int, ...], name: str, enum: EnumDescriptorProto, links: Links) -> Iterator[str]:
    yield f"({label(name)})=\n## enum {name}\n\n{links.woven(_text(schema.comment(*path)))}\n"
    yield "| number | value | |\n| --- | --- | --- |\n" + "".join(
        f"| {value.number} | `{value.name}` | {links.woven(_cell(schema.comment(*path, _VALUES, place)))} |\n"
        for place, value in enumerate(enum.value)
    )
