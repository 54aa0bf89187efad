"""The contract: what was called, and what the bidding came to (rules §4)."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.rules import BidRow
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


@final
@dataclass(frozen=True, slots=True)
class Contract:
    """Who the declarer is, at which bid, and the calls that led there."""

    declarer: Seat
    row: BidRow
    calls: tuple[Called, ...]
