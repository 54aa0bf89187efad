"""Batches as engines on disk keep them: prepared for writing, and checked against the chain when they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from erqiwang_grpc.store import chain
from erqiwang_grpc.store.chain import Link
from erqiwang_grpc.store.port import (
    NOTHING,
    Actor,
    Batch,
    CommandId,
    CommandKey,
    Entry,
    RoomId,
    Summary,
    TimeNs,
    Version,
)

NO_AGREEMENT: Final = "the last stored event is not the one its head names: restore the room from a backup"
BROKEN_CHAIN: Final = "the checksum does not match what is stored: restore the room from a backup"


@final
@dataclass(frozen=True, slots=True)
class Prepared:
    """An append with everything computed that does not depend on what is stored."""

    room: RoomId
    expected: Version
    batch: Batch
    encoded: bytes
    bodies: bytes
    terms: bytes


@final
@dataclass(frozen=True, slots=True)
class End:
    """The end of a batch, where the next one begins: the last version, and the link."""

    version: Version
    link: Link


@final
@dataclass(frozen=True, slots=True)
class Stored:
    """A batch that was read. Its link is not checked yet."""

    first: Version
    last: Version
    batch: Batch
    link: Link

    def entries(self, room: RoomId) -> tuple[Entry, ...]:
        """The entries of the batch in its room."""
        return self.batch.entries(room, self.first)

    @property
    def end(self) -> End:
        """The end of this batch."""
        return End(self.last, self.link)


_NOT_KEPT: Final = Summary((), TimeNs(0), None, b"")
"""Stands in place of the summary of an older batch, because only the newest summary of a room is kept."""


def prepare(room: RoomId, expected: Version, batch: Batch) -> Prepared:
    """Encode an append. Raises `ValueError` or `OverflowError` for text or numbers that cannot be stored."""
    room.encode()
    return Prepared(
        room=room,
        expected=expected,
        batch=batch,
        encoded=chain.encode(batch),
        bodies=chain.framed(batch.bodies),
        terms=chain.framed_terms(batch.summary.terms),
    )


def beginning(room: RoomId) -> End:
    """Where the first batch of a room begins."""
    return End(NOTHING, chain.origin(room))


def stored(row: tuple[object, ...]) -> Stored | None:
    """The batch in a row; None if the row is damaged.

    A row holds the first and the last version, time, actor, command, fingerprint, rules version, bodies, feed and link.
    """
    match row:
        case (
            int(first),
            int(last),
            int(time),
            str(actor),
            (str() | None) as command,
            (bytes() | None) as fingerprint,
            int(rules),
            bytes(bodies_blob),
            (str() | None) as feed,
            bytes(link),
        ):
            bodies = chain.unframed(bodies_blob)
            if bodies is None or last - first + 1 != len(bodies):
                return None
            try:
                batch = Batch(TimeNs(time), Actor(actor), _key(command, fingerprint), rules, bodies, _NOT_KEPT, feed)
            except ValueError:
                return None
            return Stored(Version(first), Version(last), batch, Link(link))
        case _:
            return None


def _key(command: str | None, fingerprint: bytes | None) -> CommandKey | None:
    if command is None or fingerprint is None:
        return None
    return CommandKey(CommandId(command), fingerprint)


def follows(at: End, stored: Stored) -> bool:
    """Whether the batch begins where `at` ends, and its link follows from the link of `at`."""
    return stored.first == at.version + 1 and stored.link == chain.link(
        at.link, stored.first, chain.encode(stored.batch)
    )
