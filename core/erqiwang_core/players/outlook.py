"""What a player may expect of a trick: how likely it is to be beaten, judged by the cards not seen yet."""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.hand import copies, count
from erqiwang_core.kernel.shapes import Component, Pair, Single, Tractor, all_components, component, components, starts
from erqiwang_core.kernel.trick import Trick
from erqiwang_core.kernel.trump import BOTTOM_PLANE, Group, Order, groups_of
from erqiwang_core.players.reading import (
    is_void,
    opponents,
    partners,
    rules_of,
    still_to_play,
    unseen,
)
from erqiwang_core.players.sight import Sight
from erqiwang_core.units import CardSet, KindSet, Seat

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


def outlook(view: Sight) -> Outlook:
    """The position of the view's seat, during play."""
    later = still_to_play(view)
    return Outlook(
        view=view,
        order=view.order,
        hand=view.hand.cards,
        unseen=unseen(view),
        trick=view.trick_under_way,
        partners=partners(view, later),
        foes=opponents(view, later),
        hidden_hands=rules_of(view).seats - 1,
    )


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
