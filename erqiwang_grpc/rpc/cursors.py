"""Cursors: places in the store that are given out as text, and read strictly when they come back.

Each names the store it is a place in. A store that was restored or copied gives the same places to other events, and who goes
on there with an old cursor would miss what happened, without a word.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from erqiwang_grpc.archive.feed import Place
from erqiwang_grpc.rooms.refusals import ForeignCursor, InvalidCursor
from erqiwang_grpc.store import START, Cursor, StoreId

_MOST_DIGITS: Final = 9
"""More events than a batch ever holds."""
_HEXADECIMAL: Final = frozenset("0123456789abcdef")


def cursor(store: StoreId, place: Place) -> str:
    """A place in what `WatchRooms` tells, as text."""
    return f"{store}-{place.cursor}-{place.told}"


def read_cursor(text: str, store: StoreId) -> Place | InvalidCursor | ForeignCursor:
    """The place that a cursor names. An empty cursor is the beginning."""
    if not text:
        return Place(START, 0)
    try:
        identity, at, told = text.split("-")
        place = Place(Cursor(at), _count(told))
        return place if _store(identity) == store else ForeignCursor()
    except ValueError:
        return InvalidCursor("cursor")


def page_token(store: StoreId, at: Cursor) -> str:
    """A place in a list, as text."""
    return urlsafe_b64encode(f"{store}.{at}".encode()).decode().rstrip("=")


def read_page_token(token: str, store: StoreId) -> Cursor | InvalidCursor | ForeignCursor:
    """Where a page begins; the first page has an empty token."""
    if not token:
        return START
    try:
        identity, separator, at = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().partition(".")
        if not (separator and at):
            return InvalidCursor("page_token")
        return Cursor(at) if _store(identity) == store else ForeignCursor()
    except ValueError:
        return InvalidCursor("page_token")


def _store(identity: str) -> str:
    """A store's identity. `ValueError` for what is none."""
    if not identity or not _HEXADECIMAL.issuperset(identity):
        raise ValueError("no identity of a store")
    return identity


def _count(digits: str) -> int:
    """A number as it was given out. `ValueError` for any other text."""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError("no number of events")
    return int(digits)
