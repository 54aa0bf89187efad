"""The reference of the schemas: everything that they declare is in it, with its number, its comment and its links."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Final

import pytest
from google.protobuf.descriptor import Descriptor, FileDescriptor

from scripts.api_reference import label, pages, schemas

PAGES: Final = pages()
WHOLE: Final = "\n".join(PAGES.values())
FILES: Final[list[FileDescriptor]] = [
    import_module(f"erqiwang_grpc.v1.{schema.name}_pb2").DESCRIPTOR for schema in schemas()
]


def messages(file: FileDescriptor) -> Iterator[Descriptor]:
    waiting = list(file.message_types_by_name.values())
    while waiting:
        message = waiting.pop()
        if not message.GetOptions().map_entry:
            yield message
            waiting += message.nested_types


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_all_that_a_schema_declares_is_on_its_page(file: FileDescriptor) -> None:
    page = PAGES[f"{file.name.split('/')[-1].removesuffix('.proto')}.md"]
    enums = list(file.enum_types_by_name.values())
    for message in messages(file):
        name = message.full_name.removeprefix("erqiwang.v1.")
        _, _, below = page.partition(f"\n## {name}\n")
        table, _, _ = below.partition("\n## ")
        assert below, name
        for field in message.fields:
            assert f"| {field.number} | `{field.name}` | " in table, f"{name}.{field.name}"
        enums += message.enum_types
    for enum in enums:
        _, _, below = page.partition(f"\n## enum {enum.full_name.removeprefix('erqiwang.v1.')}\n")
        for value in enum.values:
            assert f"| {value.number} | `{value.name}` | " in below.partition("\n## ")[0], value.name
    for service in file.services_by_name.values():
        for method in service.methods:
            assert f"\n### {service.name}.{method.name}\n" in page
            assert f"[`{method.name}`](#{label(service.name, method.name)})" in PAGES["index.md"]


def test_every_comment_is_there() -> None:
    """Word by word, without what makes links and paragraphs of them."""

    def words(text: str) -> str:
        text = re.sub(r"\[(`[^`]+`)\]\(#[^)]+\)", r"\1", text).replace("<br>", " ").replace("\\|", "|")
        return " ".join(text.split())

    whole = words(WHOLE)
    # 8 is an option of a file, which concerns the code that is generated.
    said = [comment for schema in schemas() for path, comment in schema.comments.items() if path[0] != 8]
    assert len(said) > 300
    for comment in said:
        assert words(comment) in whole


def test_links_lead_to_what_they_name() -> None:
    labels = set(re.findall(r"^\(([^)]+)\)=$", WHOLE, re.MULTILINE))
    assert set(re.findall(r"\]\(#([^)]+)\)", WHOLE)) <= labels
    assert "| 2 | `view` | [`View`](#api-view) |" in PAGES["seat_service.md"]
    assert "[`command_id_reused`](#api-refusal-commandidreused)" in PAGES["seat_service.md"], (
        "a refusal leads to its message"
    )
    assert "[`PlayRequest.command_id`](#api-playrequest)" in PAGES["seat_service.md"]


def test_a_method_says_how_it_is_called_and_which_refusals_its_comment_names() -> None:
    _, _, below = PAGES["room_service.md"].partition("\n### RoomService.LeaveSeat\n")
    method, _, _ = below.partition("\n### ")
    assert "[`LeaveSeatRequest`](#api-leaveseatrequest) → [`LeaveSeatResponse`](#api-leaveseatresponse)" in method
    named = re.search(r"Refusals named here: (.*)\.", method)
    assert named is not None
    assert re.findall(r"`(\w+)`", named.group(1)) == ["wrong_phase", "seat_free", "no_such_seat"]
    assert "stream [`PlayRequest`]" in PAGES["seat_service.md"]


@pytest.mark.parametrize(
    ("row", "type_"),
    [
        ("| 18 | `labels` |", "map of string to string"),
        ("| 1 | `last_version` |", "optional uint64"),
        ("| 8 | `totals` |", "repeated sint32"),
        ("| 3 | `attach` |", "oneof `request`: [`Attach`](#api-attach)"),
    ],
)
def test_a_field_has_its_type(row: str, type_: str) -> None:
    assert re.search(re.escape(f"{row} {type_}"), WHOLE)
