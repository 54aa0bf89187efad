"""Write docs/errors.md and docs/errors.zh.md from the table of reasons; `--check` only compares.

The sentences of the Chinese page are in errors.zh.toml, each beside the English one that it translates. So a sentence of the table
that is new or has changed has no Chinese, and neither page is written until it has.
"""

import argparse
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from erqiwang_core.refusals import Code
from google.protobuf.descriptor import FieldDescriptor

from erqiwang_grpc.reasons import BARE, Reason, Retry
from erqiwang_grpc.rooms.bounds import choice_fault
from erqiwang_grpc.rooms.closing import Closing
from erqiwang_grpc.rooms.refusals import sentence
from erqiwang_grpc.rpc.wire.status import DOMAIN
from erqiwang_grpc.v1 import refusal_pb2

DOCUMENTS: Final = Path(__file__).parents[1] / "docs"
CHINESE: Final = Path(__file__).with_name("errors.zh.toml")
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
_INTRODUCTION_ZH: Final = f"""# 错误

由 `make generate` 从 `erqiwang_grpc/reasons.py` 和 `scripts/errors.zh.toml` 生成，`make lint` 会比对。英文版内容相同：[errors.md](errors.md)。

服务器拒绝请求，或者结束一次调用、一条流时，给出下列原因之一。状态在 `google.rpc.ErrorInfo` 里带着它：`reason` 是下面的名字，`domain` 是 `{DOMAIN}`。
“多久再试”一栏有时间的，状态里还有 `google.rpc.RetryInfo`，`Goodbye` 里有 `retry_delay`。写着两个时间的，服务器为每个客户端在两者之间随机取一个，免得所有客户端同时回来。

## 被拒绝的命令

被拒绝的命令什么都没有改变，只有一个例外：`OUTCOME_UNKNOWN` 之后命令可能已经生效，要用同一个 `command_id` 再发一次才知道。在流上，拒绝是只回给发送者的一条 `Refused`，
流不断开。一元调用以状态结束，状态的 details 里有整个 `Refusal`，`ErrorInfo` 的 `metadata` 以文本给出其中的各个字段。服务器知道同样的请求什么时候可以再发时（例如限额用完了），
给出的是那个时间，而不是下面的时间。

`Refusal.reason` 里设了的那个成员，名字就是下面名字的小写。“带有”一栏列出它的字段。`code` 是数据包协议的 `errcode`。

`invalid_field` 写明字段在请求里的路径、给的是什么、允许的最小值和最大值，以及它们的单位：数值本身、文本的 UTF-8 字节数（一个汉字三个字节）、字符数、项数，或者秒。
只允许某几个值时，`allowed` 逐个列出。它的文字说的是同样的事，例如：{sentence(_EXAMPLE)}

| 原因 | 带有 | code | 状态 | 多久再试 | 发生了什么 | 该怎么办 |
| --- | --- | --- | --- | --- | --- | --- |
"""
_ENDS_ZH: Final = """
## 什么会结束调用或流

下列原因结束整个调用或流，与请求的内容无关。写着“有”的，座位的流在结束之前收到的最后一条消息是同名的 `Goodbye`：丢了状态的客户端也能由此知道原因。

| 原因 | 告别 | 状态 | 多久再试 | 发生了什么 | 该怎么办 |
| --- | --- | --- | --- | --- | --- |
"""
_BARE_ZH: Final = """
## 没有原因的状态

下列状态由 gRPC 自己发出：在服务器看到调用之前，或者代替服务器。它们没有 details。反射和 channelz 两个服务遇到不认识的内容，按各自的协议回答。

| 状态 | 发生了什么 | 该怎么办 |
| --- | --- | --- |
"""


@final
@dataclass(frozen=True, slots=True)
class Language:
    """What the page says around the table of reasons, and how it says a sentence of the table."""

    file: str
    introduction: str
    ends: str
    bare: str
    goodbye: str
    delay: str
    between: str
    sentences: dict[str, str] | None = None
    """The sentences of the table, translated; None leaves them as they are."""

    def says(self, sentence: str) -> str:
        """A sentence of the table in this language."""
        return sentence if self.sentences is None else self.sentences[sentence]


ENGLISH: Final = Language("errors.md", _INTRODUCTION, _ENDS, _BARE, "goodbye", "{} s", "{} to {} s")


def chinese() -> Language:
    """The Chinese page, or an end of the program that names what is not translated or no longer said."""
    sentences: dict[str, str] = tomllib.loads(CHINESE.read_text(encoding="utf-8"))
    if faults := differing(sentences):
        sys.exit("\n  ".join([f"scripts/{CHINESE.name} and erqiwang_grpc/reasons.py differ:", *faults]))
    return Language("errors.zh.md", _INTRODUCTION_ZH, _ENDS_ZH, _BARE_ZH, "有", "{} 秒", "{} 到 {} 秒", sentences)


def differing(sentences: dict[str, str]) -> list[str]:
    """What the table says and these translations do not have, and what they have and the table does not say."""
    said = {text for why in Reason for text in (why.value.when, why.value.then)}
    said |= {text for row in BARE for text in (row.when, row.then)}
    faults = [f"has no Chinese: {text}" for text in sorted(said - sentences.keys())]
    return faults + [f"is not said any more: {text}" for text in sorted(sentences.keys() - said)]


def page(language: Language) -> str:
    """The whole page, in Markdown."""
    refusals = [_refusal(language, why, code) for why in Reason if (code := why.value.code) is not None]
    endings = [_ending(language, why) for why in Reason if why.value.code is None or why in _CLOSINGS]
    bare = [f"| `{row.status.name}` | {language.says(row.when)} | {language.says(row.then)} |\n" for row in BARE]
    return "".join((language.introduction, *refusals, language.ends, *endings, language.bare, *bare))


def _refusal(language: Language, why: Reason, code: Code) -> str:
    row = why.value
    says = ", ".join(f"`{name}`" for name in _says(why))
    return (
        f"| `{why.name}` | {says} | {code.value} {code.name} | `{row.status.name}` | {_delay(language, row.retry)} "
        f"| {language.says(row.when)} | {language.says(row.then)} |\n"
    )


def _ending(language: Language, why: Reason) -> str:
    row = why.value
    goodbye = language.goodbye if row.goodbye else ""
    return (
        f"| `{why.name}` | {goodbye} | `{row.status.name}` | {_delay(language, row.retry)} "
        f"| {language.says(row.when)} | {language.says(row.then)} |\n"
    )


def _delay(language: Language, retry: Retry | None) -> str:
    if retry is None:
        return ""
    if retry.least == retry.most:
        return language.delay.format(f"{retry.least:g}")
    return language.between.format(f"{retry.least:g}", f"{retry.most:g}")


def _says(why: Reason) -> list[str]:
    """The fields that a refusal has beside its reason."""
    field: FieldDescriptor = refusal_pb2.Refusal.DESCRIPTOR.fields_by_name[why.name.lower()]
    assert field.message_type is not None, "every reason is a message"
    return [each.name for each in field.message_type.fields]


def main() -> None:
    """Write both pages, or with `--check` say whether one is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a page is out of date")
    check: bool = parser.parse_args().check
    for language in (ENGLISH, chinese()):
        file = DOCUMENTS / language.file
        if not check:
            file.write_text(page(language), encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != page(language):
            sys.exit(f"docs/{file.name} is out of date (make generate)")


if __name__ == "__main__":
    main()
