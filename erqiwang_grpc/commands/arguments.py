"""Arguments of several subcommands: numbers within bounds, and the error for arguments that do not fit together.

The parsers raise `ArgumentTypeError`, whose text argparse prints.
"""

from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable
from typing import Final

PORT: Final = 50051
"""The port that a server listens on, unless it is told otherwise."""
_LONGEST_PAUSE: Final = 3600
"""Seconds. Nobody waits longer for a server that stops: a longer time is a slip, such as milliseconds."""


class BadArguments(Exception):
    """Arguments that do not fit together. The text is for the user."""


def go_together(arguments: Namespace, one: str, other: str) -> bool:
    """Whether two flags are given, by their names in the parsed arguments. Raises `BadArguments` if only one of them is."""
    given = [getattr(arguments, each) is not None for each in (one, other)]
    if any(given) and not all(given):
        raise BadArguments(" and ".join(f"--{each.replace('_', '-')}" for each in (one, other)) + " go together")
    return all(given)


def between(low: int, high: int) -> Callable[[str], int]:
    """A parser of whole numbers from `low` to `high`."""

    def parsed(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ArgumentTypeError(f"{text!r} is no whole number from {low} to {high}")
        return int(text)

    return parsed


def at_least(low: int) -> Callable[[str], int]:
    """A parser of whole numbers from `low` up."""

    def parsed(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise ArgumentTypeError(f"{text!r} is no whole number from {low} up")
        return int(text)

    return parsed


def not_negative(text: str) -> float:
    """A number from 0 up."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no number from 0 up")
    return number


def up_to_an_hour(text: str) -> float:
    """Seconds from 0 up to an hour."""
    seconds = not_negative(text)
    if seconds > _LONGEST_PAUSE:
        raise ArgumentTypeError(f"{text!r} is longer than an hour: give at most {_LONGEST_PAUSE} seconds")
    return seconds


def host(text: str) -> str:
    """A host to listen on. The brackets of an IPv6 address are taken off."""
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


port: Final = between(0, 65535)
"""A parser of ports. It is needed because gRPC silently takes a larger number for a different port."""


def add_switch(parser: ArgumentParser, flag: str, *, default: bool, help: str) -> None:  # as argparse names it
    """Add `--flag` and `--no-flag`. What is configured can be turned on and off by a flag."""
    action = parser.add_argument(flag, action=BooleanOptionalAction, help=help)
    # Not given above, because Python 3.11 would add it to the help in its own words.
    action.default = default
