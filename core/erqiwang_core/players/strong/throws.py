"""Throws that the odds favour: they stand in most worlds, and cost a tempo where they fail (rules §6)."""

from typing import Final

from erqiwang_core.kernel.hand import EMPTY, count, union
from erqiwang_core.kernel.shapes import Component, all_components, component, components, holds_higher
from erqiwang_core.kernel.trump import Group
from erqiwang_core.players.outlook import Outlook, threats
from erqiwang_core.players.strong.known_deal import KnownDeal
from erqiwang_core.players.strong.places import Places
from erqiwang_core.playing import lowest
from erqiwang_core.units import CardSet

_FEW: Final = 1
"""How many unseen components may be higher than a component of such a throw."""


def likely_throw(seen: Outlook) -> CardSet | None:
    """All trumps of the hand that few unseen cards can beat, if they make a throw that might fail; None otherwise."""
    trumps = seen.order.trumps(seen.hand)
    chosen = EMPTY
    for cards in all_components(seen.order, trumps):
        part = component(seen.order, Group.TRUMPS, cards)
        if part is not None and threats(seen.order, Group.TRUMPS, seen.unseen, part) <= _FEW:
            chosen = union(chosen, cards)
    if count(chosen) <= 1 or component(seen.order, Group.TRUMPS, chosen) is not None:
        return None
    parts = components(seen.order, chosen)
    may_fail = any(threats(seen.order, Group.TRUMPS, seen.unseen, part) for part in parts)
    return chosen if may_fail else None


def stands(deal: KnownDeal, parts: tuple[Component, ...]) -> bool:
    """Whether a throw of these components stands, if the seat whose turn it is leads it now."""
    places = deal.places
    others = [places.cards(places.trumps_of(hand)) for seat, hand in enumerate(deal.hands) if seat != deal.turn]
    return not any(holds_higher(places.order, Group.TRUMPS, hand, part) for hand in others for part in parts)


def led_if_it_fails(places: Places, cards: CardSet) -> int:
    """The card that is led in place of a failed throw, as a row."""
    return places.row(lowest(places.order, cards))
