"""Scoring: from captured points to the outcome, and the chips between declarer and defenders (rules §9, §10)."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.rules import BidRow
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.units import Chips, Points, Seat


@final
@dataclass(frozen=True, slots=True)
class Shutout:
    """The defenders captured nothing (大光)."""


@final
@dataclass(frozen=True, slots=True)
class NearShutout:
    """The defenders captured less than the step Q (小光)."""


@final
@dataclass(frozen=True, slots=True)
class Made:
    """The declarer held the defenders under the bid (过庄)."""


@final
@dataclass(frozen=True, slots=True)
class Upgrade:
    """The defenders reached the bid. 1 upgrade, and 1 more for each further Q that they captured (升 n 级)."""

    levels: int


@final
@dataclass(frozen=True, slots=True)
class Surrendered:
    """The declarer surrendered instead of naming trump (投降)."""


@final
@dataclass(frozen=True, slots=True)
class Disbanded:
    """The match was disbanded during the deal (解散): nothing is paid."""


Played: TypeAlias = Shutout | NearShutout | Made | Upgrade
Outcome: TypeAlias = Played | Surrendered | Disbanded


def outcome(row: BidRow, grade: Points) -> Played:
    """The outcome of a deal at that bid. `grade` is the captured points with any kitty capture (rules §10)."""
    if grade >= row.target:
        return Upgrade(1 + (grade - row.bid) // row.step)
    if grade == 0:
        return Shutout()
    return NearShutout() if grade < row.step else Made()


def multiplier(result: Outcome) -> int:
    """The multiplier: shutout 3, near shutout 2, made 1, upgrade n, surrender 1, disbanded 0 (rules §10)."""
    match result:
        case Shutout():
            return 3
        case NearShutout():
            return 2
        case Made() | Surrendered():
            return 1
        case Upgrade(levels):
            return levels
        case Disbanded():
            return 0


def declarer_won(result: Outcome) -> bool:
    """Whether the declarer won the deal, and so bids first in the next one (rules §4)."""
    match result:
        case Shutout() | NearShutout() | Made():
            return True
        case Upgrade() | Surrendered() | Disbanded():
            return False


def upgrade_code(result: Outcome) -> int:
    """`upgrade` in the packet protocol: 3, 2, 1, or -n; -99 for a surrender, 0 for a disbanded deal (rules §10)."""
    match result:
        case Shutout() | NearShutout() | Made() | Disbanded():
            return multiplier(result)
        case Upgrade(levels):
            return -levels
        case Surrendered():
            return -99


def base_chips(row: BidRow, result: Outcome) -> Chips:
    """The chips that the multiplier applies to: the bid's, the cost of a surrender, or 0 (packet: `multiple`)."""
    match result:
        case Shutout() | NearShutout() | Made() | Upgrade():
            return row.base
        case Surrendered():
            return row.surrender or Chips(0)
        case Disbanded():
            return Chips(0)


def between_sides(seats: int, declarer: Seat, stake: Chips, *, won: bool) -> BySeat[Chips]:
    """The chips of each seat if the declarer and each defender pay one another `stake`. They sum to 0 (rules §10)."""
    to_declarer = stake if won else -stake
    return by_seat(seats, lambda seat: Chips(to_declarer * (seats - 1) if seat == declarer else -to_declarer))


@final
@dataclass(frozen=True, slots=True)
class KittyCapture:
    """The kitty capture: the last trick also wins the points of the buried cards (扣底, rules §9)."""

    points: Points
    """The points of the buried cards."""
    multiplier: int
    """1 for a single, 2 for a pair, 2k for a tractor of k pairs; the best component of a throw."""

    @property
    def captured(self) -> Points:
        """The points that the defenders get: `points` times `multiplier`."""
        return Points(self.points * self.multiplier)
