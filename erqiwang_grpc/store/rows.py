"""The rows of a store as one engine hands them to another: every column as it is, damaged or not.

A row that is damaged is moved too, and is damaged at its new place in the same way. The chain is over the contents
alone, so both engines compute the same links.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias, final

from erqiwang_grpc.store import chain
from erqiwang_grpc.store.port import StoreId, StoreReader

PAGE: Final = 2_000
"""Rows that are moved at once."""


class MoveFailed(Exception):
    """A store cannot be read or written any further. The text says why. What was written is no store yet."""


class BatchRow(NamedTuple):
    """A row of the table of batches. Its texts are UTF-8, or what damage has made of them."""

    room: bytes
    first_version: int
    last_version: int
    time_ns: int
    actor: bytes
    command: bytes | None
    fingerprint: bytes | None
    rules_version: int
    bodies: bytes
    feed: bytes | None
    chain: bytes


class HeadRow(NamedTuple):
    """A row of the table of rooms: the head and the summary."""

    room: bytes
    version: int
    chain: bytes
    terms: bytes
    created_ns: int
    ended_ns: int | None
    body: bytes
    seal: bytes


FoundRow: TypeAlias = tuple[bytes, bytes, int, bytes, int | None]
"""A row of the table of terms: key, value, the moment of creation, room, and the moment of the end."""


class Origin(Protocol):
    """A store that is moved. No server has it open until it is closed."""

    @property
    def reader(self) -> StoreReader:
        """The same store, through its port."""

    def batches(self) -> AsyncIterator[list[BatchRow | None]]:
        """All rows of batches in commit order. None stands for a row so damaged that no engine could write it."""

    def heads(self) -> AsyncIterator[list[HeadRow | None]]:
        """All rows of rooms."""

    async def feeds(self) -> tuple[str, ...]:
        """The names of all feeds."""

    async def close(self) -> None:
        """Let others open it again."""


class Target(Protocol):
    """A new store. Until it is finished, no server opens it, and the next move begins it anew."""

    async def write_batches(self, rows: Sequence[BatchRow]) -> None:
        """Write the next batches, in commit order."""

    async def write_heads(self, rows: Sequence[HeadRow]) -> None:
        """Write rooms, and by what lists find them."""

    async def written(self) -> StoreReader:
        """What was written, through the port. Nothing more is written then."""

    async def finish(self) -> StoreId:
        """Make it a store that servers open; gives its identity."""

    async def close(self) -> None:
        """Release everything, finished or not."""


@final
@dataclass(frozen=True, slots=True)
class Filled:
    """There are rooms already, where others should be moved to."""

    origin: Origin


def batch_row(row: tuple[object, ...]) -> BatchRow | None:
    """The row in the form of all engines; None if a column has a type that only damage gives it."""
    match _encoded(row):
        case (
            bytes(room),
            int(first),
            int(last),
            int(time),
            bytes(actor),
            (bytes() | None) as command,
            (bytes() | None) as fingerprint,
            int(rules),
            bytes(bodies),
            (bytes() | None) as feed,
            bytes(link),
        ):
            return BatchRow(room, first, last, time, actor, command, fingerprint, rules, bodies, feed, link)
        case _:
            return None


def head_row(row: tuple[object, ...]) -> HeadRow | None:
    """The row in the form of all engines; None if not even its room can be read.

    A summary that cannot be read is left out, so that its seal is broken. A head that cannot be read agrees with no
    batch, so that its room stays damaged.
    """
    match _encoded(row):
        case (
            bytes(room),
            int(version),
            bytes(link),
            bytes(terms),
            int(created),
            (int() | None) as ended,
            bytes(body),
            bytes(seal),
        ):
            return HeadRow(room, version, link, terms, created, ended, body, seal)
        case (bytes(room), int(version), bytes(link), *_):
            return HeadRow(room, version, link, b"", 0, None, b"", b"")
        case (bytes(room), *_):
            return HeadRow(room, 0, b"", b"", 0, None, b"", b"")
        case _:
            return None


def _encoded(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(value.encode() if isinstance(value, str) else value for value in row)


def decoded(row: Iterable[object], texts: Sequence[int]) -> tuple[object, ...]:
    """The row with its texts decoded, which stand at those places. One that is not UTF-8 stays bytes: the row is damaged."""
    return tuple(text(value) if place in texts else value for place, value in enumerate(row))


def text(value: object) -> object:
    """The text that these bytes are in UTF-8; the value itself if they are none."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def found_rows(head: HeadRow) -> list[FoundRow]:
    """What the table of terms holds of a room. Empty if the terms cannot be read."""
    terms = chain.unframed_terms(head.terms)
    return [
        (term.key.encode(), term.value.encode(), head.created_ns, head.room, head.ended_ns)
        for term in dict.fromkeys(terms or ())
    ]
