"""The page of all errors, made from the one table of them: `python -m erqiwang_grpc.rpc.wire.errors_doc > docs/errors.md`."""

import sys
from typing import Final

from google.protobuf.descriptor import FieldDescriptor

from erqiwang_grpc.rpc.wire.rulings import RULINGS, Ruling
from erqiwang_grpc.rpc.wire.status import DOMAIN
from erqiwang_grpc.v1 import refusal_pb2

_INTRODUCTION: Final = f"""# Errors

Made from `erqiwang_grpc/rpc/wire/rulings.py` by `python -m erqiwang_grpc.rpc.wire.errors_doc`; a test compares.

A refused command has changed nothing, with one exception: of `outcome_unknown` only sending it again tells. On a stream it is answered by a `Refused` message to its sender alone, and the
stream stays open. A unary call ends with the status below; among its details are `google.rpc.ErrorInfo` (`reason` is the
name below in upper case, `domain` is `{DOMAIN}`), the whole `Refusal`, and, where the same command may well stand later,
`google.rpc.RetryInfo`.

`reason` is the member of `Refusal.reason` that is set. `code` is the packet protocol's `errcode`.

| reason | says | code | status | retry after | meaning |
| --- | --- | --- | --- | --- | --- |
"""

_ENDINGS: Final = """
What ends a stream or a call without a refusal; `ErrorInfo` names it likewise:

| reason | status | why | what to do |
| --- | --- | --- | --- |
| `UNAUTHENTICATED` | `UNAUTHENTICATED` | no key or token, or one that is not good | get a new one |
| `UNSEATED` | `UNAUTHENTICATED` | the seat was left, or taken anew with a fresh token | use the fresh token |
| `DISPLACED` | `ABORTED` | a newer stream of the same seat has taken over | leave it: do not reconnect by yourself |
| `DRAINING` | `UNAVAILABLE` | the server is leaving | reconnect after the delay it names |
| `NOT_ATTACHED` | `INVALID_ARGUMENT` | the stream did not begin with `Attach` | mend the client |
| `MALFORMED` | `INVALID_ARGUMENT` | what was sent on the stream is no message of this protocol | mend the client |
| `TOO_MANY_STREAMS` | `RESOURCE_EXHAUSTED` | the server holds as many streams as it takes, of all seats or of this one | reconnect after the delay it names |
| | `UNKNOWN` | what was sent in a unary call is no message of this protocol | mend the client |
| | `RESOURCE_EXHAUSTED` | a message is longer than the server takes | mend the client |
| `FAILED` | `INTERNAL` | an error of the server outside of any command; nothing is lost | try again, and tell whoever runs it |
"""


def page() -> str:
    """The whole page, in Markdown."""
    return _INTRODUCTION + "".join(_row(kind, row) for kind, row in RULINGS.items()) + _ENDINGS


def _row(kind: type[object], row: Ruling) -> str:
    code = f"{row.code.value} {row.code.name}"
    wait = "" if row.retry_after is None else f"{row.retry_after} s"
    told = ", ".join(f"`{name}`" for name in _told(kind, row.reason))
    return f"| `{row.reason}` | {told} | {code} | `{row.status.name}` | {wait} | {row.sentence} |\n"


def _told(kind: type[object], reason: str) -> list[str]:
    """What a refusal says beside its reason: the fields of its message, or what its one value is called."""
    field: FieldDescriptor = refusal_pb2.Refusal.DESCRIPTOR.fields_by_name[reason]
    return (
        list(kind.__annotations__) if field.message_type is None else [each.name for each in field.message_type.fields]
    )


if __name__ == "__main__":
    sys.stdout.write(page())
