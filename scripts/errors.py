"""Write docs/errors.md from the table of reasons; `--check` only compares."""

import argparse
import sys
from pathlib import Path
from typing import Final

from erqiwang_core.refusals import Code
from google.protobuf.descriptor import FieldDescriptor

from erqiwang_grpc.reasons import BARE, Reason, Retry
from erqiwang_grpc.rooms.bounds import choice_fault
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.refusals import sentence
from erqiwang_grpc.rpc.wire.status import DOMAIN
from erqiwang_grpc.v1 import refusal_pb2

PAGE: Final = Path(__file__).parents[1] / "docs" / "errors.md"
_EXAMPLE: Final = choice_fault("choice.options.deals", 7, (0, 6, 12))
_INTRODUCTION: Final = f"""# Errors

Made from `erqiwang_grpc/reasons.py` by `make generate`, and compared by `make lint`.

When this server refuses a request, or ends a call or a stream, it gives one of the reasons below. A status holds it in
`google.rpc.ErrorInfo`: `reason` is the name below, `domain` is `{DOMAIN}`. If "retry after" below has a delay, the status
also has a `google.rpc.RetryInfo`, and a `Goodbye` has its `retry_delay`. If it has two delays, the server picks a random one
between them for each client, so that not all clients come back at once.

## Refused commands

A refused command has changed nothing, with one exception: after `OUTCOME_UNKNOWN` it may stand, and only sending it again
under the same `command_id` tells. On a stream a refusal is a `Refused` message to the sender alone, and the stream stays open.
A unary call ends with the status. Its details hold the whole `Refusal`, and `metadata` of the `ErrorInfo` holds the fields of
the refusal as text. If the server knows when the same request may be sent again, as after a spent allowance, it names that time
in place of the delay below.

The member of `Refusal.reason` that is set has the name below in lower case. The column "says" lists its fields.
`code` is the packet protocol's `errcode`.

`invalid_field` names the field by its path in the request, what was given, and the least and the most that are allowed, with
their unit: the value itself, bytes of the text in UTF-8 (a Chinese character takes three), characters, items, or seconds. If
only some values are allowed, `allowed` lists them. Its message says the same:
{sentence(_EXAMPLE)}

| reason | says | code | status | retry after | when | what to do |
| --- | --- | --- | --- | --- | --- | --- |
"""
_ENDS: Final = """
## What ends a call or a stream

These reasons end the call or the stream. They do not depend on what was asked for. If the row says "goodbye", the last message of an attached seat's
stream is a `Goodbye` of that name. A client that loses the status still knows the reason from it.

| reason | goodbye | status | retry after | when | what to do |
| --- | --- | --- | --- | --- | --- |
"""
_BARE: Final = """
## What has no reason

gRPC itself ends a call with these statuses, before the server sees the call or in its place. They have no details. The services
of reflection and channelz answer as their own protocols say if they do not know what they are asked for.

| status | when | what to do |
| --- | --- | --- |
"""
_CLOSINGS: Final = frozenset(closing.value for closing in Closing)


def page() -> str:
    """The whole page, in Markdown."""
    refusals = [_refusal(why, code) for why in Reason if (code := why.value.code) is not None]
    endings = [_ending(why) for why in Reason if why.value.code is None or why in _CLOSINGS]
    bare = [f"| `{row.status.name}` | {row.when} | {row.then} |\n" for row in BARE]
    return "".join((_INTRODUCTION, *refusals, _ENDS, *endings, _BARE, *bare))


def _refusal(why: Reason, code: Code) -> str:
    row = why.value
    says = ", ".join(f"`{name}`" for name in _says(why))
    return (
        f"| `{why.name}` | {says} | {code.value} {code.name} | `{row.status.name}` | {_delay(row.retry)} "
        f"| {row.when} | {row.then} |\n"
    )


def _ending(why: Reason) -> str:
    row = why.value
    goodbye = "goodbye" if row.goodbye else ""
    return f"| `{why.name}` | {goodbye} | `{row.status.name}` | {_delay(row.retry)} | {row.when} | {row.then} |\n"


def _delay(retry: Retry | None) -> str:
    if retry is None:
        return ""
    return f"{retry.least:g} s" if retry.least == retry.most else f"{retry.least:g} to {retry.most:g} s"


def _says(why: Reason) -> list[str]:
    """The fields that a refusal has beside its reason."""
    field: FieldDescriptor = refusal_pb2.Refusal.DESCRIPTOR.fields_by_name[why.name.lower()]
    assert field.message_type is not None, "every reason is a message"
    return [each.name for each in field.message_type.fields]


def main() -> None:
    """Write the page, or with `--check` say whether it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the page is out of date")
    check: bool = parser.parse_args().check
    if not check:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/errors.md is out of date (make generate)")


if __name__ == "__main__":
    main()
