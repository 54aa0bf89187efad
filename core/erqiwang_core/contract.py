"""The contract: what the bidding came to (rules §4)."""

from dataclasses import dataclass
from typing import final

from erqiwang_core.calls import Called
from erqiwang_core.rules import BidRow
from erqiwang_core.units import Seat


@final
@dataclass(frozen=True, slots=True)
class Contract:
    """Who the declarer is, at which bid, and the calls that led there."""

    declarer: Seat
    row: BidRow
    calls: tuple[Called, ...]
