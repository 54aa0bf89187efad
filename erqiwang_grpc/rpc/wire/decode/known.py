"""What is known here: the values that numbers on the wire stand for."""

from collections.abc import Mapping
from typing import Final, TypeVar

from erqiwang_core.options import RoomOptions

from erqiwang_grpc.rooms.refusals import InvalidField
from erqiwang_grpc.rpc.wire import numbers, requests as decode
from erqiwang_grpc.v1 import room_pb2

N = TypeVar("N", bound=int)
V = TypeVar("V")


class NotUnderstood(ValueError):
    """A message says something that this version has no value for."""


def known(values: Mapping[N, V], number: N) -> V:
    """The value with that number."""
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
