"""Counts what happened in many deals."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import sqrt
from typing import Final, TypeAlias, final

from erqiwang_core.calls import BidMade
from erqiwang_core.contract import Contract
from erqiwang_core.kernel.shapes import Shape, Throw, component, same_shape
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.match import Running
from erqiwang_core.players import Step
from erqiwang_core.playing import CardsFollowed, CardsLed, Playing
from erqiwang_core.scoring import Outcome, Surrendered, Upgrade, declarer_won
from erqiwang_core.settlement import DealSettled, Settlement
from erqiwang_core.units import CardSet

from erqiwang_grpc.tools.simulate.record import outcome_name

OUTCOMES: Final = ("shutout", "near shutout", "made", "upgrade 1", "upgrade 2", "upgrade 3+", "surrender")
"""The outcomes of a deal, best for the declarer first."""

TWO_SIDED: Final = 1.96
"""The standard errors on either side of a mean that hold 95 % of a normal distribution."""

Json: TypeAlias = "int | float | str | list[Json] | dict[str, Json] | None"


def _column(outcome: Outcome) -> str:
    """Which of `OUTCOMES` an outcome is counted as. A disbanded deal is none of them."""
    return "upgrade 3+" if isinstance(outcome, Upgrade) and outcome.levels >= 3 else outcome_name(outcome)


@final
@dataclass(slots=True)
class Declared:
    """What came of the deals that a policy declared."""

    deals: int = 0
    contested: int = 0
    """The deals in which at least two seats bid."""
    surrenders: int = 0
    won: int = 0
    captured: int = 0
    """The points that the defenders captured, with kitty captures."""

    @property
    def played(self) -> int:
        """The deals that were not surrendered."""
        return self.deals - self.surrenders

    @property
    def won_share(self) -> float | None:
        """The share of the deals played that the declarer won; None if it played none."""
        return self.won / self.played if self.played else None

    @property
    def captured_per_deal(self) -> float | None:
        """The average points that the defenders captured in a deal played; None if none was played."""
        return self.captured / self.played if self.played else None

    def add(self, contract: Contract, settlement: Settlement) -> None:
        """Count a deal."""
        self.deals += 1
        self.contested += len({call.seat for call in contract.calls if isinstance(call, BidMade)}) > 1
        self.surrenders += isinstance(settlement.outcome, Surrendered)
        self.won += declarer_won(settlement.outcome)
        self.captured += settlement.grade

    def add_all(self, other: "Declared") -> None:
        """Count all that another one has counted."""
        self.deals += other.deals
        self.contested += other.contested
        self.surrenders += other.surrenders
        self.won += other.won
        self.captured += other.captured

    def json(self) -> dict[str, Json]:
        """The counts as JSON."""
        return {
            "deals": self.deals,
            "contested": self.contested,
            "surrenders": self.surrenders,
            "won": self.won,
            "won_share": rounded(self.won_share),
            "captured": self.captured,
            "captured_per_deal": rounded(self.captured_per_deal),
        }


@final
@dataclass(slots=True)
class Pace:
    """How fast a policy decides."""

    decisions: int = 0
    seconds: float = 0.0

    @property
    def milliseconds(self) -> float:
        """The average time of a decision, in milliseconds."""
        return 1000 * self.seconds / self.decisions

    def add(self, decisions: int, seconds: float) -> None:
        """Count decisions that took that long together."""
        self.decisions += decisions
        self.seconds += seconds


@dataclass
class Tally:
    """The counts. Steps are added one at a time."""

    deals: int = 0
    decisions: int = 0
    """The commands of all players."""
    tricks: int = 0
    throws: int = 0
    failed_throws: int = 0
    ruffs: int = 0
    captured: int = 0
    """The points captured in tricks and by kitty captures, over all deals."""
    outcomes: Counter[tuple[int, str]] = field(default_factory=Counter)
    """The number of deals by bid and outcome."""
    kitty_captures: Counter[int] = field(default_factory=Counter)
    """The number of kitty captures by multiplier."""
    declared: defaultdict[str, Declared] = field(default_factory=lambda: defaultdict(Declared))
    """What came of the deals that each policy declared."""
    paces: defaultdict[str, Pace] = field(default_factory=lambda: defaultdict(Pace))
    """How fast each policy decides. It is not among the figures of `json`."""
    chips: Counter[str] = field(default_factory=Counter)
    """The chips won by each policy."""
    seats: Counter[str] = field(default_factory=Counter)
    """The number of deals of each policy, counted once for each seat that it had."""
    blocks: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """The chips and the deals of each policy in each block: the matches that were played with the same decks."""

    def add(self, step: Step, names: tuple[str, ...], block: int) -> None:
        """Count the events of a step. `names` are the policies of the seats, seat 0 first."""
        self.decisions += 1
        for event in step.events:
            if isinstance(event, CardsLed):
                self.throws += isinstance(event.lead.shape, Throw)
                self.failed_throws += event.attempted is not None
            elif isinstance(event, CardsFollowed):
                self.tricks += event.taken is not None
                self.ruffs += _is_ruff(step, event.cards)
            elif isinstance(event, DealSettled):
                self._add_settlement(event.settlement, names, block)

    def add_pace(self, name: str, decisions: int, seconds: float) -> None:
        """Count the decisions of a policy, which took that many seconds together."""
        self.paces[name].add(decisions, seconds)

    def add_all(self, other: "Tally") -> None:
        """Count all that another tally has counted."""
        self.deals += other.deals
        self.decisions += other.decisions
        self.tricks += other.tricks
        self.throws += other.throws
        self.failed_throws += other.failed_throws
        self.ruffs += other.ruffs
        self.captured += other.captured
        self.outcomes.update(other.outcomes)
        self.kitty_captures.update(other.kitty_captures)
        for name, declared in other.declared.items():
            self.declared[name].add_all(declared)
        for name, pace in other.paces.items():
            self.add_pace(name, pace.decisions, pace.seconds)
        self.chips.update(other.chips)
        self.seats.update(other.seats)
        for (name, block), (chips, deals) in other.blocks.items():
            self._add_to_block(name, block, chips, deals)

    def _add_settlement(self, settlement: Settlement, names: tuple[str, ...], block: int) -> None:
        contract = settlement.contract
        assert contract is not None, "a deal played out has had a declarer"
        self.deals += 1
        self.captured += settlement.grade
        self.outcomes[contract.row.bid, _column(settlement.outcome)] += 1
        self.declared[names[contract.declarer]].add(contract, settlement)
        if settlement.kitty_capture is not None:
            self.kitty_captures[settlement.kitty_capture.multiplier] += 1
        for name, score in zip(names, settlement.scores, strict=True):
            self.chips[name] += score
            self.seats[name] += 1
            self._add_to_block(name, block, score, 1)

    def _add_to_block(self, name: str, block: int, chips: int, deals: int) -> None:
        before = self.blocks.get((name, block), (0, 0))
        self.blocks[name, block] = before[0] + chips, before[1] + deals

    def bids(self) -> tuple[int, ...]:
        """The bids that deals were played at, highest first."""
        return tuple(sorted({bid for bid, _ in self.outcomes}, reverse=True))

    def policies(self) -> tuple[str, ...]:
        """The policies that played, by name."""
        return tuple(sorted(self.seats))

    def chips_per_deal(self, name: str) -> float:
        """The average chips that a seat of this policy won in a deal."""
        return self.chips[name] / self.seats[name]

    def margin(self, name: str) -> float | None:
        """Half the width of the 95 % interval of `chips_per_deal`; None if there are fewer than two blocks.

        Deals of one block share their decks, so what is independent, and spreads, is the block.
        """
        mean = self.chips_per_deal(name)
        found = [counts for (owner, _), counts in sorted(self.blocks.items()) if owner == name]
        if len(found) < 2:
            return None
        spread = sum((chips - mean * deals) ** 2 for chips, deals in found)
        return TWO_SIDED * sqrt(spread * len(found) / (len(found) - 1)) / self.seats[name]

    def json(self) -> dict[str, Json]:
        """The counts as JSON. They depend only on what was played."""
        return {
            "deals": self.deals,
            "decisions": self.decisions,
            "outcomes": {str(bid): self._by_outcome(bid) for bid in self.bids()},
            "tricks": self.tricks,
            "captured": self.captured,
            "throws": self.throws,
            "failed_throws": self.failed_throws,
            "ruffs": self.ruffs,
            "kitty_captures": {str(times): number for times, number in sorted(self.kitty_captures.items())},
            "chips": {name: self.chips[name] for name in self.policies()},
            "chips_per_deal": {name: round(self.chips_per_deal(name), 3) for name in self.policies()},
            "margins": {name: rounded(self.margin(name)) for name in self.policies()},
            "declared": {name: self.declared[name].json() for name in self.policies()},
        }

    def _by_outcome(self, bid: int) -> dict[str, Json]:
        return {name: self.outcomes[bid, name] for name in OUTCOMES if self.outcomes[bid, name]}


def rounded(figure: float | None) -> float | None:
    """The figure with three decimals, as JSON shows it."""
    return None if figure is None else round(figure, 3)


def _is_ruff(step: Step, cards: CardSet) -> bool:
    assert isinstance(step.before, Running), "followed in a match that runs"
    assert isinstance(step.before.deal, Playing), "followed in play"
    lead = step.before.deal.to_follow
    return lead is not None and lead.group is not Group.TRUMPS and ruffs(step.before.deal.order, lead.shape, cards)


def ruffs(order: Order, led: Shape, cards: CardSet) -> bool:
    """Whether `cards` are trumps of the shape that was led in a side suit (毙牌)."""
    if isinstance(led, Throw) or cards != order.trumps(cards):
        return False
    shape = component(order, Group.TRUMPS, cards)
    return shape is not None and same_shape(shape, led)
