"""Bounds: how long the texts in a request may be, and how one that is too long is refused.

Names and ids are measured in bytes of UTF-8, texts for people in characters.
"""

from collections.abc import Mapping
from typing import Final

from erqiwang_grpc.names import MOST_BYTES, is_printable
from erqiwang_grpc.rooms.refusals import Bounds, InvalidField, Unit

LONGEST_ID: Final = 64
"""Most bytes of a `command_id`."""
LONGEST_NAME: Final = MOST_BYTES
"""Most bytes of a player's or an owner's name."""


LONGEST_DISBAND_TEXT: Final = 200
"""Most characters of the remark in `DisbandRoom`."""


LONGEST_REFERENCE: Final = 128
"""Most characters of a platform's own reference for a room."""
MOST_LABELS: Final = 16
"""Most labels of one room."""
LONGEST_LABEL_KEY: Final = 63
LONGEST_LABEL_VALUE: Final = 128
"""Most characters of a label's value."""
_OF_KEYS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")


def name_fault(path: str, name: str) -> InvalidField | None:
    """Why a required name is refused: its length, or a character that cannot be printed. None if it is good."""
    return _hidden_fault(path, name) or length_fault(path, name, 1, LONGEST_NAME)


def text_fault(path: str, text: str, most: int) -> InvalidField | None:
    """Why a text is refused: over `most` characters, or one that cannot be printed. None if good; empty is good."""
    if len(text) > most:
        return InvalidField(path, Bounds(Unit.CHARACTERS, len(text), 0, most))
    return _hidden_fault(path, text)


def labels_fault(labels: Mapping[str, str]) -> InvalidField | None:
    """Why the labels of a room are refused; None if they are good. A bad key is not repeated: it may hold anything."""
    if len(labels) > MOST_LABELS:
        return InvalidField("labels", Bounds(Unit.ITEMS, len(labels), 0, MOST_LABELS))
    for key, value in sorted(labels.items()):
        others = sum(character not in _OF_KEYS for character in key)
        if others:
            return InvalidField("labels.key", Bounds(Unit.OTHER_CHARACTERS, others, 0, 0))
        if not 1 <= len(key) <= LONGEST_LABEL_KEY:
            return InvalidField("labels.key", Bounds(Unit.CHARACTERS, len(key), 1, LONGEST_LABEL_KEY))
        wrong = text_fault(f'labels["{key}"]', value, LONGEST_LABEL_VALUE)
        if wrong is not None:
            return wrong
    return None


def _hidden_fault(path: str, text: str) -> InvalidField | None:
    hidden = sum(not is_printable(character) for character in text)
    return InvalidField(path, Bounds(Unit.CONTROL_CHARACTERS, hidden, 0, 0)) if hidden else None


def id_fault(command_id: str, *, is_required: bool = False) -> InvalidField | None:
    """Why a `command_id` is refused; None if it is good. An empty one is good unless it `is_required`."""
    return length_fault("command_id", command_id, int(is_required), LONGEST_ID)


def length_fault(path: str, text: str, least: int, most: int) -> InvalidField | None:
    """The refusal of a text that has fewer than `least` or more than `most` bytes of UTF-8; None if it is good."""
    length = len(text.encode())
    return None if least <= length <= most else InvalidField(path, Bounds(Unit.BYTES, length, least, most))


def choice_fault(path: str, given: int, allowed: tuple[int, ...]) -> InvalidField:
    """The refusal of a number that is not in `allowed`, which is sorted."""
    return InvalidField(path, Bounds(Unit.VALUE, given, allowed[0], allowed[-1], allowed))
