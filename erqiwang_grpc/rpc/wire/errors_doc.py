"""The page of all errors, made from the one table of them: `python -m erqiwang_grpc.rpc.wire.errors_doc > docs/errors.md`."""

import sys
from typing import Final

from google.protobuf.descriptor import FieldDescriptor

from erqiwang_grpc.rooms.bounds import choice_fault
from erqiwang_grpc.rpc.wire.rulings import RULINGS, Ruling, sentence
from erqiwang_grpc.rpc.wire.status import DOMAIN
from erqiwang_grpc.v1 import refusal_pb2

_EXAMPLE: Final = choice_fault("choice.options.deals", 7, (0, 6, 12))
_INTRODUCTION: Final = f"""# Errors

Made from `erqiwang_grpc/rpc/wire/rulings.py` by `python -m erqiwang_grpc.rpc.wire.errors_doc`; a test compares.

A refused command has changed nothing, with one exception: of `outcome_unknown` only sending it again tells. On a stream it is answered by a `Refused` message to its sender alone, and the
stream stays open. A unary call ends with the status below; among its details are `google.rpc.ErrorInfo` (`reason` is the
name below in upper case, `domain` is `{DOMAIN}`, `metadata` is what the reason says, as text), the whole `Refusal`, and,
where the same command may well stand later, `google.rpc.RetryInfo`. Where the server knows when it will, as with a spent
allowance, that says so instead of the usual delay below.

`reason` is the member of `Refusal.reason` that is set, a message whose fields are named under "says". `code` is the packet
protocol's `errcode`.

`invalid_field` names the field by its path in the request, what was given, and the least and the most that are taken, in a
unit: the value itself, bytes of the text in UTF-8 (not characters: a Chinese one takes three), items, or seconds. Where only some
values are taken, `allowed` lists them. Its message says the same:
{sentence(_EXAMPLE)}

| reason | says | code | status | retry after | meaning |
| --- | --- | --- | --- | --- | --- |
"""

_ENDINGS: Final = """
What ends a stream or a call without a refusal; `ErrorInfo` holds the same reason:

| reason | status | why | what to do |
| --- | --- | --- | --- |
| `CREDENTIAL_MISSING` | `UNAUTHENTICATED` | the call has no `authorization` | send `authorization: Bearer <key or token>` |
| `CREDENTIAL_MALFORMED` | `UNAUTHENTICATED` | `authorization` holds no platform key, or no seat token, whichever the rpc takes | look at what is sent: cut short, or the other of the two |
| `CREDENTIAL_WRONG` | `UNAUTHENTICATED` | a key or token that this server never gave out, or takes no more | get a new one |
| `CREDENTIAL_EXPIRED` | `UNAUTHENTICATED` | the seat token has come to its end | ask the platform for a fresh one |
| `UNSEATED` | `UNAUTHENTICATED` | the seat was left, or taken again with a fresh token | use the fresh token |
| `DISPLACED` | `ABORTED` | a newer stream of the same seat has taken over | leave it: do not reconnect by yourself |
| `DRAINING` | `UNAVAILABLE` | the server is leaving | reconnect after the delay it names |
| `NOT_ATTACHED` | `INVALID_ARGUMENT` | the stream did not begin with `Attach` | mend the client |
| `MALFORMED` | `INVALID_ARGUMENT` | what was sent on the stream is no message of this protocol | mend the client |
| `TOO_MANY_COMMANDS` | `RESOURCE_EXHAUSTED` | a stream was sent more than the seat's allowance for 10 seconds | reconnect after the delay it names, and send less |
| `TOO_MANY_STREAMS` | `RESOURCE_EXHAUSTED` | the server holds as many streams as it takes, of all seats or of this one | reconnect after the delay it names |
| | `UNKNOWN` | what was sent in a unary call is no message of this protocol | mend the client |
| | `RESOURCE_EXHAUSTED` | a message is longer than the server takes | mend the client |
| `FAILED` | `INTERNAL` | an error of the server outside of any command; nothing is lost | try again, and tell the operator |
"""


def page() -> str:
    """The whole page, in Markdown."""
    return _INTRODUCTION + "".join(_row(row) for row in RULINGS.values()) + _ENDINGS


def _row(row: Ruling) -> str:
    code = f"{row.code.value} {row.code.name}"
    wait = "" if row.retry_after is None else f"{row.retry_after} s"
    told = ", ".join(f"`{name}`" for name in _told(row.reason))
    return f"| `{row.reason}` | {told} | {code} | `{row.status.name}` | {wait} | {row.sentence} |\n"


def _told(reason: str) -> list[str]:
    """What a refusal says beside its reason: the fields of its message."""
    field: FieldDescriptor = refusal_pb2.Refusal.DESCRIPTOR.fields_by_name[reason]
    assert field.message_type is not None, "every reason is a message"
    return [each.name for each in field.message_type.fields]


if __name__ == "__main__":
    sys.stdout.write(page())
