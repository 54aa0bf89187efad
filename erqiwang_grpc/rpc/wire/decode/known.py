"""Looks up the core's values for numbers on the wire, and fails for unknown ones."""

from collections.abc import Mapping
from typing import Final, TypeVar

from erqiwang_core.options import RoomOptions

from erqiwang_grpc.rooms.refusals import InvalidField
from erqiwang_grpc.rpc.wire import numbers, requests as decode
from erqiwang_grpc.v1 import room_pb2

N = TypeVar("N", bound=int)
V = TypeVar("V")


class NotUnderstood(ValueError):
    """A message holds a value that this version does not know."""


def known(values: Mapping[N, V], number: N) -> V:
    """The value for `number`. Raises `NotUnderstood` if there is none."""
    if number not in values:
        raise NotUnderstood(f"{number} is none of {sorted(values)}")
    return values[number]


PHASES: Final = numbers.reverse(numbers.PHASES)
GROUPS: Final = numbers.reverse(numbers.GROUPS)
TRUMPS: Final = numbers.reverse(numbers.NAMED)
QUOTAS: Final = numbers.reverse(numbers.QUOTAS)
SIGNALS: Final = numbers.reverse(numbers.SIGNALS)
AWARD_KINDS: Final = numbers.reverse(numbers.AWARD_KINDS)
DISBAND_REASONS: Final = numbers.reverse(numbers.DISBAND_REASONS)
UNITS: Final = numbers.reverse(numbers.UNITS)


def room_options(message: room_pb2.RoomOptions) -> RoomOptions:
    """The options of a room."""
    options = decode.room_options(message)
    if isinstance(options, InvalidField):
        raise NotUnderstood(f"the option {options.path} is out of range")
    return options
