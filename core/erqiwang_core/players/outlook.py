"""What a player may expect of a trick: how likely it is to be beaten, judged by the cards not seen yet."""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.hand import copies, count, points
from erqiwang_core.kernel.shapes import Component, Pair, Single, Tractor, all_components, component, components, starts
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import BOTTOM_PLANE, Group, Order, groups_of
from erqiwang_core.players.reading import (
    agreed,
    is_partner,
    is_void,
    opponents,
    partners,
    rules_of,
    still_to_play,
    unseen,
)
from erqiwang_core.players.sight import Sight
from erqiwang_core.playing import SignalKind, Signalled
from erqiwang_core.rules import BidRow
from erqiwang_core.scoring import declarer_won, multiplier, outcome
from erqiwang_core.units import CardSet, KindSet, Points, Seat

_NEAR: Final = 15
"""The points around the expected ones that are looked at in any case."""
_MEAN_RISE: Final = 1.5
"""How many base chips the defenders win by a step Q of points, on the mean of all scores."""
_LEAST_URGENT: Final = 0.4
_MOST_URGENT: Final = 2.5
_SINGLE_RUFF: Final = 0.9
_PAIR_RUFF: Final = 0.4
_TRACTOR_RUFF: Final = 0.1
"""The chance that a seat void of the led suit has trumps of the led shape, by shape."""


@final
@dataclass(frozen=True, slots=True)
class Outlook:
    """The position as the player to act sees it."""

    view: Sight
    order: Order
    hand: CardSet
    unseen: CardSet
    """The cards that may be in another hand."""
    trick: Trick | None
    """The trick to follow; None if the seat leads."""
    partners: tuple[Seat, ...]
    """The partners that play after this seat."""
    foes: tuple[Seat, ...]
    """The opponents that play after this seat."""
    hidden_hands: int
    """The number of other hands that share the unseen cards."""
    partners_led: tuple[Group, ...]
    """The side suits that a partner of this defender has led, as far as it may look back."""
    partner_can_beat: bool | None
    """Whether a partner that is still to play has signalled that it can beat the trick; None if none has signalled."""
    urgency: float
    """What a point is worth by the score: 1 on the mean of all scores, more near the bid or another step."""


def outlook(view: Sight, signals: tuple[Signalled, ...] = ()) -> Outlook:
    """The position of the view's seat, during play, with the signals that it was told in this trick."""
    later = still_to_play(view)
    out = unseen(view)
    return Outlook(
        view=view,
        order=view.order,
        hand=view.hand.cards,
        unseen=out,
        trick=view.trick_under_way,
        partners=partners(view, later),
        foes=opponents(view, later),
        hidden_hands=rules_of(view).seats - 1,
        partners_led=_partners_led(view),
        partner_can_beat=_partner_can_beat(signals, later),
        urgency=_urgency(view, out),
    )


def _partners_led(view: Sight) -> tuple[Group, ...]:
    if agreed(view).declarer == view.seat:
        return ()
    return tuple(
        {
            trick.lead.group
            for trick in view.history.tricks
            if trick.lead.group and trick.leader != view.seat and is_partner(view, trick.leader)
        }
    )


def _partner_can_beat(signals: tuple[Signalled, ...], later: tuple[Seat, ...]) -> bool | None:
    said = [signalled.signal for signalled in signals if signalled.sender in later]
    return any(signal is SignalKind.CAN_BEAT for signal in said) if said else None


def _urgency(view: Sight, out: CardSet) -> float:
    """How steeply the chips rise around the points that the defenders will have, beside the mean of all scores."""
    row = rules_of(view).row(agreed(view).bid)
    left = points(out) + points(view.hand.cards)
    expected = view.captured.points + left // 2
    # Half of what is left may be off by as much.
    near = left // 4 + _NEAR
    low, high = Points(max(0, expected - near)), Points(expected + near)
    steep = (_paid(row, high) - _paid(row, low)) / (high - low)
    return min(_MOST_URGENT, max(_LEAST_URGENT, steep * row.step / (_MEAN_RISE * row.base)))


def _paid(row: BidRow, captured: Points) -> int:
    result = outcome(row, captured)
    return -row.base * multiplier(result) if declarer_won(result) else row.base * multiplier(result)


def threats(order: Order, group: Group, cards: CardSet, part: Component) -> int:
    """The number of components in `cards` of `group` that have the shape of `part` and are higher."""
    match part:
        case Single(level):
            higher = KindSet(sum(order.rungs[group][level + 1 :]))
            return count(CardSet(cards & copies(higher)))
        case Pair(level):
            return ((order.pair_ladder(group, cards) & BOTTOM_PLANE) >> level + 1).bit_count()
        case Tractor(length, level):
            return (starts(order.pair_ladder(group, cards), length) >> level - length + 2).bit_count()


def stays_ahead(seen: Outlook, led: Group, cards: CardSet) -> float:
    """The chance that no opponent still to play beats `cards`, which are ahead in a trick of group `led`."""
    group = groups_of(seen.order, cards)[0]
    part = component(seen.order, group, cards)
    if part is None:
        # The cards are a throw. This player leads only sure throws, and a throw on the table has stood.
        return 1.0
    chance = 1.0
    for foe in seen.foes:
        chance *= 1.0 - _beats(seen, foe, led, group, part)
    return chance


def _beats(seen: Outlook, foe: Seat, led: Group, group: Group, part: Component) -> float:
    """The chance that `foe` can beat `part` of `group` in a trick of group `led`."""
    void = _is_void(seen, foe, led)
    higher = _holds_higher(seen, foe, group, part)
    if group is led:
        if led is Group.TRUMPS:
            return higher
        return (1.0 - void) * higher + void * _ruffs(seen, foe, part)
    return void * higher


def _is_void(seen: Outlook, foe: Seat, group: Group) -> float:
    if is_void(seen.view, foe, group):
        return 1.0
    left = count(CardSet(seen.unseen & seen.order.cards[group]))
    return (1.0 - 1.0 / seen.hidden_hands) ** left


def _holds_higher(seen: Outlook, foe: Seat, group: Group, part: Component) -> float:
    if is_void(seen.view, foe, group):
        return 0.0
    share = (1.0 / seen.hidden_hands) ** _size(part)
    return 1.0 - (1.0 - share) ** threats(seen.order, group, seen.unseen, part)


def _ruffs(seen: Outlook, foe: Seat, part: Component) -> float:
    if is_void(seen.view, foe, Group.TRUMPS) or not seen.order.trumps(seen.unseen):
        return 0.0
    match part:
        case Single():
            return _SINGLE_RUFF
        case Pair():
            return _PAIR_RUFF
        case Tractor():
            return _TRACTOR_RUFF


def _size(part: Component) -> int:
    match part:
        case Single():
            return 1
        case Pair():
            return 2
        case Tractor(length=length):
            return 2 * length


def _is_sure_throw(seen: Outlook, cards: CardSet) -> bool:
    parts = components(seen.order, cards)
    return not any(threats(seen.order, Group.TRUMPS, seen.unseen, part) for part in parts)


def sure_throw(seen: Outlook) -> CardSet | None:
    """All trumps of the hand that no unseen card can beat, if they make a throw; None otherwise."""
    sure = 0
    for cards in all_components(seen.order, seen.order.trumps(seen.hand)):
        part = component(seen.order, Group.TRUMPS, cards)
        if part is not None and not threats(seen.order, Group.TRUMPS, seen.unseen, part):
            sure |= cards
    throw = CardSet(sure)
    if not throw or component(seen.order, Group.TRUMPS, throw) is not None or not _is_sure_throw(seen, throw):
        return None
    return throw
