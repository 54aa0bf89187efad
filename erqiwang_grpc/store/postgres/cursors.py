"""The cursors of feeds: the number of a transaction, and a place in it.

Transactions get their numbers before they are committed, and a later number may be committed first. So a feed gives
only batches whose number is below that of every transaction that is still open. See `lists`.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from erqiwang_grpc.store import keyset
from erqiwang_grpc.store.port import START, Cursor

Spot: TypeAlias = tuple[int, int]
"""The place of a batch in all feeds: the number of its transaction, and its place in that, from 1."""

BEGINNING: Final[Spot] = (0, 0)


def after(spot: Spot) -> Cursor:
    """The cursor after the batch at that spot."""
    xid, place = spot
    return START if spot == BEGINNING else Cursor(f"{xid}.{place}")


def spot(cursor: Cursor) -> Spot | None:
    """The spot of the last batch before the cursor; None if the text is no such cursor."""
    if cursor == START:
        return BEGINNING
    xid, separator, place = cursor.partition(".")
    numbers = (keyset.number(xid), keyset.number(place))
    return (numbers[0], numbers[1]) if separator and numbers[0] is not None and numbers[1] is not None else None
