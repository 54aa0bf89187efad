"""The card play of a sensible player: a play is worth the points it may win, less what its cards are worth to keep."""

from dataclasses import dataclass
from functools import cache
from typing import Final, final

from erqiwang_core.kernel.cards import CARDS, KINDS, POINTS
from erqiwang_core.kernel.following import by_price, follow, is_legal
from erqiwang_core.kernel.hand import count, ids, kinds, pairs, points
from erqiwang_core.kernel.shapes import Throw, all_components
from erqiwang_core.kernel.trick import Trick, ahead_after
from erqiwang_core.kernel.trump import ACE_LEVEL, Group, Trump, groups_of, order
from erqiwang_core.players.outlook import Outlook, stays_ahead, sure_throw
from erqiwang_core.players.reading import is_partner, is_void, rules_of
from erqiwang_core.playing import SignalKind
from erqiwang_core.units import CardSet, KindSet


@final
@dataclass(frozen=True, slots=True)
class Weights:
    """What a player of one side reckons with, in points; found by playing thousands of deals, a weight at a time."""

    trump: float
    """What the lowest trump is worth to keep,"""
    trump_step: float
    """and how much more for every level above it."""
    ace: float
    """What the A of a side suit is worth to keep;"""
    side_step: float
    """any other side card is worth this for every level."""
    pair: float
    """What a pair that is broken up was worth beside its cards."""
    fading: float
    """Which part of all that is gone by the last trick."""
    lead_gain: float
    """What a lead that holds wins beside its own points,"""
    lead_loss: float
    """and what one that is beaten loses."""
    throw_gain: float
    """What each further card of a lead wins."""
    trump_lead: float
    """What leading trumps is worth in itself."""
    tempo: float
    """What being the next to lead is worth."""
    partner_wins: float
    """How likely it is that a partner who is still to play takes a trick."""
    partner_ruffs: float
    """The same where the partner is known to be void of the suit led and may hold trumps."""


# A declarer draws trumps, the highest first: below zero, they are worth more led than kept.
DECLARING: Final = Weights(
    trump=-1.8,
    trump_step=-0.9,
    ace=8.8,
    side_step=0.15,
    pair=4.3,
    fading=0.0,
    lead_gain=9.9,
    lead_loss=12.0,
    throw_gain=4.0,
    trump_lead=3.4,
    tempo=2.0,
    partner_wins=0.35,
    partner_ruffs=0.6,
)
DEFENDING: Final = Weights(
    trump=0.3,
    trump_step=0.8,
    ace=4.0,
    side_step=0.15,
    pair=1.5,
    fading=0.0,
    lead_gain=6.0,
    lead_loss=11.5,
    throw_gain=5.0,
    trump_lead=0.0,
    tempo=2.0,
    partner_wins=0.35,
    partner_ruffs=0.6,
)


@cache
def _keeping(trump: Trump, weights: Weights) -> tuple[float, ...]:
    """What every card is worth to keep, by id."""
    tables = order(trump)

    def worth(kind: int) -> float:
        strength = tables.strength[kind]
        if tables.group[kind] is Group.TRUMPS:
            return weights.trump + weights.trump_step * strength
        return weights.ace if strength == ACE_LEVEL else weights.side_step * strength

    return tuple(worth(number % KINDS) for number in range(CARDS))


@cache
def _prices(trump: Trump, weights: Weights, point: int) -> tuple[int, ...]:
    """The same in hundredths, and `point` more for each of the card's points."""
    return tuple(
        int(100 * worth) + point * POINTS[number % KINDS] for number, worth in enumerate(_keeping(trump, weights))
    )


def _keep(seen: Outlook, cards: CardSet, weights: Weights) -> float:
    """What those cards of the hand would be worth if they were kept."""
    keeping = _keeping(seen.order.trump, weights)
    broken = KindSet(pairs(seen.hand) & kinds(cards) & ~pairs(cards))
    worth = sum(keeping[card] for card in ids(cards)) + weights.pair * broken.bit_count()
    played = 1.0 - count(seen.hand) / rules_of(seen.view).hand_size
    return worth * (1.0 - weights.fading * played)


def best_lead(seen: Outlook, weights: Weights) -> CardSet:
    """What to lead: any component, or all trumps at once that surely win."""
    candidates = all_components(seen.order, seen.hand)
    throw = sure_throw(seen)
    if throw is not None:
        candidates = (*candidates, throw)
    return max(candidates, key=lambda cards: _lead_value(seen, cards, weights))


def _lead_value(seen: Outlook, cards: CardSet, weights: Weights) -> float:
    group = groups_of(seen.order, cards)[0]
    chance = stays_ahead(seen, group, cards)
    chance += (1.0 - chance) * _partner_takes(seen, group, weights)
    won = points(cards) + weights.lead_gain + weights.throw_gain * (count(cards) - 1)
    lost = points(cards) + weights.lead_loss
    in_itself = weights.trump_lead if group is Group.TRUMPS else 0.0
    return chance * won - (1.0 - chance) * lost + in_itself - _keep(seen, cards, weights)


def _partner_takes(seen: Outlook, group: Group, weights: Weights) -> float:
    if not seen.partners:
        return 0.0
    ruffs = any(
        is_void(seen.view, seat, group) and not is_void(seen.view, seat, Group.TRUMPS) for seat in seen.partners
    )
    return weights.partner_ruffs if ruffs else weights.partner_wins


def best_follow(seen: Outlook, trick: Trick, weights: Weights) -> CardSet:
    """What to follow with: the cheapest cards, the most points, or any component that is legal."""
    return max(_answers(seen, trick, weights), key=lambda cards: _follow_value(seen, trick, cards, weights))


def _answers(seen: Outlook, trick: Trick, weights: Weights) -> list[CardSet]:
    lead, hand = trick.lead, seen.hand
    answers = [
        follow(seen.order, lead, hand, by_price(_prices(seen.order.trump, weights, point))) for point in (100, -100)
    ]
    if not isinstance(lead.shape, Throw):
        fitting = (cards for cards in all_components(seen.order, hand) if count(cards) == lead.count)
        answers.extend(cards for cards in fitting if is_legal(seen.order, lead, hand, cards))
    return answers


def _follow_value(seen: Outlook, trick: Trick, cards: CardSet, weights: Weights) -> float:
    ahead = ahead_after(seen.order, trick, seen.view.seat, cards)
    own = ahead == seen.view.seat
    chance = stays_ahead(seen, trick.lead.group, cards if own else trick.ahead_cards())
    if not is_partner(seen.view, ahead):
        chance = _partner_takes(seen, trick.lead.group, weights)
    at_stake = points(trick.cards()) + points(cards)
    tempo = weights.tempo * chance if own else 0.0
    return (2.0 * chance - 1.0) * at_stake + tempo - _keep(seen, cards, weights)


def best_signal(seen: Outlook, trick: Trick) -> SignalKind | None:
    """What to tell a partner who is about to follow, before the seat's own play; None at any other time."""
    turn = seen.view.turn.seat
    if turn is None or turn not in seen.partners:
        return None
    answers = _answers(seen, trick, DEFENDING)
    if any(ahead_after(seen.order, trick, seen.view.seat, cards) == seen.view.seat for cards in answers):
        return SignalKind.CAN_BEAT
    return SignalKind.HAS_POINTS if any(points(cards) for cards in answers) else SignalKind.NO_POINTS
