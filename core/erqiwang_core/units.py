"""The number types of the game, one newtype for each unit, so that the type checker keeps them apart."""

from typing import NewType

Seat = NewType("Seat", int)
"""Seat number, 0 to seats − 1. The next seat (下家) of `s` is `(s + 1) % seats` (rules §1)."""

Kind = NewType("Kind", int)
"""One of the 54 different cards of a deck, 0 … 53 (rules §2)."""

CardId = NewType("CardId", int)
"""One physical card, 0 … 107: `54 * deck + kind` (rules §2)."""

CardSet = NewType("CardSet", int)
"""A set of physical cards as one integer: bit `i` stands for card id `i` (see `hand`)."""

KindSet = NewType("KindSet", int)
"""A set of kinds as one integer: bit `k` stands for kind `k` (see `hand`)."""

Level = NewType("Level", int)
"""Strength of a card within its group, from 0. The higher wins; levels that differ by 1 are adjacent (rules §3)."""

Points = NewType("Points", int)
"""Card points (分): the unit of bids and of what a trick holds. A multiple of 5."""

Chips = NewType("Chips", int)
"""Chips (子): what seats pay one another. Negative for a seat that pays."""

Awards = NewType("Awards", int)
"""Number of awards (奖), or of steps of the chain rush (冲关)."""
