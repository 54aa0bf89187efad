"""Bounds: how long a text of a request may be, and what it is refused with.

Lengths of names and ids count bytes of UTF-8; those of texts for people to read, characters.
"""

from collections.abc import Mapping
from typing import Final

from erqiwang_grpc.names import MOST_BYTES, is_printable
from erqiwang_grpc.rooms.refusals import Bounds, InvalidField, Unit

LONGEST_ID: Final = 64
"""Bytes of a `command_id`."""
LONGEST_NAME: Final = MOST_BYTES
"""Bytes of a player's or an owner's name."""


LONGEST_DISBAND_TEXT: Final = 200
"""Characters that a platform says about the end of a match."""


LONGEST_REFERENCE: Final = 128
"""Characters of a platform's own name for a room."""
MOST_LABELS: Final = 16
"""Of one room."""
LONGEST_LABEL_KEY: Final = 63
LONGEST_LABEL_VALUE: Final = 128
"""Characters."""
_OF_KEYS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")


def name_fault(path: str, name: str) -> InvalidField | None:
    """What is wrong with a required name, if anything: its length, or a character that would not be printable."""
    return _hidden_fault(path, name) or length_fault(path, name, 1, LONGEST_NAME)


def text_fault(path: str, text: str, most: int) -> InvalidField | None:
    """What is wrong with a text of at most so many characters, if anything. It may be empty."""
    if len(text) > most:
        return InvalidField(path, Bounds(Unit.CHARACTERS, len(text), 0, most))
    return _hidden_fault(path, text)


def labels_fault(labels: Mapping[str, str]) -> InvalidField | None:
    """What is wrong with the labels of a room, if anything. A key that cannot be one is not named: it may be anything."""
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
    """What is wrong with a `command_id`, if anything."""
    return length_fault("command_id", command_id, int(is_required), LONGEST_ID)


def length_fault(path: str, text: str, least: int, most: int) -> InvalidField | None:
    """What is wrong with the length of a text, if anything."""
    length = len(text.encode())
    return None if least <= length <= most else InvalidField(path, Bounds(Unit.BYTES, length, least, most))


def choice_fault(path: str, given: int, allowed: tuple[int, ...]) -> InvalidField:
    """The refusal of a number that is none of those allowed, which are in order."""
    return InvalidField(path, Bounds(Unit.VALUE, given, allowed[0], allowed[-1], allowed))
