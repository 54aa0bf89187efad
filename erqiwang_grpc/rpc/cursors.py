"""Cursors: places in the log that are given out as text, and read strictly when they come back."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from erqiwang_grpc.rooms.refusals import InvalidCursor
from erqiwang_grpc.store import Mark, Position, RoomId, TimeNs, Version

_LARGEST: Final = 2**63 - 1
"""What a log can count to."""


def cursor(position: Position, told: int) -> str:
    """The place in what `WatchRooms` tells behind the first `told` events of a batch."""
    return f"{position}-{told}"


def read_cursor(text: str) -> tuple[Position, int] | InvalidCursor:
    """The place a cursor stands for: a batch, and how many of its events were told; empty for the very beginning."""
    if not text:
        return Position(0), 0
    position, _, told = text.partition("-")
    try:
        return Position(_count(position)), _count(told)
    except ValueError:
        return InvalidCursor("cursor")


def page_token(mark: Mark) -> str:
    """The place in a list behind a mark."""
    text = f"{mark.time}.{mark.position}.{mark.version}.{mark.room}"
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_page_token(token: str) -> Mark | InvalidCursor | None:
    """The mark behind which a page begins; None for the first page, which has an empty token."""
    if not token:
        return None
    try:
        time, position, version, room = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().split(".", 3)
        at = Version(_count(version))
        return Mark(Position(_count(position)), RoomId(room), at, at, TimeNs(_count(time)))
    except ValueError:
        return InvalidCursor("page_token")


def _count(digits: str) -> int:
    """A number as it was given out. `ValueError` for any other text, and for what no log counts to."""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST)) and int(digits) <= _LARGEST):
        raise ValueError("no number of a log")
    return int(digits)
