"""The contract: the result of the bidding (rules §4)."""

from dataclasses import dataclass
from typing import final

from erqiwang_core.calls import Called
from erqiwang_core.rules import BidRow
from erqiwang_core.units import Seat


@final
@dataclass(frozen=True, slots=True)
class Contract:
    """The declarer, the row of the winning bid, and all calls of the bidding in order."""

    declarer: Seat
    row: BidRow
    calls: tuple[Called, ...]
