"""The cursors of the engines that count: a position in a feed, and a room at its moment in a list."""

from __future__ import annotations

from typing import Final, TypeAlias

from erqiwang_grpc.store.port import START, BadCursor, Cursor, RoomId, TimeNs

Place: TypeAlias = tuple[TimeNs, RoomId]
"""Where a room stands in a list: at its moment, and among the rooms of that moment by its id."""

_LARGEST: Final = 2**63 - 1


def after(position: int) -> Cursor:
    """The cursor behind the batch at a position; 0 is the beginning."""
    return Cursor(str(position)) if position else START


def position(cursor: Cursor) -> int | None:
    """The position of the last batch before the cursor; None for a cursor that is none of ours."""
    return 0 if cursor == START else _number(cursor)


def behind(place: Place) -> Cursor:
    """The cursor behind a room of a list."""
    time, room = place
    return Cursor(f"{time}.{room}")


def place(cursor: Cursor) -> Place | BadCursor | None:
    """The room that the cursor stands behind; None at the beginning."""
    if cursor == START:
        return None
    time, separator, room = cursor.partition(".")
    number = _number(time)
    return (TimeNs(number), RoomId(room)) if separator and number is not None else BadCursor()


def _number(digits: str) -> int | None:
    """A number as it was given out; None for any other text, and for what no store counts to."""
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST))
    return int(digits) if is_number and int(digits) <= _LARGEST else None
