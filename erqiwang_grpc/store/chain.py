"""The chain: a checksum over all batches of a room, which finds a flipped byte or a missing event.

link(n) = SHA-256(link(n-1) ‖ batch n). The first link is over the room's id. So a batch that is exchanged, dropped, or
moved to another room is found. Each field is hashed with its length before it, so that no two batches encode alike. A
summary is not in the chain, since only the newest is kept. Its seal binds it to the link of the room's newest batch.

The chain finds damage, not forgery. It has no secret, so anybody who can write the file can make a new chain. Against
that, compare with an earlier export that is kept elsewhere: `erqiwang export --verify --against FILE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final, NewType

from erqiwang_grpc.store.port import Batch, RoomId, Summary, Term, Version

Link = NewType("Link", bytes)
Seal = NewType("Seal", bytes)

SEALED: Final = b"summary\0"
"""The bytes that every seal begins with."""

_LENGTH: Final = 4
_NUMBER: Final = 8


def origin(room: RoomId) -> Link:
    """The link before a room's first batch."""
    return Link(hashlib.sha256(b"erqiwang room 2\0" + room.encode()).digest())


def link(previous: Link, first: Version, encoded: bytes) -> Link:
    """The link of a batch whose first version is `first`, from the link before it."""
    return Link(hashlib.sha256(previous + _number(first) + encoded).digest())


def encode(batch: Batch) -> bytes:
    """The bytes of a batch that are hashed. Raises `UnicodeEncodeError` for text that is not valid Unicode."""
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
    return Seal(hashlib.sha256(SEALED + head + _number(version) + encode_summary(summary, terms)).digest())


def encode_summary(summary: Summary, terms: bytes) -> bytes:
    """The bytes of a summary that are hashed for its seal. `terms` are its terms, framed."""
    ended = b"" if summary.ended is None else _number(summary.ended)
    return framed((terms, _number(summary.created), ended, summary.body))


def framed(parts: Iterable[bytes]) -> bytes:
    """The parts in a row, each with its length before it."""
    return b"".join(len(part).to_bytes(_LENGTH, "big") + part for part in parts)


def unframed(blob: bytes) -> tuple[bytes, ...] | None:
    """The parts in a `blob` made by `framed`; None if it is no such blob."""
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
    """The terms as one blob."""
    return framed(part.encode() for term in terms for part in (term.key, term.value))


def unframed_terms(blob: bytes) -> tuple[Term, ...] | None:
    """The terms in a `blob` made by `framed_terms`; None if it is no such blob."""
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
