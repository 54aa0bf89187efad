"""Worlds: ways in which the hidden cards of a deal in play may lie, drawn from what one seat was told alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, final

from erqiwang_core.kernel.hand import count
from erqiwang_core.kernel.trump import ACE_LEVEL, GROUPS, Group
from erqiwang_core.players.reading import agreed, is_void, rules_of, unseen
from erqiwang_core.players.sight import Sight
from erqiwang_core.players.strong.places import Places, places
from erqiwang_core.units import Seat

_BURIED_TRUMP: Final = 0.03
_BURIED_ACE: Final = 0.15
_BURIED_TEN: Final = 0.35
_BURIED_FIVE: Final = 0.6
_BURIED_OTHER: Final = 1.4
"""How much more often than at random a declarer buries a trump, an A, a card of 10 or 5 points, or any other card."""
_HELD_TRUMP: Final = 1.3
"""How much more often than at random a trump is with the declarer, who has chosen what is trump."""
_BURIED_SUITS: Final = (0.3, 1.0, 3.0)
"""A declarer buries much of one suit and little of another. Each side suit has one of these, at random."""


@final
@dataclass(frozen=True, slots=True)
class World:
    """One way in which the hidden cards may lie."""

    hands: list[int]
    """The hand of each seat as a row, in a list of its own, which a playout may change."""
    buried: int
    """The points of the buried cards."""


@final
@dataclass(frozen=True, slots=True)
class _Batch:
    """Hidden cards of one sort, which the same holders may have."""

    places: tuple[int, ...]
    weights: tuple[float, ...]
    """How much more often than at random each holder has such a card; 0 if it cannot have one."""
    group: Group


@final
class Worlds:
    """What a seat that must play knows of the hidden cards.

    The holders are the seats, then the buried cards, then the cards of past tricks that may not be looked at again. A
    world agrees with the number of cards of each holder, with announced and proven voids, and with open trump counts.
    Seats that are proven to hold no pair get none as far as the other cards allow.
    """

    def __init__(self, view: Sight) -> None:
        """`view` is that of a seat that must play."""
        self.places: Final[Places] = places(view.order.trump)
        self.declarer: Final = agreed(view).declarer
        self._seat: Final = view.seat
        self._own: Final = self.places.row(view.hand.cards)
        self._own_buried: Final = self.places.row(view.buried.cards)
        hidden = self.places.row(unseen(view))
        self._room: Final = _room(view, hidden.bit_count())
        self._no_pair: Final = _no_pair(view, self.places)
        self._trump_room: Final = _trump_room(view, (hidden & self.places.members[0]).bit_count())
        batches = [batch for group in GROUPS for batch in self._batches_of(view, group, hidden)]
        counted = bool(view.trump_counts.counts)
        # Counted trumps come first, then what fewest may hold, and what fills up the kitty comes last.
        self._batches: Final = sorted(
            batches,
            key=lambda batch: (not counted or batch.group is not Group.TRUMPS, _holders(batch), batch.weights[-2]),
        )

    def draw(self, random: Random) -> World:
        """One world at random."""
        room, trump_room = list(self._room), list(self._trump_room)
        rows = [0] * len(room)
        suits = [random.choice(_BURIED_SUITS) for _ in GROUPS]
        for batch in self._batches:
            cards = list(batch.places)
            random.shuffle(cards)
            for place in cards:
                left = list(map(min, room, trump_room)) if batch.group is Group.TRUMPS else room
                holder = self._holder(random, batch, left, rows, place, suits[batch.group])
                if not room[holder]:
                    holder = max(range(len(room)), key=room.__getitem__)
                room[holder] -= 1
                trump_room[holder] -= 1
                rows[holder] |= 1 << place
        hands = rows[:-2]
        hands[self._seat] = self._own
        return World(hands, self.places.points(rows[-2] | self._own_buried))

    def _holder(self, random: Random, batch: _Batch, room: list[int], rows: list[int], place: int, suit: float) -> int:
        """Who has that card, at random by the room that each holder has left."""
        shares = [max(left, 0) * weight for left, weight in zip(room, batch.weights, strict=True)]
        shares[-2] *= suit
        twin = 1 << (place ^ 1)
        for holder, no_pair in enumerate(self._no_pair):
            if no_pair & rows[holder] & twin:
                shares[holder] = 0.0
        at = random.random() * sum(shares)
        for holder, share in enumerate(shares):
            at -= share
            if at < 0.0:
                return holder
        return shares.index(max(shares))

    def _batches_of(self, view: Sight, group: Group, hidden: int) -> Iterator[_Batch]:
        seats = rules_of(view).seats
        weights = [0.0 if is_void(view, Seat(seat), group) else 1.0 for seat in range(seats)]
        if group is Group.TRUMPS:
            weights[self.declarer] *= _HELD_TRUMP
        for row, buried in self._sorts(group, hidden & self.places.members[group]):
            if row:
                found = tuple(place for place in range(row.bit_length()) if row >> place & 1)
                yield _Batch(found, (*weights, buried, 1.0), group)

    def _sorts(self, group: Group, row: int) -> tuple[tuple[int, float], ...]:
        """The cards of a group by how often they are buried."""
        if group is Group.TRUMPS:
            return ((row, _BURIED_TRUMP),)
        tens, fives = row & self.places.tens, row & self.places.fives
        others = row & ~tens & ~fives
        top = self.places.level
        aces = sum(
            1 << place for place in range(row.bit_length()) if others >> place & 1 and top[place + 1] == ACE_LEVEL
        )
        return (tens, _BURIED_TEN), (fives, _BURIED_FIVE), (aces, _BURIED_ACE), (others & ~aces, _BURIED_OTHER)


def _holders(batch: _Batch) -> int:
    return sum(weight > 0 for weight in batch.weights)


def _room(view: Sight, hidden: int) -> list[int]:
    """The number of hidden cards that each holder has."""
    rules, trick = rules_of(view), view.trick_under_way
    room = [0 if seat == view.seat else count(view.hand.cards) for seat in range(rules.seats)]
    if trick is not None:
        for played in trick.plays:
            room[played.seat] -= trick.lead.count
    buried = 0 if view.seat == agreed(view).declarer else rules.kitty_size
    return [*room, buried, hidden - sum(room) - buried]


def _trump_room(view: Sight, hidden: int) -> list[int]:
    """The number of hidden trumps that each holder has, at most; exact once trump counts are open (rules §12)."""
    room = _room(view, hidden)
    counts = view.trump_counts.counts
    for seat, counted in counts:
        room[seat] = counted.trumps
    if counts:
        room[-2] = hidden - sum(room[:-2])
    room[-1] = 0 if counts else hidden
    return room


def _no_pair(view: Sight, tables: Places) -> list[int]:
    """For each seat the cards of the groups in which it is proven to hold no pair, as a row."""
    proven = view.inference.proven
    if proven is None:
        return []
    return [sum(tables.members[group] for group in seat.no_pair) for seat in proven]
