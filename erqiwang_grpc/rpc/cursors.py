"""Cursors: places in the store, given out as text and checked strictly when they come back.

A cursor names its store. A restored or copied store may have other events at the same places, so a caller who went on
with an old cursor there would miss events without noticing.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from erqiwang_grpc.archive.feed import Place
from erqiwang_grpc.rooms.refusals import ForeignCursor, InvalidCursor
from erqiwang_grpc.store import START, Cursor, StoreId

_MOST_DIGITS: Final = 9
"""Most digits of a number of events: enough for more events than one batch ever holds."""
_HEXADECIMAL: Final = frozenset("0123456789abcdef")


def cursor(store: StoreId, place: Place) -> str:
    """A place in the feed of `WatchRooms`, as text."""
    return f"{store}-{place.cursor}-{place.told}"


def read_cursor(text: str, store: StoreId) -> Place | InvalidCursor | ForeignCursor:
    """The place that a cursor names; an empty cursor is the beginning. Refusals: `InvalidCursor`, `ForeignCursor`."""
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
    """The place where a page begins; an empty token is the first page. Refusals: `InvalidCursor`, `ForeignCursor`."""
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
    """The store's identity in a cursor. Raises `ValueError` if it is not hexadecimal."""
    if not identity or not _HEXADECIMAL.issuperset(identity):
        raise ValueError("no identity of a store")
    return identity


def _count(digits: str) -> int:
    """The number of events in a cursor. Raises `ValueError` for any other text."""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError("no number of events")
    return int(digits)
