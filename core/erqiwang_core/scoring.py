"""Scoring: what the captured points come to, and the chips between declarer and defenders (rules §9, §10)."""

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
    """The defenders reached the bid: one upgrade, and one more for every further step (升 n 级)."""

    levels: int


@final
@dataclass(frozen=True, slots=True)
class Surrendered:
    """The declarer gave the deal up at the trump decision (投降)."""


@final
@dataclass(frozen=True, slots=True)
class Disbanded:
    """The match was disbanded during the deal (解散): nothing is paid."""


Played: TypeAlias = Shutout | NearShutout | Made | Upgrade
Outcome: TypeAlias = Played | Surrendered | Disbanded


def outcome(row: BidRow, grade: Points) -> Played:
    """What `grade`, the captured points with any kitty capture, comes to at that bid (rules §10)."""
    if grade >= row.target:
        return Upgrade(1 + (grade - row.bid) // row.step)
    if grade == 0:
        return Shutout()
    return NearShutout() if grade < row.step else Made()


def multiplier(result: Outcome) -> int:
    """The multiplier of a deal's outcome: shutout 3, near shutout 2, made 1, upgrade n, surrender 1, disbanded 0."""
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
    """Whether the declarer is the next first bidder (rules §4)."""
    match result:
        case Shutout() | NearShutout() | Made():
            return True
        case Upgrade() | Surrendered() | Disbanded():
            return False


def upgrade_code(result: Outcome) -> int:
    """The packets' `upgrade`: 3, 2, 1, -n, and -99 for a surrender, 0 for a disbanded deal (rules §1, §10)."""
    match result:
        case Shutout() | NearShutout() | Made() | Disbanded():
            return multiplier(result)
        case Upgrade(levels):
            return -levels
        case Surrendered():
            return -99


def base_chips(row: BidRow, result: Outcome) -> Chips:
    """The base chips in force: the bid's, what surrender costs, or none (packet: `multiple`)."""
    match result:
        case Shutout() | NearShutout() | Made() | Upgrade():
            return row.base
        case Surrendered():
            return row.surrender or Chips(0)
        case Disbanded():
            return Chips(0)


def between_sides(seats: int, declarer: Seat, stake: Chips, *, won: bool) -> BySeat[Chips]:
    """What the declarer and each defender pay one another, `stake` chips pair by pair (rules §10)."""
    to_declarer = stake if won else -stake
    return by_seat(seats, lambda seat: Chips(to_declarer * (seats - 1) if seat == declarer else -to_declarer))


@final
@dataclass(frozen=True, slots=True)
class KittyCapture:
    """The buried cards' points, captured with the last trick (扣底, rules §9)."""

    points: Points
    """What the buried cards hold."""
    multiplier: int
    """By the shape that took the last trick."""

    @property
    def captured(self) -> Points:
        """What the defenders get for it."""
        return Points(self.points * self.multiplier)
