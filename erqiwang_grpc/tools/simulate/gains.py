"""Gains: what a seat wins more with a policy than with a baseline, on the same decks.

Every deck is played by several tables. At the first the baseline has every seat. At each other table one policy has one
seat, and the baseline the others. The gain of a policy on a seat is the difference of what this seat wins at the two
tables. Luck with the cards is the same at both, so the difference varies less than what is won.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, stdev
from typing import final

from erqiwang_core.seats import BySeat, by_seat, seats
from erqiwang_core.units import Seat

from erqiwang_grpc.tools.simulate.record import DealRecord
from erqiwang_grpc.tools.simulate.tally import TWO_SIDED, Json, rounded


@final
@dataclass(frozen=True, slots=True)
class Gain:
    """What a seat wins more with a policy than with the baseline, in chips a deal."""

    baseline: float
    """What the seat wins with the baseline."""
    policy: float
    """What it wins with the policy, while the other seats keep the baseline."""
    margin: float | None
    """Half the width of the 95 % interval of the difference; None if there are fewer than two decks."""

    @property
    def gain(self) -> float:
        """The difference."""
        return self.policy - self.baseline

    def json(self) -> dict[str, Json]:
        """The figures as JSON."""
        return {
            "gain": rounded(self.gain),
            "margin": rounded(self.margin),
            "chips_per_deal": rounded(self.policy),
            "baseline_chips_per_deal": rounded(self.baseline),
        }


@final
@dataclass
class Comparison:
    """Compares policies with a baseline. It takes the records of all deals, in any order."""

    baseline: str
    others: tuple[str, ...]
    """The policies that are compared with the baseline, each once."""
    seats: int
    _chips: defaultdict[int, dict[int, tuple[int, ...]]] = field(default_factory=lambda: defaultdict(dict))
    """The chips by seat, of each table and deck."""

    def tables(self) -> tuple[BySeat[str], ...]:
        """The policies by seat of the tables that play each deck: all baseline, then each policy on each seat."""
        alone = by_seat(self.seats, lambda _: self.baseline)
        return alone, *(alone.put(seat, name) for name in self.others for seat in alone.seats())

    def _table(self, name: str, seat: Seat) -> int:
        return 1 + self.others.index(name) * self.seats + seat

    def add_all(self, records: Iterable[DealRecord]) -> None:
        """Take deals into account: one for each table of `tables`, by number, and for each block, which is a deck."""
        for record in records:
            self._chips[record.place.table][record.place.block] = record.chips

    def gain(self, name: str, on: Sequence[Seat]) -> Gain:
        """The gain of a policy on one seat, or on the average of several.

        What several seats win with one deck is not independent. So one deck gives one difference, their sum.
        """
        before = [sum(chips[seat] for seat in on) for _, chips in sorted(self._chips[0].items())]
        after = [0] * len(before)
        for seat in on:
            found = sorted(self._chips[self._table(name, seat)].items())
            after = [total + chips[seat] for total, (_, chips) in zip(after, found, strict=True)]
        margin = paired_margin([late - early for early, late in zip(before, after, strict=True)])
        count = len(on)
        return Gain(fmean(before) / count, fmean(after) / count, None if margin is None else margin / count)

    def json(self) -> dict[str, Json]:
        """The gains as JSON."""
        return {
            "baseline": self.baseline,
            "deals": len(self._chips[0]),
            "gains": {name: self._json(name) for name in self.others},
        }

    def _json(self, name: str) -> dict[str, Json]:
        each: list[Json] = [self.gain(name, (seat,)).json() for seat in seats(self.seats)]
        return self.gain(name, seats(self.seats)).json() | {"seats": each}


def paired_margin(differences: Sequence[int]) -> float | None:
    """Half the width of the 95 % interval of the mean of independent differences; None if they are fewer than two."""
    return None if len(differences) < 2 else TWO_SIDED * stdev(differences) / sqrt(len(differences))
