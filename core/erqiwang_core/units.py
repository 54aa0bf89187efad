"""The units everything is counted in: newtypes and nothing else."""

from typing import NewType

Seat = NewType("Seat", int)
"""A place at the table, 0 … n-1; the next seat (下家) of `s` is `(s + 1) % n`."""

Kind = NewType("Kind", int)
"""One of the 54 different cards of a deck, 0 … 53 (rules §2)."""

CardId = NewType("CardId", int)
"""One physical card, 0 … 107: `54 * deck + kind` (rules §2)."""

CardSet = NewType("CardSet", int)
"""A set of physical cards as one integer: bit `i` stands for card id `i` (see `hand`)."""

KindSet = NewType("KindSet", int)
"""A set of kinds as one integer: bit `k` stands for kind `k` (see `hand`)."""

Level = NewType("Level", int)
"""Strength within a group, higher beats lower; neighbours are adjacent (see `trump`)."""

Points = NewType("Points", int)
"""Card points (分): what a bid promises and what a trick holds."""

Chips = NewType("Chips", int)
"""Chips (子): what seats pay one another."""

Awards = NewType("Awards", int)
"""Number of awards (奖), or of steps of the chain rush (冲关)."""
