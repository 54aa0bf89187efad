"""Awards (奖): what a seat earns by the cards it held, whoever wins the deal (rules §11, part B)."""

from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Final, final

from erqiwang_core.kernel.hand import EMPTY, JOKERS, SEVENS, TWOS, copies, count, pairs, shared, union
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.rules import AwardTable, ChainRush, DeclarerAwards
from erqiwang_core.seats import BySeat
from erqiwang_core.units import Awards, CardSet, Chips, KindSet


class AwardKind(Enum):
    """What an award is given for."""

    JOKERS = "jokers"
    """Three or four jokers."""
    SEVENS = "sevens"
    """Six, seven or eight 7s."""
    TWOS = "twos"
    """Six, seven or eight 2s."""
    CHAIN = "chain"
    """The chain of pairs from the on-suit 7 down, for a declarer with three or four jokers (rules §11)."""
    JOKER_BONUS = "joker_bonus"
    """One award a joker (傍王), if the room has the joker bonus."""
    RUSH = "rush"
    """The steps of the chain rush (冲关), in the four-player game (part B)."""


@final
@dataclass(frozen=True, slots=True)
class Award:
    """A number of awards of one kind."""

    kind: AwardKind
    number: Awards


@final
@dataclass(frozen=True, slots=True)
class SeatAwards:
    """All awards of one seat, with the cards that prove them."""

    awards: tuple[Award, ...]
    cards: CardSet
    """The cards to show: every joker, the 7s and 2s that earn something, and the pairs of the chain (rules §11)."""
    jokers: int

    @property
    def total(self) -> Awards:
        """The seat's number of awards, N (rules §11)."""
        return Awards(sum(award.number for award in self.awards))

    @property
    def regular(self) -> Awards:
        """The number of awards without the joker bonus (packet: `chongguan`)."""
        return Awards(sum(award.number for award in self.awards if award.kind is not AwardKind.JOKER_BONUS))


_JOKER_AWARDS: Final = {3: 1, 4: 3}
_RANK_AWARDS: Final = {6: 1, 7: 2, 8: 3}
_CHAIN_JOKERS: Final = 3
"""The least number of jokers that allows a chain."""


def seat_awards(table: AwardTable, order: Order | None, snapshot: CardSet, *, declarer: bool) -> SeatAwards:
    """The awards of one seat for `snapshot`, the fixed hand that awards are counted on (rules §11, part B).

    `order` is None at a surrender, since no trump was named: then there is no declarer's chain.
    """
    jokers = shared(snapshot, JOKERS)
    match table:
        case DeclarerAwards(joker_bonus):
            return _declarer_awards(order, snapshot, jokers, declarer=declarer, joker_bonus=joker_bonus)
        case ChainRush():
            return _rush_awards(order, snapshot, jokers)


def _rush_awards(order: Order | None, snapshot: CardSet, jokers: CardSet) -> SeatAwards:
    held = count(jokers)
    if held < _CHAIN_JOKERS:
        return SeatAwards((), jokers, held)
    chain = _rush_chain(order, snapshot)
    steps = Award(AwardKind.RUSH, Awards(1 + len(chain)))
    return SeatAwards((steps,), _with_pairs(jokers, chain), held)


def _declarer_awards(
    order: Order | None, snapshot: CardSet, jokers: CardSet, *, declarer: bool, joker_bonus: bool
) -> SeatAwards:
    held = count(jokers)
    bonus = (AwardKind.JOKER_BONUS, Awards(held if joker_bonus else 0))
    if not declarer:
        return SeatAwards(_given(bonus), jokers, held)
    chain = _declarer_chain(order, snapshot) if held >= _CHAIN_JOKERS else ()
    sevens, twos = shared(snapshot, SEVENS), shared(snapshot, TWOS)
    cards = _with_pairs(jokers, chain)
    for rank in (sevens, twos):
        if count(rank) in _RANK_AWARDS:
            cards = union(cards, rank)
    awards = _given(
        (AwardKind.JOKERS, Awards(_JOKER_AWARDS.get(held, 0))),
        (AwardKind.SEVENS, Awards(_RANK_AWARDS.get(count(sevens), 0))),
        (AwardKind.TWOS, Awards(_RANK_AWARDS.get(count(twos), 0))),
        (AwardKind.CHAIN, Awards(len(chain))),
        bonus,
    )
    return SeatAwards(awards, cards, held)


def _given(*numbers: tuple[AwardKind, Awards]) -> tuple[Award, ...]:
    return tuple(Award(kind, number) for kind, number in numbers if number)


def _with_pairs(cards: CardSet, chain: tuple[KindSet, ...]) -> CardSet:
    for level in chain:
        cards = union(cards, copies(level))
    return cards


def _chain(snapshot: CardSet, levels: tuple[KindSet, ...]) -> tuple[KindSet, ...]:
    """The kinds held as pairs, level by level, up to the first of `levels` without a pair."""
    held = pairs(snapshot)
    return tuple(takewhile(bool, (KindSet(level & held) for level in levels)))


def _below_jokers(order: Order) -> tuple[KindSet, ...]:
    """The kinds of each trump level below the jokers, highest first."""
    levels = tuple(level for level in reversed(order.rungs[Group.TRUMPS]) if level)
    return levels[2:]


def _declarer_chain(order: Order | None, snapshot: CardSet) -> tuple[KindSet, ...]:
    return () if order is None else _chain(snapshot, _below_jokers(order))


def _rush_chain(order: Order | None, snapshot: CardSet) -> tuple[KindSet, ...]:
    """On-suit 7, off-suit 7, on-suit 2, off-suit 2. In no trump there are only two levels, 7 and 2 (part B)."""
    return () if order is None else _chain(snapshot, _below_jokers(order)[:4])


def award_chips(unit: Chips, totals: BySeat[Awards]) -> BySeat[Chips]:
    """The chips that each seat wins by awards: `unit` an award, from each other seat. They sum to 0 (rules §11)."""
    everybody = sum(totals)
    return totals.map(lambda own: Chips(unit * (len(totals) * own - everybody)))


def award_unit(table: AwardTable, stake: Chips, base: Chips) -> Chips:
    """The chips that one award is worth: X of the deal, or in 冲关 the unit u of the bid (rules §11, part B)."""
    match table:
        case DeclarerAwards():
            return stake
        case ChainRush():
            return base


NO_AWARDS: Final = SeatAwards((), EMPTY, 0)
