"""The shuffle, from the system's secure random source, and the commitment that every seat gets before the first bid."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from random import Random, SystemRandom
from typing import Final

from erqiwang_core.dealing import Shuffled
from erqiwang_core.rules import Rules
from erqiwang_core.units import CardId

SALT_BYTES: Final = 32
Shuffler = Callable[[Rules], Shuffled]
"""Shuffles the deck of a game, and commits to the order."""


def commitment(salt: bytes, order: Sequence[int]) -> bytes:
    """The commitment: SHA-256 of the salt followed by the card ids in dealing order, one byte each."""
    return hashlib.sha256(salt + bytes(order)).digest()


def opens(committed: bytes, salt: bytes, order: Sequence[int]) -> bool:
    """Whether the salt and order published at the end of a deal match the commitment given at its start."""
    in_range = all(0 <= card < 256 for card in order)
    return in_range and hmac.compare_digest(committed, commitment(salt, order))


def shuffle(rules: Rules) -> Shuffled:
    """A new shuffle that nobody can predict, with its commitment."""
    order = list(rules.deck)
    SystemRandom().shuffle(order)
    return _committed(tuple(order), secrets.token_bytes(SALT_BYTES))


def seeded(seed: int) -> Shuffler:
    """A shuffler that repeats its shuffles. For tests and demonstrations only: the seed reveals every card."""
    random = Random(seed)

    def shuffle_again(rules: Rules) -> Shuffled:
        order = list(rules.deck)
        random.shuffle(order)
        return _committed(tuple(order), random.randbytes(SALT_BYTES))

    return shuffle_again


def _committed(order: tuple[CardId, ...], salt: bytes) -> Shuffled:
    return Shuffled(order, salt, commitment(salt, order))
