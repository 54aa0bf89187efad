"""Cursors: places in the store that are given out as text, and read strictly when they come back.

Each names the store it is a place in. A store that was restored or copied gives the same places to other events, and who goes
on there with an old cursor would miss what happened, without a word.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from erqiwang_grpc.rooms.refusals import ForeignCursor, InvalidCursor
from erqiwang_grpc.store import Mark, Position, RoomId, StoreId, TimeNs, Version

_LARGEST: Final = 2**63 - 1
"""What a store can count to."""
_HEXADECIMAL: Final = frozenset("0123456789abcdef")


def cursor(store: StoreId, position: Position, told: int) -> str:
    """The place in what `WatchRooms` tells behind the first `told` events of a batch."""
    return f"{store}-{position}-{told}"


def read_cursor(text: str, store: StoreId) -> tuple[Position, int] | InvalidCursor | ForeignCursor:
    """The place that a cursor names: a batch, and how many of its events were told. An empty cursor is the beginning."""
    if not text:
        return Position(0), 0
    try:
        identity, position, told = text.split("-")
        place = Position(_count(position)), _count(told)
        return place if _store(identity) == store else ForeignCursor()
    except ValueError:
        return InvalidCursor("cursor")


def page_token(store: StoreId, mark: Mark) -> str:
    """The place in a list behind a mark."""
    text = f"{store}.{mark.time}.{mark.position}.{mark.version}.{mark.room}"
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_page_token(token: str, store: StoreId) -> Mark | InvalidCursor | ForeignCursor | None:
    """The mark behind which a page begins; None for the first page, which has an empty token."""
    if not token:
        return None
    try:
        text = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        identity, time, position, version, room = text.split(".", 4)
        at = Version(_count(version))
        mark = Mark(Position(_count(position)), RoomId(room), at, at, TimeNs(_count(time)))
        return mark if _store(identity) == store else ForeignCursor()
    except ValueError:
        return InvalidCursor("page_token")


def _store(identity: str) -> str:
    """A store's identity. `ValueError` for what is none."""
    if not identity or not _HEXADECIMAL.issuperset(identity):
        raise ValueError("no identity of a store")
    return identity


def _count(digits: str) -> int:
    """A number as it was given out. `ValueError` for any other text, and for what no store counts to."""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST)) and int(digits) <= _LARGEST):
        raise ValueError("no number of a store")
    return int(digits)
