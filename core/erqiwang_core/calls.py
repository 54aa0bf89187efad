"""Calls: what a seat says in the bidding (叫分, rules §4)."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.units import Points, Seat


@final
@dataclass(frozen=True, slots=True)
class BidMade:
    """A bid now stands."""

    seat: Seat
    points: Points


@final
@dataclass(frozen=True, slots=True)
class BidPassed:
    """A seat has passed, for good."""

    seat: Seat


Called: TypeAlias = BidMade | BidPassed
