"""A trick: the lead, the plays, and who is ahead (rules §8)."""

from dataclasses import dataclass
from typing import final

from erqiwang_core.kernel.hand import without
from erqiwang_core.kernel.shapes import Component, Lead, Throw, beats, component, same_shape
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.units import CardSet, Seat


@final
@dataclass(frozen=True, slots=True)
class Played:
    """The cards one seat put into a trick."""

    seat: Seat
    cards: CardSet


@final
@dataclass(frozen=True, slots=True)
class Trick:
    """A trick as it lies on the table, complete or not."""

    lead: Lead
    plays: tuple[Played, ...]
    """The plays in order, the lead first."""
    ahead: Seat
    """The seat whose cards are best so far."""
    failed_throw: bool
    """Whether the lead is the single card that a failed throw left (甩错, rules §6)."""

    @property
    def leader(self) -> Seat:
        """The seat that led."""
        return self.plays[0].seat

    def cards(self) -> CardSet:
        """All cards played to the trick so far."""
        return CardSet(sum(played.cards for played in self.plays))

    def ahead_cards(self) -> CardSet:
        """The cards that are best so far."""
        return next(played.cards for played in self.plays if played.seat == self.ahead)


def ahead_after(order: Order, trick: Trick, seat: Seat, cards: CardSet) -> Seat:
    """The seat ahead after `seat` has played `cards`. An equal play stays behind; nothing beats a throw (rules §8)."""
    if isinstance(trick.lead.shape, Throw):
        return trick.ahead
    for group in (trick.lead.group, Group.TRUMPS):
        if not without(cards, order.cards[group]):
            shape = component(order, group, cards)
            return seat if shape is not None and _overtakes(order, trick, group, shape) else trick.ahead
    return trick.ahead


def _overtakes(order: Order, trick: Trick, group: Group, shape: Component) -> bool:
    standing = trick.ahead_cards()
    if not without(standing, order.cards[group]):
        best = component(order, group, standing)
        return best is not None and beats(shape, best)
    # The cards ahead are of the led side suit, so every ruff in the led shape beats them.
    led = trick.lead.shape
    return group is Group.TRUMPS and not isinstance(led, Throw) and same_shape(shape, led)
