"""The record of a deal: who played it, the bidding, and the settlement. It is one row of a CSV file."""

import csv
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, final

from erqiwang_core.calls import BidMade, BidPassed, Called
from erqiwang_core.kernel.trump import NoTrump, SuitTrump, Trump
from erqiwang_core.match import Running
from erqiwang_core.players import Step
from erqiwang_core.scoring import Disbanded, Made, NearShutout, Outcome, Shutout, Surrendered, Upgrade
from erqiwang_core.settlement import DealSettled, Settlement

Cell: TypeAlias = "int | str | None"


@final
@dataclass(frozen=True, slots=True)
class Place:
    """Which match of a simulation a deal belongs to, and who plays it."""

    match: int
    """The number of the match, from 0."""
    block: int
    """The number of the block, from 0. Matches of one block have the same decks."""
    table: int
    """Which match of its block it is, from 0."""
    policies: tuple[str, ...]
    """The policy of each seat, seat 0 first."""


@final
@dataclass(frozen=True, slots=True)
class DealRecord:
    """A settled deal. It holds only numbers and texts, so that processes can hand it over at little cost."""

    place: Place
    number: int
    """Which deal of the match, from 1."""
    first_bidder: int
    calls: str
    """The calls in order, each as `seat:bid` or `seat:pass`, with spaces between them."""
    declarer: int
    bid: int
    trump: str
    """`diamonds`, `clubs`, `hearts`, `spades` or `no trump`; empty after a surrender."""
    outcome: str
    captured: int
    """The captured points, with any kitty capture."""
    kitty_capture: int | None
    """The points of the kitty capture, which are counted in `captured`; None without a kitty capture."""
    base: int
    multiplier: int
    chips: tuple[int, ...]
    """The score of each seat, seat 0 first."""

    def row(self) -> tuple[Cell, ...]:
        """The values for the columns of `columns`, in their order. Matches and blocks count from 1, as deals do."""
        return (
            self.place.match + 1,
            self.number,
            self.place.block + 1,
            *self.place.policies,
            self.first_bidder,
            self.calls,
            self.declarer,
            self.bid,
            self.trump,
            self.outcome,
            self.captured,
            self.kitty_capture,
            self.base,
            self.multiplier,
            *self.chips,
        )


def columns(seats: int) -> tuple[str, ...]:
    """The names of the columns of a game with that many seats."""
    return (
        "match",
        "deal",
        "block",
        *(f"policy_{seat}" for seat in range(seats)),
        "first_bidder",
        "calls",
        "declarer",
        "bid",
        "trump",
        "outcome",
        "captured",
        "kitty_capture",
        "base",
        "multiplier",
        *(f"chips_{seat}" for seat in range(seats)),
    )


def recorded(step: Step, place: Place) -> DealRecord | None:
    """The record of the deal that `step` settles; None if it settles none."""
    for event in step.events:
        if isinstance(event, DealSettled):
            assert isinstance(step.before, Running), "a deal is settled in a match that runs"
            return _record(place, event.number, step.before.deal.dealt.first_bidder, event.settlement)
    return None


def _record(place: Place, number: int, first_bidder: int, settlement: Settlement) -> DealRecord:
    contract, capture = settlement.contract, settlement.kitty_capture
    assert contract is not None, "a deal played out has had a declarer"
    return DealRecord(
        place=place,
        number=number,
        first_bidder=first_bidder,
        calls=" ".join(_call(call) for call in contract.calls),
        declarer=contract.declarer,
        bid=contract.row.bid,
        trump="" if settlement.trump is None else _trump(settlement.trump),
        outcome=outcome_name(settlement.outcome),
        captured=settlement.grade,
        kitty_capture=None if capture is None else capture.captured,
        base=settlement.base,
        multiplier=settlement.multiplier,
        chips=settlement.scores.values,
    )


def _call(call: Called) -> str:
    match call:
        case BidMade(seat, points):
            return f"{seat}:{points}"
        case BidPassed(seat):
            return f"{seat}:pass"


def _trump(trump: Trump) -> str:
    match trump:
        case SuitTrump(suit):
            return suit.name.lower()
        case NoTrump():
            return "no trump"


def outcome_name(outcome: Outcome) -> str:
    """The name of an outcome, such as `made` or `upgrade 2`."""
    match outcome:
        case Shutout():
            return "shutout"
        case NearShutout():
            return "near shutout"
        case Made():
            return "made"
        case Upgrade(levels):
            return f"upgrade {levels}"
        case Surrendered():
            return "surrender"
        case Disbanded():
            return "disbanded"


@contextmanager
def csv_file(path: Path | None, seats: int) -> Iterator[Callable[[Iterable[DealRecord]], None]]:
    """A function that appends records to a new CSV file, or that does nothing if `path` is None.

    A file that exists is replaced. The first row holds the names of the columns. Raises `OSError`.
    """
    if path is None:
        yield lambda _records: None
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns(seats))
        yield lambda records: writer.writerows(record.row() for record in records)
