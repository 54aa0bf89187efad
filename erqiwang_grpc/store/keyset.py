"""Cursors as text: a position in the feed of an engine that counts its batches, and a room's place in a list."""

from __future__ import annotations

from typing import Final, TypeAlias

from erqiwang_grpc.store.port import START, BadCursor, Cursor, Period, RoomId, TimeNs

Place: TypeAlias = tuple[TimeNs, RoomId]
"""The place of a room in a list: its moment, and its id among rooms of the same moment."""

_LARGEST: Final = 2**63 - 1


def after(position: int) -> Cursor:
    """The cursor after the batch at that position; position 0 gives the beginning."""
    return Cursor(str(position)) if position else START


def position(cursor: Cursor) -> int | None:
    """The position of the last batch before the cursor; None if the text is no such cursor."""
    return 0 if cursor == START else number(cursor)


def behind(place: Place) -> Cursor:
    """The cursor after a room in a list."""
    time, room = place
    return Cursor(f"{time}.{room}")


def place(cursor: Cursor) -> Place | BadCursor | None:
    """The place of the room before the cursor; None at the beginning. `BadCursor` if the text is no such cursor."""
    if cursor == START:
        return None
    time, separator, room = cursor.partition(".")
    moment = number(time)
    return (TimeNs(moment), RoomId(room)) if separator and moment is not None else BadCursor()


def span(period: Period, after: Cursor) -> tuple[Place, Place] | BadCursor:
    """What is left of a list after the cursor: its places from the first one up to but not including the second one."""
    behind = place(after)
    if isinstance(behind, BadCursor):
        return behind
    start, end = (period.since, RoomId("")), (period.until, RoomId(""))
    return start, end if behind is None else min(end, behind)


def number(digits: str) -> int | None:
    """The number in a cursor; None for any other text, and for a number too large for a store."""
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST))
    return int(digits) if is_number and int(digits) <= _LARGEST else None
