"""Settlement: the result of a deal, item by item, and which seats are ready for the next (rules §10, §11, §13)."""

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
    """The chips of one seat in a settlement, and its awards."""

    awards: SeatAwards
    award_chips: Chips
    base_chips: Chips

    @property
    def score(self) -> Chips:
        """The seat's score of the deal in chips."""
        return Chips(self.award_chips + self.base_chips)


@final
@dataclass(frozen=True, slots=True)
class Settlement:
    """The result of a deal, item by item."""

    outcome: Outcome
    contract: Contract | None
    """None if the deal was disbanded before there was a declarer."""
    trump: Trump | None
    """None if no trump was named."""
    trick_points: Points
    """The points that the defenders captured in tricks, without a kitty capture."""
    kitty_capture: KittyCapture | None
    buried: CardSet
    """The buried cards. Empty if none were buried, and for a deal that a disband cut short (rules §13)."""
    base: Chips
    stake: Chips
    """X: base chips times multiplier, paid between the declarer and each defender (rules §10)."""
    seats: BySeat[SeatScore]

    @property
    def grade(self) -> Points:
        """The captured points with any kitty capture. 0 after a surrender or a disband."""
        return _grade(self.trick_points, self.kitty_capture)

    @property
    def multiplier(self) -> int:
        """The multiplier of the outcome."""
        return multiplier(self.outcome)

    @property
    def scores(self) -> BySeat[Chips]:
        """The score of each seat in chips. They sum to 0."""
        return self.seats.map(lambda seat: seat.score)


def _grade(trick_points: Points, capture: KittyCapture | None) -> Points:
    return Points(trick_points + (capture.captured if capture else 0))


@final
@dataclass(frozen=True, slots=True)
class DealSettled:
    """The deal has ended. From now on every viewer may see its buried cards and its deck."""

    number: int
    """Which deal of the match, from 1."""
    settlement: Settlement


@final
@dataclass(frozen=True, slots=True)
class Settled:
    """A settled deal. It stays in view until every seat is ready (rules §13)."""

    dealt: Dealt
    settlement: Settlement
    ready: BySeat[bool]
    finished: tuple[Trick, ...]
    """The complete tricks, first trick first."""
    trick: Trick | None
    """The trick on the table: the last one, or the one that a disband cut short. None before the first lead."""


def settled(
    dealt: Dealt, settlement: Settlement, finished: tuple[Trick, ...] = (), trick: Trick | None = None
) -> Settled:
    """A deal that has just been settled: no seat is ready yet."""
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
    """The settlement of a deal played to the end. `snapshot` holds the hands that awards are counted on (rules §11)."""
    result = outcome(contract.row, _grade(trick_points, capture))
    return _settle(dealt, contract, trump, buried, snapshot, trick_points, capture, result)


def settle_surrender(dealt: Dealt, contract: Contract, hands: BySeat[CardSet]) -> DealSettled:
    """The settlement of a surrender: the declarer pays, and awards count without a trump suit (rules §10, §11)."""
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
    """The settlement of a deal that a disband cut short: 0 for every seat, and no buried cards (rules §13)."""
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
    """The first bidder of the next deal: the declarer if it won, else the declarer's next seat (rules §4)."""
    contract = state.settlement.contract
    assert contract is not None, "a deal settled within a match has had a declarer"
    if declarer_won(state.settlement.outcome):
        return contract.declarer
    return next_seat(contract.declarer, state.dealt.rules.seats)
