"""`erqiwang config`: shows what holds for a server or an edge, and where each value comes from."""

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from erqiwang_grpc.commands import SUBCOMMANDS, ExtraMissing
from erqiwang_grpc.commands.configuration import (
    CONFIGURABLE,
    ByDefault,
    Configuration,
    ConfigurationRefused,
    FromFile,
    FromFlag,
    FromVariable,
    Held,
    InVariable,
    Source,
)
from erqiwang_grpc.store.address import Address, is_url

_REFUSED: Final = 2
_LEFT_OUT: Final = "…"
_SECRET: Final = re.compile(r"(?i)password\s*=.*|(?<=://).*(?=@)", re.DOTALL)
"""What may be a password, or hold one: no flag takes one, but it may have been given by mistake."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `config`: the name of a subcommand that can be configured, and the flags of that one."""
    parsers = parser.add_subparsers(metavar="action", required=True)
    for subcommand in (each for each in SUBCOMMANDS if each.name in CONFIGURABLE):
        its_parser = parsers.add_parser(
            subcommand.name,
            help=f"show what `erqiwang {subcommand.name}` would run with, given the same flags",
            usage=f"erqiwang config {subcommand.name} [any flag of `erqiwang {subcommand.name}`]",
        )
        try:
            subcommand.add_arguments(its_parser)
        except ExtraMissing as missing:
            its_parser.set_defaults(parser=its_parser, run=_Missing(str(missing)))
        else:
            its_parser.set_defaults(run=show)


class _Missing:
    """Says that a subcommand is not installed."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, _given: Namespace) -> int:
        print(f"erqiwang config {self._text}", file=sys.stderr)
        return _REFUSED


def show(given: Namespace) -> int:
    """Print the values that hold as a TOML file, which says beside each where it comes from.

    Gives 2 for what the subcommand would refuse before it looks at any file.
    """
    configuration: Configuration = given.configuration
    try:
        configuration.complete(given)
        held = list(configuration.holds(given))
    except ConfigurationRefused as refused:
        print(f"erqiwang config: {refused}", file=sys.stderr)
        return _REFUSED
    print("\n".join(_lines(held)))
    return 0


def _lines(held: list[Held]) -> Iterator[str]:
    """The lines of the file. The subcommand's own table comes first."""
    by_table = groupby(held, key=lambda each: each.setting.table)
    for number, (table, several) in enumerate(by_table):
        if number:
            yield ""
        yield f"[{table}]"
        for each in several:
            yield f"{_entry(each)}  # {_whence(each.source)}"


def _entry(held: Held) -> str:
    key = held.setting.key
    if isinstance(held.source, InVariable):
        return f"# {key} is in a variable"
    if held.value is None:
        return f"# {key} is not set"
    written = _written(held.value)
    # The file can be used again, and must not say something else then.
    return f"# {key} is told without what may be a secret: {written}" if _LEFT_OUT in written else f"{key} = {written}"


def _written(value: object) -> str:
    """A value as TOML, without what may be a password."""
    match value:
        case float() if value.is_integer():
            return str(int(value))
        case bool() | int() | float():
            return json.dumps(value)
        case list():
            return f"[{', '.join(map(_written, value))}]"
        case _:
            return json.dumps(_shown(str(value)), ensure_ascii=False)


def _shown(text: str) -> str:
    is_harmless = is_url(text) and not Address(text).has_password
    return text if is_harmless else _SECRET.sub(_LEFT_OUT, text)


def _whence(source: Source) -> str:
    match source:
        case FromFlag(flag):
            return flag
        case FromVariable(name) | InVariable(name):
            return name
        case FromFile(path):
            return str(path)
        case ByDefault():
            return "default"
