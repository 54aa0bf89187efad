"""The checksum chained over a room: what makes a flipped byte or a missing event findable.

link(n) = SHA-256(link(n-1) ‖ batch n), the first one over the room's id, so that no batch can be exchanged,
dropped, or moved to another room. Every field goes in behind its length: no two batches encode alike.
A summary is not in the chain, since only the newest is kept; its seal binds it to the link of the room's newest batch.

It finds damage, not forgery: it holds no secret, so anybody who can write the file can make a new chain. Compare with an
earlier export that was kept elsewhere: `erqiwang export --verify --against FILE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final, NewType

from erqiwang_grpc.store.port import Batch, RoomId, Summary, Term, Version

Link = NewType("Link", bytes)
Seal = NewType("Seal", bytes)

_LENGTH: Final = 4
_NUMBER: Final = 8


def origin(room: RoomId) -> Link:
    """The link before a room's first batch."""
    return Link(hashlib.sha256(b"erqiwang room 2\0" + room.encode()).digest())


def link(previous: Link, first: Version, encoded: bytes) -> Link:
    """The link of a batch whose first version is `first`, from the link before it."""
    return Link(hashlib.sha256(previous + _number(first) + encoded).digest())


def encode(batch: Batch) -> bytes:
    """The batch as the bytes that are hashed. `UnicodeEncodeError` for text that is no Unicode."""
    command = batch.command
    return framed(
        (
            _number(batch.time),
            batch.actor.encode(),
            framed(()) if command is None else framed((command.id.encode(), command.fingerprint)),
            _number(batch.rules_version),
            framed(batch.bodies),
            framed(()) if batch.feed is None else framed((batch.feed.encode(),)),
        )
    )


def seal(head: Link, version: Version, summary: Summary, terms: bytes) -> Seal:
    """The seal of the summary of a room that is at `version`, and whose newest batch has the link `head`.

    `terms` are the summary's terms, framed.
    """
    ended = b"" if summary.ended is None else _number(summary.ended)
    encoded = framed((terms, _number(summary.created), ended, summary.body))
    return Seal(hashlib.sha256(b"summary\0" + head + _number(version) + encoded).digest())


def framed(parts: Iterable[bytes]) -> bytes:
    """The parts one behind the other, each behind its length."""
    return b"".join(len(part).to_bytes(_LENGTH, "big") + part for part in parts)


def unframed(blob: bytes) -> tuple[bytes, ...] | None:
    """The parts that were framed, or None if `blob` is not the frame of anything."""
    parts: list[bytes] = []
    at = 0
    while at < len(blob):
        start = at + _LENGTH
        end = start + int.from_bytes(blob[at:start], "big")
        if start > len(blob) or end > len(blob):
            return None
        parts.append(blob[start:end])
        at = end
    return tuple(parts)


def framed_terms(terms: Iterable[Term]) -> bytes:
    """Terms as one blob."""
    return framed(part.encode() for term in terms for part in (term.key, term.value))


def unframed_terms(blob: bytes) -> tuple[Term, ...] | None:
    """The terms that were framed, or None if `blob` is no frame of terms."""
    parts = unframed(blob)
    if parts is None or len(parts) % 2:
        return None
    try:
        texts = [part.decode() for part in parts]
    except UnicodeDecodeError:
        return None
    return tuple(Term(key, value) for key, value in zip(texts[::2], texts[1::2], strict=True))


def _number(value: int) -> bytes:
    return value.to_bytes(_NUMBER, "big", signed=True)
