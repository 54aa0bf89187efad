"""Which node a room's seats are attached to. Any node serves any seat; one node for a whole room saves work."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

ROOM_HEADER: Final = "erqiwang-room"
"""The metadata with the id of a room, by which a proxy chooses a node. Servers do not read it."""


def in_order(room_id: str, addresses: Sequence[str]) -> tuple[str, ...]:
    """The addresses in the order in which the clients of a room try them: for each room another one, for all its clients the same.

    If an address is taken away, only the rooms that began with it begin elsewhere.
    """
    return tuple(sorted(addresses, key=lambda address: hashlib.sha256(f"{room_id}\0{address}".encode()).digest()))
