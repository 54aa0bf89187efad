"""A deal in play of which all hands are known: the cards in rows, and the trick on the table."""

from typing import Final, final

from erqiwang_core.players.strong.places import FIRST_COPIES, Places


@final
class KnownDeal:
    """A deal in play with all hands known. Each play changes it.

    It is no value, because the playouts of a strong player make hundreds of thousands of plays.
    """

    __slots__ = (
        "ahead",
        "best",
        "captured",
        "count",
        "declarer",
        "group",
        "hands",
        "on_table",
        "pairs",
        "places",
        "ruffed",
        "seats",
        "thrown",
        "to_play",
        "trumps",
        "turn",
    )

    def __init__(self, places: Places, hands: list[int], declarer: int, turn: int, captured: int) -> None:
        """A deal whose next play is a lead by `turn`. `hands` are rows, which the plays change."""
        self.places: Final = places
        self.trumps: Final[int] = places.members[0]
        self.hands: Final = hands
        self.seats: Final = len(hands)
        self.declarer: Final = declarer
        self.turn = turn
        self.captured = captured
        """The points that the defenders have captured."""
        self.to_play = 0
        """The number of seats that are still to play to the trick; 0 if the next play is a lead."""
        self.group = 0
        """All cards of the led group."""
        self.count = 0
        """The number of cards led."""
        self.pairs = 0
        """The number of pairs led, those of tractors included."""
        self.thrown = False
        """Whether a throw was led, which nothing beats."""
        self.best = 0
        """The cards that are best so far."""
        self.ahead = 0
        """The seat that played them."""
        self.ruffed = False
        """Whether they are a ruff."""
        self.on_table = 0
        """The points on the table."""

    def lead(self, row: int, *, thrown: bool = False) -> None:
        """The seat whose turn it is leads these cards."""
        seat = self.turn
        self.hands[seat] &= ~row
        self.group = self.places.members[self.places.group[row.bit_length() - 1]]
        self.count = row.bit_count()
        self.pairs = (row & row >> 1 & FIRST_COPIES).bit_count()
        self.thrown = thrown
        self.best = row
        self.ahead = seat
        self.ruffed = False
        self.on_table = self.places.points(row)
        self.to_play = self.seats - 1
        self.turn = self.after(seat)

    def follow(self, row: int) -> None:
        """The seat whose turn it is follows with these cards. After the last play of a trick its winner is to lead."""
        seat = self.turn
        self.hands[seat] &= ~row
        self.on_table += self.places.points(row)
        if self._beats(row):
            self.ruffed = self.group != self.trumps and bool(row & self.trumps)
            self.best = row
            self.ahead = seat
        self.to_play -= 1
        if self.to_play:
            self.turn = self.after(seat)
            return
        self.turn = self.ahead
        if self.ahead != self.declarer:
            self.captured += self.on_table

    def after(self, seat: int) -> int:
        """The next seat."""
        return seat + 1 if seat + 1 < self.seats else 0

    def may_take(self, seat: int) -> bool:
        """Whether the seat, which is still to play, holds what beats the trick. Of tractors it is not said: True."""
        if self.thrown or self.pairs > 1:
            return not self.thrown
        held = self.hands[seat] & self.group
        ruffs = held.bit_count() < self.count
        if ruffs:
            if held or self.group == self.trumps:
                return False
            held = self.hands[seat] & self.trumps
        if self.pairs:
            held = held & held >> 1 & FIRST_COPIES
        level = self.places.level
        if ruffs and not self.ruffed:
            return held > 0
        return (ruffs or not self.ruffed) and level[held.bit_length()] > level[self.best.bit_length()]

    def grade(self, buried: int) -> int:
        """The captured points once all cards are played, if `buried` points lie in the kitty (rules §9)."""
        if self.ahead == self.declarer or self.best & ~self.trumps:
            return self.captured
        return self.captured + buried * (2 * self.pairs if self.pairs else 1)

    def _beats(self, row: int) -> bool:
        if self.thrown or (self.pairs and not self._has_shape(row)):
            return False
        level = self.places.level
        higher = level[row.bit_length()] > level[self.best.bit_length()]
        if not row & ~self.group:
            return higher and not self.ruffed
        return not row & ~self.trumps and (higher or not self.ruffed)

    def _has_shape(self, row: int) -> bool:
        twos = row & row >> 1 & FIRST_COPIES
        return twos.bit_count() == self.pairs and (self.pairs == 1 or self._is_run(twos))

    def _is_run(self, twos: int) -> bool:
        """Whether these pairs, each given by its lower place, are on consecutive levels."""
        level, before = self.places.level, -2
        while twos:
            low = twos & -twos
            here = level[low.bit_length()]
            if before not in (-2, here - 1):
                return False
            before = here
            twos ^= low
        return True
