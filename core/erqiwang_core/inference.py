"""Suit inference: what a seat's plays prove about its hand. The hidden hand itself is never read (rules §12)."""

from dataclasses import dataclass
from typing import Final, final

from erqiwang_core.kernel.hand import count, count_pairs, shared
from erqiwang_core.kernel.shapes import Lead, pairs_in
from erqiwang_core.kernel.trump import Group, Order
from erqiwang_core.seats import BySeat, by_seat
from erqiwang_core.units import CardSet, Seat


@final
@dataclass(frozen=True, slots=True)
class Proven:
    """What is proven about one seat: the groups it is void of, and the groups in which it holds no pair."""

    void: tuple[Group, ...] = ()
    no_pair: tuple[Group, ...] = ()


_NOTHING: Final = Proven()


def nothing_proven(seats: int) -> BySeat[Proven]:
    """What is proven before the first play: nothing, for every seat."""
    return by_seat(seats, lambda _: _NOTHING)


def after_follow(order: Order, proven: BySeat[Proven], lead: Lead, seat: Seat, cards: CardSet) -> BySeat[Proven]:
    """What is proven about every seat after `seat` has followed `lead` with `cards` (rules §12).

    A seat that plays fewer cards of the led group than were led is void of it and has no pair in it. A seat that shows
    fewer pairs than the lead holds has no pair left in that group.
    """
    shown = shared(cards, order.cards[lead.group])
    void = count(shown) < lead.count
    if not void and count_pairs(shown) >= pairs_in(lead.shape):
        return proven
    known = proven[seat]
    found = Proven(
        void=_with(known.void, lead.group) if void else known.void,
        no_pair=_with(known.no_pair, lead.group),
    )
    return proven if found == known else proven.put(seat, found)


def _with(groups: tuple[Group, ...], group: Group) -> tuple[Group, ...]:
    return groups if group in groups else tuple(sorted((*groups, group)))
