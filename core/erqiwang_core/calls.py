"""Calls: the bids and passes of the bidding (叫分, rules §4)."""

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
    """A seat has passed. It is not asked again in this deal."""

    seat: Seat


Called: TypeAlias = BidMade | BidPassed
