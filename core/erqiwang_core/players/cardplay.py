"""The card play of a sensible player: it weighs the points a play may win against the value of keeping its cards."""

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
    """The weights of one side, in points. They were found by playing thousands of deals, one weight at a time."""

    trump: float
    """The value of keeping the lowest trump."""
    trump_step: float
    """The extra value of keeping a trump, for each level above the lowest."""
    ace: float
    """The value of keeping the A of a side suit."""
    side_step: float
    """The value of keeping any other side card, for each of its levels."""
    pair: float
    """The value that is lost by breaking up a pair, beside the values of its cards."""
    fading: float
    """The share of the values above that is gone by the last trick, 0 to 1. It grows evenly with the tricks."""
    lead_gain: float
    """The value of a lead that wins the trick, beside its own points."""
    lead_loss: float
    """The loss by a lead that is beaten, beside its own points."""
    throw_gain: float
    """The value of each further card of a lead that wins."""
    trump_lead: float
    """The value of leading trumps, whoever wins the trick."""
    long_trumps: float
    """The same, in addition, if the seat holds more than its share of the trumps that are left."""
    partner_suit: float
    """The value of leading a side suit that a partner has led."""
    score: float
    """How far the score decides what a point is worth, 0 to 1: with 0 all points are worth the same."""
    tempo: float
    """The value of leading to the next trick."""
    partner_wins: float
    """The chance that a partner who is still to play wins the trick, 0 to 1."""
    partner_ruffs: float
    """The same chance, if the partner is known to be void of the led suit and may hold trumps."""


# A declarer draws trumps, highest first. Their value of keeping is below 0, so leading them is better.
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
    long_trumps=0.0,
    partner_suit=0.0,
    score=0.25,
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
    long_trumps=3.0,
    partner_suit=5.0,
    score=0.5,
    tempo=2.0,
    partner_wins=0.35,
    partner_ruffs=0.6,
)


_BELIEVED: Final = 0.95
"""The chance that a partner who signals that it can beat the trick wins it."""


@cache
def _keeping(trump: Trump, weights: Weights) -> tuple[float, ...]:
    """The value of keeping each card, by id."""
    tables = order(trump)

    def worth(kind: int) -> float:
        strength = tables.strength[kind]
        if tables.group[kind] is Group.TRUMPS:
            return weights.trump + weights.trump_step * strength
        return weights.ace if strength == ACE_LEVEL else weights.side_step * strength

    return tuple(worth(number % KINDS) for number in range(CARDS))


@cache
def _prices(trump: Trump, weights: Weights, point: int) -> tuple[int, ...]:
    """The value of keeping each card in hundredths, plus `point` for each of its points, by id."""
    return tuple(
        int(100 * worth) + point * POINTS[number % KINDS] for number, worth in enumerate(_keeping(trump, weights))
    )


def _keep(seen: Outlook, cards: CardSet, weights: Weights) -> float:
    """The value of keeping these cards of the hand, pairs that they break up included."""
    keeping = _keeping(seen.order.trump, weights)
    broken = KindSet(pairs(seen.hand) & kinds(cards) & ~pairs(cards))
    worth = sum(keeping[card] for card in ids(cards)) + weights.pair * broken.bit_count()
    played = 1.0 - count(seen.hand) / rules_of(seen.view).hand_size
    return worth * (1.0 - weights.fading * played)


def best_lead(seen: Outlook, weights: Weights) -> CardSet:
    """The lead of highest value: any single, pair or tractor of the hand, or a throw that surely stands."""
    return max(leads(seen, weights), key=lambda lead: lead[1])[0]


def leads(seen: Outlook, weights: Weights) -> list[tuple[CardSet, float]]:
    """The leads that come into question, each with its value in points."""
    candidates = all_components(seen.order, seen.hand)
    throw = sure_throw(seen)
    if throw is not None:
        candidates = (*candidates, throw)
    return [(cards, _lead_value(seen, cards, weights)) for cards in candidates]


def _lead_value(seen: Outlook, cards: CardSet, weights: Weights) -> float:
    group = groups_of(seen.order, cards)[0]
    chance = stays_ahead(seen, group, cards)
    chance += (1.0 - chance) * _partner_takes(seen, group, weights)
    worth = points(cards) * _point_worth(seen, weights)
    won = worth + weights.lead_gain + weights.throw_gain * (count(cards) - 1)
    lost = worth + weights.lead_loss
    return chance * won - (1.0 - chance) * lost + _in_itself(seen, group, weights) - _keep(seen, cards, weights)


def _in_itself(seen: Outlook, group: Group, weights: Weights) -> float:
    """The value of leading that group, whoever wins the trick."""
    if group is not Group.TRUMPS:
        return weights.partner_suit if group in seen.partners_led else 0.0
    own, out = count(seen.order.trumps(seen.hand)), count(seen.order.trumps(seen.unseen))
    return weights.trump_lead + (weights.long_trumps if own * seen.hidden_hands > out else 0.0)


def _point_worth(seen: Outlook, weights: Weights) -> float:
    """What a point is worth by the score: much if the bid or another step is near, little if nothing depends on it."""
    return 1.0 + weights.score * (seen.urgency - 1.0)


def _partner_takes(seen: Outlook, group: Group, weights: Weights) -> float:
    if not seen.partners:
        return 0.0
    if seen.partner_can_beat is not None:
        return _BELIEVED if seen.partner_can_beat else 1.0 - _BELIEVED
    ruffs = any(
        is_void(seen.view, seat, group) and not is_void(seen.view, seat, Group.TRUMPS) for seat in seen.partners
    )
    return weights.partner_ruffs if ruffs else weights.partner_wins


def best_follow(seen: Outlook, trick: Trick, weights: Weights) -> CardSet:
    """The play of highest value: the cheapest cards, those with most points, or a legal single, pair or tractor."""
    return max(follows(seen, trick, weights), key=lambda follow: follow[1])[0]


def follows(seen: Outlook, trick: Trick, weights: Weights) -> list[tuple[CardSet, float]]:
    """The plays that come into question, each with its value in points."""
    return [(cards, _follow_value(seen, trick, cards, weights)) for cards in _answers(seen, trick, weights)]


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
    at_stake = (points(trick.cards()) + points(cards)) * _point_worth(seen, weights)
    tempo = weights.tempo * chance if own else 0.0
    return (2.0 * chance - 1.0) * at_stake + tempo - _keep(seen, cards, weights)


def best_signal(seen: Outlook, trick: Trick) -> SignalKind | None:
    """The signal to a partner whose turn it is, before this seat has played; None if no such partner is to play."""
    turn = seen.view.turn.seat
    if turn is None or turn not in seen.partners:
        return None
    answers = _answers(seen, trick, DEFENDING)
    if any(ahead_after(seen.order, trick, seen.view.seat, cards) == seen.view.seat for cards in answers):
        return SignalKind.CAN_BEAT
    return SignalKind.HAS_POINTS if any(points(cards) for cards in answers) else SignalKind.NO_POINTS
