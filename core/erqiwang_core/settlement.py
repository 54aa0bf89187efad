"""Settled: a deal that has ended, every part of its sum, and who is ready for the next (rules §10, §11, §13)."""

from dataclasses import dataclass
from typing import final

from erqiwang_core.awards import NO_AWARDS, SeatAwards, award_chips, award_unit, seat_awards
from erqiwang_core.contract import Contract
from erqiwang_core.dealing import Dealt
from erqiwang_core.kernel.hand import EMPTY
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import Order, Trump, order
from erqiwang_core.scoring import (
    Disbanded,
    KittyCapture,
    Outcome,
    Surrendered,
    base_chips,
    between_sides,
    declarer_won,
    multiplier,
    outcome,
)
from erqiwang_core.seats import BySeat, by_seat, next_seat
from erqiwang_core.units import CardSet, Chips, Points, Seat


@final
@dataclass(frozen=True, slots=True)
class SeatScore:
    """One seat's part of a settlement, in chips."""

    awards: SeatAwards
    award_chips: Chips
    base_chips: Chips

    @property
    def score(self) -> Chips:
        """The seat's score of the deal."""
        return Chips(self.award_chips + self.base_chips)


@final
@dataclass(frozen=True, slots=True)
class Settlement:
    """How a deal ended, and every part of its sum."""

    outcome: Outcome
    contract: Contract | None
    """None where the deal was disbanded before a declarer was found."""
    trump: Trump | None
    """None where none was named."""
    trick_points: Points
    """What the defenders captured in tricks."""
    kitty_capture: KittyCapture | None
    buried: CardSet
    """The buried cards; none where nothing was buried, and none of a deal that was cut short (rules §13)."""
    base: Chips
    stake: Chips
    """X, what declarer and each defender pay one another: base chips times multiplier."""
    seats: BySeat[SeatScore]

    @property
    def grade(self) -> Points:
        """Captured points with any kitty capture; 0 after a surrender or a disband."""
        return _grade(self.trick_points, self.kitty_capture)

    @property
    def multiplier(self) -> int:
        """The multiplier of the outcome."""
        return multiplier(self.outcome)

    @property
    def scores(self) -> BySeat[Chips]:
        """Each seat's score of the deal; they sum to 0."""
        return self.seats.map(lambda seat: seat.score)


def _grade(trick_points: Points, capture: KittyCapture | None) -> Points:
    return Points(trick_points + (capture.captured if capture else 0))


@final
@dataclass(frozen=True, slots=True)
class DealSettled:
    """The deal has ended. What was hidden in it is open from now on."""

    number: int
    """Which deal of the match, from 1."""
    settlement: Settlement


@final
@dataclass(frozen=True, slots=True)
class Settled:
    """A settled deal, in view until every seat is ready."""

    dealt: Dealt
    settlement: Settlement
    ready: BySeat[bool]
    finished: tuple[Trick, ...]
    """The tricks that were played to the end."""
    trick: Trick | None
    """The trick on the table, until the next deal: the last one, or the one that a disband cut short."""


def settled(
    dealt: Dealt, settlement: Settlement, finished: tuple[Trick, ...] = (), trick: Trick | None = None
) -> Settled:
    """The phase that a settlement begins: nobody is ready yet."""
    return Settled(dealt, settlement, by_seat(dealt.rules.seats, lambda _: False), finished, trick)


def settle_play(
    dealt: Dealt,
    contract: Contract,
    trump: Trump,
    buried: CardSet,
    snapshot: BySeat[CardSet],
    trick_points: Points,
    capture: KittyCapture | None,
) -> DealSettled:
    """The settlement of a deal played to the end; `snapshot` holds what awards are counted on (rules §11)."""
    result = outcome(contract.row, _grade(trick_points, capture))
    return _settle(dealt, contract, trump, buried, snapshot, trick_points, capture, result)


def settle_surrender(dealt: Dealt, contract: Contract, hands: BySeat[CardSet]) -> DealSettled:
    """The settlement of a surrender: the declarer pays, and awards are counted without a trump suit (rules §10, §11)."""
    return _settle(dealt, contract, None, EMPTY, hands, Points(0), None, Surrendered())


def _settle(
    dealt: Dealt,
    contract: Contract,
    trump: Trump | None,
    buried: CardSet,
    snapshot: BySeat[CardSet],
    trick_points: Points,
    capture: KittyCapture | None,
    result: Outcome,
) -> DealSettled:
    base = base_chips(contract.row, result)
    stake = Chips(base * multiplier(result))
    return DealSettled(
        dealt.number,
        Settlement(
            outcome=result,
            contract=contract,
            trump=trump,
            trick_points=trick_points,
            kitty_capture=capture,
            buried=buried,
            base=base,
            stake=stake,
            seats=_scores(dealt, contract, None if trump is None else order(trump), snapshot, base, stake, result),
        ),
    )


def settle_disband(dealt: Dealt, contract: Contract | None, trump: Trump | None) -> Settlement:
    """The settlement of a deal cut short by a disband: 0 for all, whatever was captured; no buried cards (rules §13)."""
    nothing = SeatScore(NO_AWARDS, Chips(0), Chips(0))
    return Settlement(
        outcome=Disbanded(),
        contract=contract,
        trump=trump,
        trick_points=Points(0),
        kitty_capture=None,
        buried=EMPTY,
        base=Chips(0),
        stake=Chips(0),
        seats=by_seat(dealt.rules.seats, lambda _: nothing),
    )


def _scores(
    dealt: Dealt,
    contract: Contract,
    tables: Order | None,
    snapshot: BySeat[CardSet],
    base: Chips,
    stake: Chips,
    result: Outcome,
) -> BySeat[SeatScore]:
    rules, declarer = dealt.rules, contract.declarer
    awards = by_seat(
        rules.seats, lambda seat: seat_awards(rules.awards, tables, snapshot[seat], declarer=seat == declarer)
    )
    for_awards = award_chips(award_unit(rules.awards, stake, base), awards.map(lambda own: own.total))
    for_bid = between_sides(rules.seats, declarer, stake, won=declarer_won(result))
    return by_seat(rules.seats, lambda seat: SeatScore(awards[seat], for_awards[seat], for_bid[seat]))


def next_first_bidder(state: Settled) -> Seat:
    """Who opens the next deal's bidding: the declarer who won, else the declarer's next seat (rules §4)."""
    contract = state.settlement.contract
    assert contract is not None, "a deal settled within a match has had a declarer"
    if declarer_won(state.settlement.outcome):
        return contract.declarer
    return next_seat(contract.declarer, state.dealt.rules.seats)
