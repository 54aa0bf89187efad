"""Places: the cards of a trump choice in one row, weakest first within each group, both copies side by side.

In a row like this the highest card of a group is the highest bit, and a pair is two bits side by side. The playouts
of a strong player look at nothing else, because everything they ask is then one or two operations on whole masks.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, NewType, final

from erqiwang_core.kernel.cards import CARDS, KINDS, POINTS
from erqiwang_core.kernel.hand import ids
from erqiwang_core.kernel.trump import GROUPS, Group, Order, Trump, order
from erqiwang_core.units import CardId, CardSet

Row = NewType("Row", int)
"""A set of cards by their places: bit `n` is the card on place `n`."""

FIRST_COPIES: Final = Row(sum(1 << place for place in range(0, CARDS, 2)))
"""The lower place of each two: a pair is known by it."""


@final
@dataclass(frozen=True, slots=True)
class Places:
    """The places of the cards under one trump choice."""

    order: Order
    place: tuple[int, ...]
    """The place of each card, by id."""
    card: tuple[CardId, ...]
    """The card on each place."""
    members: tuple[Row, ...]
    """The places of each group, by group; trumps are group 0."""
    sides: tuple[Row, ...]
    """The places of each side suit that there is."""
    group: tuple[Group, ...]
    """The group of the card on each place."""
    level: tuple[int, ...]
    """The level of a row's highest card within its group, by the row's bit length; -1 for an empty row."""
    fives: Row
    tens: Row
    """The places of cards worth 5 points, and of those worth 10."""

    def row(self, cards: CardSet) -> Row:
        """The places of these cards."""
        place = self.place
        return Row(sum(1 << place[card] for card in ids(cards)))

    def cards(self, row: Row) -> CardSet:
        """The cards on these places."""
        card = self.card
        return CardSet(sum(1 << card[place] for place in ids(CardSet(row))))

    def trumps_of(self, row: int) -> Row:
        """The trumps on these places."""
        return Row(row & self.members[Group.TRUMPS])

    def points(self, row: int) -> int:
        """The points of the cards on these places."""
        return 5 * (row & self.fives).bit_count() + 10 * (row & self.tens).bit_count()


@cache
def places(trump: Trump) -> Places:
    """The places under a trump choice. They are found once."""
    tables = order(trump)
    kinds = sorted(range(KINDS), key=lambda kind: (tables.group[kind], tables.strength[kind], kind))
    card = tuple(CardId(kind + KINDS * copy) for kind in kinds for copy in (0, 1))
    place = tuple(card.index(CardId(number)) for number in range(CARDS))
    group = tuple(tables.group[number % KINDS] for number in card)
    members = tuple(Row(sum(1 << n for n, found in enumerate(group) if found is member)) for member in GROUPS)
    return Places(
        order=tables,
        place=place,
        card=card,
        members=members,
        sides=tuple(row for row in members[1:] if row),
        group=group,
        level=(-1, *(tables.strength[number % KINDS] for number in card)),
        fives=Row(sum(1 << n for n, number in enumerate(card) if POINTS[number % KINDS] == 5)),
        tens=Row(sum(1 << n for n, number in enumerate(card) if POINTS[number % KINDS] == 10)),
    )
