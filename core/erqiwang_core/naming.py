"""Naming: the declarer has taken the kitty, and names trump or surrenders (选主 / 投降, rules §5)."""

from dataclasses import dataclass
from typing import TypeAlias, final

from erqiwang_core.burying import Burying
from erqiwang_core.contract import Contract
from erqiwang_core.dealing import Dealt
from erqiwang_core.kernel.hand import FIXED_TRUMPS, SUITS, count, count_pairs, shared
from erqiwang_core.kernel.trump import NoTrump, SuitTrump, Trump, order
from erqiwang_core.refusals import NotATrump, NotYourTurn, Refusal, SurrenderNotAllowed
from erqiwang_core.rules import Rules
from erqiwang_core.seats import BySeat
from erqiwang_core.settlement import DealSettled, Settled, settle_surrender, settled
from erqiwang_core.units import CardSet, Seat


@final
@dataclass(frozen=True, slots=True)
class Naming:
    """The declarer has taken the kitty and is to name trump."""

    dealt: Dealt
    contract: Contract
    hands: BySeat[CardSet]


@final
@dataclass(frozen=True, slots=True)
class NameTrump:
    """Name trump. `trump` is unchecked: 1 to 4 name a suit, 5 is no trump, any other number is refused."""

    trump: int


@final
@dataclass(frozen=True, slots=True)
class Surrender:
    """Give the deal up (投降)."""


Command: TypeAlias = NameTrump | Surrender


@final
@dataclass(frozen=True, slots=True)
class TrumpNamed:
    """The declarer has named trump."""

    trump: Trump


Event: TypeAlias = TrumpNamed | DealSettled


def number(trump: Trump) -> int:
    """The number that stands for a trump choice: 1 to 4 for a suit, 5 for no trump."""
    match trump:
        case SuitTrump(suit):
            return suit.value
        case NoTrump():
            return 5


def _parse(rules: Rules, raw: int) -> Trump | NotATrump:
    trumps = {number(trump): trump for trump in rules.trumps}
    return trumps.get(raw, NotATrump(raw, tuple(trumps)))


def decide(state: Naming, seat: Seat, command: Command) -> Event | Refusal:
    """What `command` by `seat` brings about, or why it may not stand (rules §5).

    Refusals: `NotYourTurn`, `NotATrump` for a number that is no trump choice of this game, `SurrenderNotAllowed`.
    """
    if seat != state.contract.declarer:
        return NotYourTurn(state.contract.declarer)
    match command:
        case NameTrump(raw):
            trump = _parse(state.dealt.rules, raw)
            return trump if isinstance(trump, NotATrump) else TrumpNamed(trump)
        case Surrender():
            if state.contract.row.surrender is None:
                return SurrenderNotAllowed(state.contract.row.bid)
            return settle_surrender(state.dealt, state.contract, state.hands)


def evolve(state: Naming, event: Event) -> Burying | Settled:
    """The deal after `event`."""
    match event:
        case TrumpNamed(trump):
            return Burying(state.dealt, state.contract, order(trump), state.hands)
        case DealSettled(settlement=settlement):
            return settled(state.dealt, settlement)


def pairs_named(trump: Trump, hand: CardSet) -> int:
    """How many pairs of the suit `hand` holds; for no trump, how many pairs of jokers, 7s and 2s."""
    match trump:
        case SuitTrump(suit):
            return count_pairs(shared(hand, SUITS[suit]))
        case NoTrump():
            return count_pairs(shared(hand, FIXED_TRUMPS))


def suggested_trump(state: Naming) -> Trump:
    """The choice that gives the declarer most trumps, then most trump pairs. On a tie a suit precedes no trump."""
    hand = state.hands[state.contract.declarer]

    def strength(trump: Trump) -> tuple[int, int]:
        trumps = order(trump).trumps(hand)
        return count(trumps), count_pairs(trumps)

    return max(state.dealt.rules.trumps, key=strength)
